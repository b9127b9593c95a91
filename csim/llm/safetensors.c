#include "llm/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, MAX_HEADER = 100 << 20, LENGTH_BYTES = 8 };

static const struct {
    const char *name;
    uint8_t bytes;
} dtypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},     {"I32", 4},     {"I16", 2}, {"I8", 1},
              {"U64", 8}, {"U32", 4}, {"U16", 2}, {"U8", 1},   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};

static bool fail(char error[ST_ERROR], const char *path, const char *format, ...) {
    int used = snprintf(error, ST_ERROR, "%.256s: ", path);
    va_list args;
    va_start(args, format);
    vsnprintf(error + used, (size_t)(ST_ERROR - used), format, args);
    va_end(args);
    return false;
}

static size_t dtype_bytes(const char *dtype) {
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (!strcmp(dtype, dtypes[i].name)) return dtypes[i].bytes;
    return 0;
}

// ---- one file
// Product of the axes; false where one is no size or the product passes 2^48.
static bool read_shape(const json_t *shape, st_tensor *t) {
    if (!json_is_array(shape) || json_array_size(shape) > ST_RANK) return false;
    t->rank = (int)json_array_size(shape);
    t->elements = 1;
    for (int i = 0; i < t->rank; i++) {
        const json_t *axis = json_array_get(shape, (size_t)i);
        if (!json_is_integer(axis) || json_integer_value(axis) < 0 || json_integer_value(axis) > 1 << 30) return false;
        t->shape[i] = (uint64_t)json_integer_value(axis);
        t->elements *= t->shape[i];
        if (t->elements > 1ULL << 48) return false;
    }
    return true;
}

static bool read_tensor(const char *path, const char *name, const json_t *o, const uint8_t *data, size_t size,
                        st_tensor *t, char error[ST_ERROR]) {
    const char *dtype = json_string_value(json_object_get(o, "dtype"));
    const json_t *offsets = json_object_get(o, "data_offsets");
    if (strlen(name) >= ST_NAME) return fail(error, path, "%.40s...: expected a name under %d bytes", name, ST_NAME);
    size_t width = dtype ? dtype_bytes(dtype) : 0;
    if (!width) return fail(error, path, "%s: dtype \"%.20s\": expected one of the format's", name, dtype ? dtype : "");
    if (!read_shape(json_object_get(o, "shape"), t))
        return fail(error, path, "%s: shape: expected up to %d sizes", name, ST_RANK);
    json_int_t from = json_integer_value(json_array_get(offsets, 0)),
               to = json_integer_value(json_array_get(offsets, 1));
    if (json_array_size(offsets) != 2 || from < 0 || to < from || (uint64_t)to > size)
        return fail(error, path, "%s: data_offsets: expected a range within the %zu bytes of data", name, size);
    if ((uint64_t)(to - from) != t->elements * width)
        return fail(error, path, "%s: %lld bytes of data, expected %llu elements of %zu", name, (long long)(to - from),
                    (unsigned long long)t->elements, width);
    snprintf(t->name, sizeof t->name, "%s", name);
    snprintf(t->dtype, sizeof t->dtype, "%s", dtype);
    t->data = data + from;
    t->bytes = (size_t)(to - from);
    return true;
}

static bool read_header(const char *path, json_t *header, const uint8_t *data, size_t size, st_checkpoint *c,
                        char error[ST_ERROR]) {
    size_t total = 0;
    const char *name;
    json_t *value;
    st_tensor *grown = realloc(c->tensors, (c->count + json_object_size(header) + 1) * sizeof *grown);
    if (!grown) return fail(error, path, "no memory");
    c->tensors = grown;
    json_object_foreach(header, name, value) {
        if (!strcmp(name, "__metadata__")) continue;
        if (!read_tensor(path, name, value, data, size, &c->tensors[c->count], error)) return false;
        total += c->tensors[c->count++].bytes;
    }
    return total == size || fail(error, path, "%zu bytes of data, its header says %zu", size, total);
}

static bool parse(const char *path, const uint8_t *bytes, size_t size, st_checkpoint *c, char error[ST_ERROR]) {
    uint64_t length = 0;
    for (int i = 0; i < LENGTH_BYTES && size >= LENGTH_BYTES; i++) length |= (uint64_t)bytes[i] << 8 * i;
    if (size < LENGTH_BYTES || length > MAX_HEADER || length > size - LENGTH_BYTES)
        return fail(error, path, "truncated, or no safetensors file: expected a header within its %zu bytes", size);
    json_error_t at;
    json_t *header = json_loadb((const char *)bytes + LENGTH_BYTES, length, JSON_REJECT_DUPLICATES, &at);
    if (!json_is_object(header)) {
        json_decref(header);
        return fail(error, path, "expected a header in JSON, %.120s", header ? "an object" : at.text);
    }
    const uint8_t *data = bytes + LENGTH_BYTES + length;
    bool ok = read_header(path, header, data, size - LENGTH_BYTES - length, c, error);
    json_decref(header);
    return ok;
}

