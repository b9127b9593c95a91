#include "npy/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { MAX_HEADER = 65535 };

// Text behind 'key': in the header's dictionary, or NULL.
static const char *value_of(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s':", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    return at + strspn(at, " ");
}

// Element type of a descr such as '<f4'; 0 where it is none of ours.
static int type_of(const char *descr) {
    static const struct {
        const char *text;
        npy_type type;
    } known[] = {{"'|u1'", NPY_U8}, {"'<u1'", NPY_U8}, {"'<u2'", NPY_U16}, {"'<f4'", NPY_F32}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strncmp(descr, known[i].text, strlen(known[i].text))) return (int)known[i].type;
    return 0;
}

// Two sizes out of "(rows, cols)"; false for any other rank.
static bool shape_of(const char *text, unsigned long long shape[2]) {
    char *end = NULL;
    if (*text++ != '(') return false;
    for (int i = 0; i < 2; i++) {
        if (*text < '0' || *text > '9') return false;
        errno = 0;
        shape[i] = strtoull(text, &end, 10);
        if (errno) return false;
        text = end + strspn(end, " ");
        if (*text == ',')
            text++;
        else if (i == 0)
            return false;
        text += strspn(text, " ");
    }
    return *text == ')';
}

static char *read_header(FILE *f, const char *path, char error[NPY_ERROR_SIZE]) {
    unsigned char fixed[12];
    if (fread(fixed, 1, 10, f) != 10 || memcmp(fixed, MAGIC, sizeof MAGIC) != 0) {
        snprintf(error, NPY_ERROR_SIZE, "%s: not a .npy file", path);
        return NULL;
    }
    size_t size = (size_t)fixed[8] | (size_t)fixed[9] << 8;
    if (fixed[6] > 1) {
        if (fixed[6] > 3 || fread(fixed + 10, 1, 2, f) != 2) {
            snprintf(error, NPY_ERROR_SIZE, "%s: .npy format %d: expected 1, 2 or 3", path, fixed[6]);
            return NULL;
        }
        size |= (size_t)fixed[10] << 16 | (size_t)fixed[11] << 24;
    }
    char *header = size <= MAX_HEADER ? calloc(1, size + 1) : NULL;
    if (!header || fread(header, 1, size, f) != size) {
        snprintf(error, NPY_ERROR_SIZE, "%s: the header is cut short or too long (%zu bytes)", path, size);
        free(header);
        return NULL;
    }
    return header;
}

// Fortran order read right: element (r, c) of the file lies at c * rows + r.
static void transpose(npy_matrix *m) {
    size_t size = (size_t)m->type;
    unsigned char *from = m->data, *to = malloc(m->rows * m->cols * size + 1);
    for (size_t r = 0; to && r < m->rows; r++)
        for (size_t c = 0; c < m->cols; c++)
            memcpy(to + (r * m->cols + c) * size, from + (c * m->rows + r) * size, size);
    free(from);
    m->data = to;
}

static bool read_data(FILE *f, const char *path, const char *header, npy_matrix *out, char error[NPY_ERROR_SIZE]) {
    const char *descr = value_of(header, "descr"), *shape = value_of(header, "shape");
    const char *order = value_of(header, "fortran_order");
    unsigned long long size[2];
    int type = descr ? type_of(descr) : 0;
    if (!type) {
        snprintf(error, NPY_ERROR_SIZE, "%s: element type %.12s: expected uint8, uint16 or float32", path,
                 descr ? descr : "missing");
        return false;
    }
    if (!shape || !order || !shape_of(shape, size)) {
        snprintf(error, NPY_ERROR_SIZE, "%s: shape %.24s: expected two axes", path, shape ? shape : "missing");
        return false;
    }
    if (size[0] > UINT32_MAX || size[1] > UINT32_MAX || size[0] * size[1] > UINT32_MAX) {
        snprintf(error, NPY_ERROR_SIZE, "%s: %llu x %llu elements: at most 2^32 - 1 are read", path, size[0], size[1]);
        return false;
    }
    *out = (npy_matrix){.type = (npy_type)type, .rows = size[0], .cols = size[1]};
    size_t bytes = out->rows * out->cols * (size_t)type;
    long start = ftell(f);
    fseek(f, 0, SEEK_END);
    long length = ftell(f);
    fseek(f, start, SEEK_SET);
    if (start < 0 || length < start || (size_t)(length - start) != bytes) {
        snprintf(error, NPY_ERROR_SIZE, "%s: %ld bytes of data: expected %zu for %zu x %zu", path, length - start,
                 bytes, out->rows, out->cols);
        return false;
    }
    out->data = malloc(bytes + 1);
    if (!out->data || fread(out->data, 1, bytes, f) != bytes) {
        snprintf(error, NPY_ERROR_SIZE, "%s: cannot read %zu bytes", path, bytes);
        npy_free(out);
        return false;
    }
    if (!strncmp(order, "True", 4)) transpose(out);
    return true;
}

bool npy_load(const char *path, npy_matrix *out, char error[NPY_ERROR_SIZE]) {
    *out = (npy_matrix){0};
    FILE *f = fopen(path, "rb");
    if (!f) {
        snprintf(error, NPY_ERROR_SIZE, "%s: cannot read: %s", path, strerror(errno));
        return false;
    }
    char *header = read_header(f, path, error);
    bool ok = header && read_data(f, path, header, out, error);
    free(header);
    fclose(f);
    return ok;
}

void npy_free(npy_matrix *m) {
    free(m->data);
    m->data = NULL;
}

bool npy_save(const char *path, const npy_matrix *m, char error[NPY_ERROR_SIZE]) {
    char header[118], part[4096];
    int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu, %zu), }",
                        m->type == NPY_U8    ? "|u1"
                        : m->type == NPY_U16 ? "<u2"
                                             : "<f4",
                        m->rows, m->cols);
    memset(header + used, ' ', sizeof header - (size_t)used);
    header[sizeof header - 1] = '\n';
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part) {
        snprintf(error, NPY_ERROR_SIZE, "%.64s...: path too long", path);
        return false;
    }
    FILE *f = fopen(part, "wb");
    if (!f) {
        snprintf(error, NPY_ERROR_SIZE, "%s: cannot write: %s", path, strerror(errno));
        return false;
    }
    unsigned char fixed[10] = {0, 0, 0, 0, 0, 0, 1, 0, sizeof header, 0};
    memcpy(fixed, MAGIC, sizeof MAGIC);
    size_t bytes = m->rows * m->cols * (size_t)m->type;
    bool ok = fwrite(fixed, 1, sizeof fixed, f) == sizeof fixed &&
              fwrite(header, 1, sizeof header, f) == sizeof header && fwrite(m->data, 1, bytes, f) == bytes;
    ok = fclose(f) == 0 && ok;
    if (!ok || rename(part, path) != 0) {
        snprintf(error, NPY_ERROR_SIZE, "%s: cannot write: %s", path, strerror(errno));
        remove(part);
        return false;
    }
    return true;
}
