// A kernel under construction: inside of kernel_gemm.
#ifndef WORKLOAD_KERNEL_BUILD_H
#define WORKLOAD_KERNEL_BUILD_H
#include "workload/kernel_pack.h"

// Where the weights of a chunk, then their scales, lie in the port of their tile.
typedef struct {
    uint32_t w, ws;
} weight_place;

typedef struct {
    kernel *k;
    const kernel_plan *p;
    const gemm_operands *o;
    uint32_t groups, chunks; // of column tiles; most chunks of a group
    weight_place *weights;   // [tile][group][phase][chunk]
    uint32_t *a_rows;        // HBM row of the activations, [row group][phase][source]; scales follow
    bool failed;             // no memory, or a port is full
} kernel_builder;

enum { KERNEL_SOURCES = CFG_TILES_Y };

// The pass over chunks first..end - 1 of one group of column tiles in one phase of k for one group of rows.
typedef struct {
    uint32_t m0, m, m_index; // rows of the group
    uint32_t group, phase, first, end;
    bool load_a;
} kernel_pass;

// New rows of a port, zero; their first row goes to *row. NULL sets failed. Valid until the next call.
row_t *build_rows(kernel_builder *b, int port, uint32_t count, uint32_t *row);
weight_place *build_weights_at(const kernel_builder *b, int tile, uint32_t group, uint32_t phase, uint32_t chunk);
// Appends the program of a pass.
void build_pass(kernel_builder *b, const kernel_pass *pass);
// Instructions that a chunk takes in a tile at most, and those outside of chunks.
uint32_t build_chunk_instrs(const kernel_plan *p);
enum { BUILD_A_PIECES = 4, BUILD_FIXED_INSTRS = 6 * (BUILD_A_PIECES + 1) + 16 };
#endif