static bool map_file(const char *path, st_checkpoint *c, char error[ST_ERROR]) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail(error, path, "cannot read: %s", strerror(errno));
    if (fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_size < LENGTH_BYTES) {
        close(file);
        return fail(error, path, "truncated, or no safetensors file: expected 8 bytes or more");
    }
    size_t size = (size_t)about.st_size;
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (at == MAP_FAILED) return fail(error, path, "cannot map: %s", strerror(errno));
    struct st_map *grown = realloc(c->maps, (c->num_maps + 1) * sizeof *grown);
    if (!grown) {
        munmap(at, size);
        return fail(error, path, "no memory");
    }
    c->maps = grown;
    c->maps[c->num_maps++] = (struct st_map){at, size};
    return parse(path, at, size, c, error);
}

// ---- shards
static bool map_shards(const char *dir, const char *index, st_checkpoint *c, char error[ST_ERROR]) {
    json_error_t at;
    json_t *root = json_load_file(index, JSON_REJECT_DUPLICATES, &at), *seen = json_object(), *value;
    const char *name;
    bool ok = root && seen;
    if (!root) fail(error, index, "expected JSON, %.120s", at.text);
    json_t *shards = json_object_get(root, "weight_map");
    if (ok && !json_is_object(shards)) ok = fail(error, index, "weight_map: expected an object");
    json_object_foreach(shards, name, value) {
        const char *file = json_string_value(value);
        char path[PATH];
        if (!ok) break;
        if (!file || strchr(file, '/')) ok = fail(error, index, "weight_map.%.100s: expected the name of a file", name);
        if (!ok || json_object_get(seen, file)) continue;
        snprintf(path, sizeof path, "%.3000s/%.255s", dir, file);
        ok = json_object_set_new(seen, file, json_true()) == 0 && map_file(path, c, error);
    }
    json_decref(seen);
    json_decref(root);
    return ok;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const st_tensor *)a)->name, ((const st_tensor *)b)->name);
}

bool st_open(const char *path, st_checkpoint *out, char error[ST_ERROR]) {
    struct stat about;
    char whole[PATH], index[PATH];
    bool ok;
    *out = (st_checkpoint){0};
    snprintf(whole, sizeof whole, "%.4000s/model.safetensors", path);
    snprintf(index, sizeof index, "%.4000s/model.safetensors.index.json", path);
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        ok = access(whole, F_OK) && !access(index, F_OK) ? map_shards(path, index, out, error)
                                                         : map_file(whole, out, error);
    else
        ok = map_file(path, out, error);
    if (ok) qsort(out->tensors, out->count, sizeof *out->tensors, by_name);
    for (size_t i = 1; ok && i < out->count; i++)
        if (!by_name(&out->tensors[i - 1], &out->tensors[i]))
            ok = fail(error, path, "%s: expected it once, met twice", out->tensors[i].name);
    if (!ok) st_close(out);
    return ok;
}

void st_close(st_checkpoint *c) {
    for (size_t i = 0; i < c->num_maps; i++) munmap(c->maps[i].at, c->maps[i].size);
    free(c->maps);
    free(c->tensors);
    *c = (st_checkpoint){0};
}

// ---- tensors
const st_tensor *st_find(const st_checkpoint *c, const char *name) {
    st_tensor key;
    if (strlen(name) >= ST_NAME) return NULL;
    snprintf(key.name, sizeof key.name, "%s", name);
    return c->count ? bsearch(&key, c->tensors, c->count, sizeof key, by_name) : NULL;
}

static uint32_t half_to_single(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exp = half >> 10 & 31, mag = half & 1023;
    if (exp == 31) return sign | 0x7F800000 | mag << 13;
    if (exp) return sign | (exp + 112) << 23 | mag << 13;
    if (!mag) return sign;
    for (exp = 113; !(mag & 1024); exp--) mag <<= 1; // a subnormal half is a normal single
    return sign | exp << 23 | (mag & 1023) << 13;
}

bool st_floats(const st_tensor *t, float *out) {
    if (!strcmp(t->dtype, "F32")) {
        memcpy(out, t->data, t->bytes);
        return true;
    }
    bool brain = !strcmp(t->dtype, "BF16");
    if (!brain && strcmp(t->dtype, "F16")) return false;
    for (uint64_t i = 0; i < t->elements; i++) {
        uint16_t code;
        memcpy(&code, t->data + 2 * i, sizeof code);
        uint32_t bits = brain ? (uint32_t)code << 16 : half_to_single(code);
        memcpy(&out[i], &bits, sizeof bits);
    }
    return true;
}
