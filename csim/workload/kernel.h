// Kernels: a matrix product as programs for the tiles of the chip, the contents of its HBM, and what to expect of it.
// Y[m][n] = init[m][n] + sum over k of A[m][k] W[n][k], blocks of 32 along k in ascending order, one rounding a block.
#ifndef WORKLOAD_KERNEL_H
#define WORKLOAD_KERNEL_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/isa.h"
#include "hbm/hbm.h"

enum { KERNEL_TILES = CFG_TILES_X * CFG_TILES_Y, KERNEL_NAME = 64, KERNEL_ERROR = 256 };

// m, n, k: 1..2^24. scale_a: none or E8M0. split_k: the rows of the mesh share k and add up in the network, which
// rounds in another order; ignored where the mesh has one row, k has fewer blocks than rows, there are initial values,
// or a slice does not fit (kernel.split_k says what was done).
typedef struct {
    uint32_t m, n, k;
    fmt_id fmt_a, fmt_w;
    scale_id scale_a, scale_w;
    bool split_k;
} gemm_spec;

// Row-major, one code an element; KB = ceil(k / 32). Scales are not read where the spec says none.
typedef struct {
    const uint16_t *a;        // [m][k]
    const uint8_t *a_scales;  // [m][KB]
    const uint16_t *w;        // [n][k]
    const uint16_t *w_scales; // [n][KB]
    const float *init;        // [m][n] or NULL
} gemm_operands;

// The instructions of one tile, the last one END.
typedef struct {
    instr_t *instrs;
    uint32_t count, capacity;
} kernel_tile;

// Tile (x, y) has index y * CFG_TILES_X + x; each list fits the instruction memory.
typedef struct {
    kernel_tile tiles[KERNEL_TILES];
} kernel_program;

// What an HBM port holds before the kernel, from its row 0 on; rows of results are zero.
typedef struct {
    row_t *rows;
    uint32_t count, capacity;
} kernel_rows;

// Where a part of the result lies: columns of the column tiles nt0..nt0 + nt - 1, rows m0..m0 + m - 1 of Y. The rows of
// Y come in chunks of CFG_ROWS, each chunk in the layout of results.
typedef struct {
    uint8_t port;
    uint32_t row;
    uint32_t m0, m, nt0, nt;
} kernel_region;

// No run takes fewer cycles than each of these; cycles is the largest of what they give a tile and a port.
typedef struct {
    uint64_t compute; // activation rows through the array, of the busiest tile
    uint64_t weights; // weight rows through the weight port, of the busiest tile
    uint64_t hbm;     // rows over the busiest HBM link in one direction
    uint64_t cycles;  // max(hbm, sum over the blocks of the busiest tile of max(compute, weights))
} kernel_bounds;

// HBM rows of 32 bytes that all tiles together load or store.
typedef struct {
    uint64_t a, a_scales, w, w_scales, init, result;
} kernel_traffic;

typedef struct {
    char name[KERNEL_NAME];
    gemm_spec spec;
    bool split_k;
    // Run one after the other on the same chip, without reset between them: SRAM keeps its contents.
    kernel_program *programs;
    uint32_t num_programs;
    kernel_rows hbm[HBM_PORTS];
    kernel_region *regions;
    uint32_t num_regions;
    uint64_t useful_macs; // m * n * k
    kernel_bounds bounds;
    kernel_traffic traffic;
} kernel;

// Builds the kernel; every code must fit its format. False with one line in error (a size, a format, no memory); the
// kernel is to be freed in both cases.
bool kernel_gemm(const char *name, const gemm_spec *spec, const gemm_operands *operands, kernel *out,
                 char error[KERNEL_ERROR]);
void kernel_free(kernel *k);

// Writes the contents of the kernel's HBM into a memory. False where there is no memory.
bool kernel_place(const kernel *k, hbm *mem);
// Reads the result y[m][n] back after the last program. False where the memory does not hold it.
bool kernel_result(const kernel *k, hbm *mem, float *y);
// The bits that the chip must give, by csim/numerics, in the order of additions of this kernel. False without memory.
bool kernel_reference(const kernel *k, const gemm_operands *operands, float *y);
#endif
