// How a matrix product is cut for the tiles: inside of kernel_gemm.
#ifndef WORKLOAD_KERNEL_PLAN_H
#define WORKLOAD_KERNEL_PLAN_H
#include "workload/kernel.h"

// C_ROWS: rows of a column tile of results for one activation row.
enum { BLOCK = 32, SRAM_ROWS = CFG_BANKS * CFG_BANK_ROWS, C_ROWS = CFG_COLS / 8 };

// SRAM of every tile: activations from row 0 on, two weight buffers, a bank of results, a bank of scales at the end.
// Loops, outermost first: groups of rows (m_group of M), groups of column tiles (n_group of a tile's), phases of k
// (k_phase blocks, activations loaded anew), chunks of column tiles (chunk; weights loaded anew), rows in chunks of
// ROWS.
typedef struct {
    gemm_spec spec;
    bool has_init, split_k;
    uint32_t kb, nt;       // blocks of k, column tiles, of the whole product
    uint32_t slice_kb;     // blocks of a tile's share of k, at most
    uint32_t phases;       // of k, for every tile
    uint32_t k_phase;      // blocks of a phase, at most
    uint32_t m_group;      // rows, ROWS or a multiple unless the product has less
    uint32_t n_group;      // column tiles; all of a tile's where there is one phase
    uint32_t chunk;        // column tiles
    uint32_t a_rows_k;     // SRAM rows of a block of one activation row: 2 for BF16
    uint32_t w_rows_block; // SRAM rows of a block of COLS columns
    uint32_t ws_bytes;     // of a weight scale, 0 where there is none
    uint16_t addr_w[2], addr_ws[2], addr_as;
    uint16_t addr_c[2], addr_land[2]; // results, one buffer from addr_c[0] on where there are several phases; arrivals
} kernel_plan;

static inline uint32_t ceil_div(uint32_t a, uint32_t b) {
    return a / b + (a % b != 0);
}
// Rows of `n` columns of results for one activation row.
static inline uint32_t result_rows(uint32_t n) {
    return ceil_div(n, CFG_COLS) * C_ROWS;
}
static inline uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// A half-open range.
typedef struct {
    uint32_t first, end;
} span_t;

// Blocks of k of tile t in this phase; column tiles of tile t.
span_t plan_blocks(const kernel_plan *p, int tile, uint32_t phase);
span_t plan_columns(const kernel_plan *p, int tile);
// Column tiles of this chunk of this group, empty where the tile has no more.
span_t plan_chunk(const kernel_plan *p, int tile, uint32_t group, uint32_t chunk);
uint32_t plan_chunks(const kernel_plan *p, uint32_t group); // most of any tile
uint32_t plan_groups(const kernel_plan *p);
// Rows of SRAM of the activation scales of `blocks` blocks of `rows` rows.
uint32_t plan_as_rows(const kernel_plan *p, uint32_t rows, uint32_t blocks);
uint32_t plan_ws_rows(const kernel_plan *p, uint32_t tiles, uint32_t blocks);
// The tile that loads the activations of this one, and the tiles that they go to.
node_t plan_source(const kernel_plan *p, int tile);
rect_t plan_audience(const kernel_plan *p, int tile);
// Nearest HBM port.
int plan_port(int tile);
// OP_LOAD or OP_STORE between SRAM and HBM rows of a port.
instr_t plan_hbm_access(op_id op, int port, uint32_t hbm_row, uint32_t sram, uint32_t rows);

bool plan_make(const gemm_spec *spec, bool has_init, kernel_plan *p, char error[KERNEL_ERROR]);
#endif
