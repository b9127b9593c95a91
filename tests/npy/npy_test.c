#include "npy/npy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64], error[NPY_ERROR_SIZE];

static void temporary(void) {
    snprintf(path, sizeof path, "/tmp/npy_test.XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void removed(void) {
    remove(path);
}

TestSuite(npy, .init = temporary, .fini = removed);

// A file with this dictionary and these many bytes of data 0, 1, 2, ...
static void write_file(const char *dictionary, size_t bytes) {
    FILE *f = fopen(path, "wb");
    size_t size = strlen(dictionary);
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc((int)(size & 255), f);
    fputc((int)(size >> 8), f);
    fwrite(dictionary, 1, size, f);
    for (size_t i = 0; i < bytes; i++) fputc((int)(i & 255), f);
    fclose(f);
}

static void refused(const char *dictionary, size_t bytes, const char *because) {
    npy_matrix m;
    write_file(dictionary, bytes);
    cr_assert_not(npy_load(path, &m, error), "%s was read", dictionary);
    cr_assert(strstr(error, because) && strstr(error, path), "got \"%s\", want \"%s\"", error, because);
    cr_assert_null(strchr(error, '\n'));
}

Test(npy, round_trips_every_type) {
    uint32_t data[6] = {1, 2, 3, 4, 0x7FC00000, 6};
    npy_type types[] = {NPY_U8, NPY_U16, NPY_F32};
    for (int i = 0; i < 3; i++) {
        npy_matrix in = {types[i], 2, 3, data}, out;
        cr_assert(npy_save(path, &in, error), "%s", error);
        cr_assert(npy_load(path, &out, error), "%s", error);
        cr_assert(out.type == in.type && out.rows == 2 && out.cols == 3);
        cr_assert_eq(memcmp(out.data, data, 6 * (size_t)types[i]), 0);
        npy_free(&out);
    }
}

Test(npy, reads_fortran_order_right) {
    npy_matrix m;
    write_file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 6);
    cr_assert(npy_load(path, &m, error), "%s", error);
    cr_assert_eq(memcmp(m.data, "\0\2\4\1\3\5", 6), 0);
    npy_free(&m);
}

Test(npy, refuses_what_it_cannot_read) {
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", 5, "expected 6");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }", 7, "expected 6");
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 48, "element type");
    refused("{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3), }", 12, "element type");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }", 6, "two axes");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3), }", 6, "two axes");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (-2, 3), }", 6, "two axes");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 6, "at most");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (65536, 65536), }", 6, "at most");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999999, 3), }", 6, "two axes");
    refused("", 0, "element type");
}

Test(npy, refuses_other_files_and_paths) {
    npy_matrix m = {NPY_U8, 1, 1, "x"};
    cr_assert_not(npy_load(path, &m, error));
    cr_assert(strstr(error, "not a .npy file"));
    cr_assert_not(npy_load("/no/such/file.npy", &m, error));
    cr_assert(strstr(error, "cannot read"));
    m = (npy_matrix){NPY_U8, 1, 1, "x"};
    cr_assert_not(npy_save("/no/such/folder/file.npy", &m, error));
    cr_assert(strstr(error, "cannot write"));
}
