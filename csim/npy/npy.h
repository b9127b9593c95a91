// NumPy .npy files (format 1.0 to 3.0) of one or two axes: uint8, uint16 and float32, little endian.
#ifndef NPY_NPY_H
#define NPY_NPY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { NPY_U8 = 1, NPY_U16 = 2, NPY_F32 = 4 } npy_type; // the value is the size of an element in bytes

enum { NPY_ERROR_SIZE = 512 };

// A matrix [rows, cols] in C order, whatever the order in the file.
typedef struct {
    npy_type type;
    size_t rows, cols;
    void *data;
} npy_matrix;

// Reads a matrix of rank 2. False, with one line in error that names the file and what was expected: unreadable, not
// .npy, truncated, longer than its header says, another element type or rank, or over 2^32 elements.
bool npy_load(const char *path, npy_matrix *out, char error[NPY_ERROR_SIZE]);
void npy_free(npy_matrix *m);

// Writes a matrix; the file appears whole or not at all. False with one line in error.
bool npy_save(const char *path, const npy_matrix *m, char error[NPY_ERROR_SIZE]);
#endif
