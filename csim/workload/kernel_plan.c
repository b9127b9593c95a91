#include "workload/kernel_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "numerics/num.h"

enum { BANK = CFG_BANK_ROWS, SIDE = (CFG_TILES_X + 1) / 2, MAX_SIZE = 1 << 24 };
_Static_assert(CFG_BANKS >= 5, "activations, two weight buffers, results and scales have banks of their own");
enum { SPARE_BANKS = CFG_BANKS - 2, MAX_A_BANKS = SPARE_BANKS - 2 };

// ---- shares of tiles
static span_t share(uint32_t total, uint32_t index, uint32_t of) {
    return (span_t){(uint32_t)((uint64_t)total * index / of), (uint32_t)((uint64_t)total * (index + 1) / of)};
}

span_t plan_blocks(const kernel_plan *p, int tile, uint32_t phase) {
    span_t slice = p->split_k ? share(p->kb, (uint32_t)tile / CFG_TILES_X, CFG_TILES_Y) : (span_t){0, p->kb};
    uint32_t first = min_u32(slice.first + phase * p->k_phase, slice.end);
    return (span_t){first, min_u32(first + p->k_phase, slice.end)};
}

span_t plan_columns(const kernel_plan *p, int tile) {
    if (p->split_k) return share(p->nt, (uint32_t)tile % CFG_TILES_X, CFG_TILES_X);
    return share(p->nt, (uint32_t)tile, KERNEL_TILES);
}

static uint32_t most_columns(const kernel_plan *p) {
    return ceil_div(p->nt, p->split_k ? CFG_TILES_X : KERNEL_TILES);
}

uint32_t plan_groups(const kernel_plan *p) {
    return ceil_div(most_columns(p), p->n_group);
}

uint32_t plan_chunks(const kernel_plan *p, uint32_t group) {
    return ceil_div(min_u32(p->n_group, most_columns(p) - group * p->n_group), p->chunk);
}

span_t plan_chunk(const kernel_plan *p, int tile, uint32_t group, uint32_t chunk) {
    span_t all = plan_columns(p, tile);
    uint32_t group_end = min_u32(all.first + (group + 1) * p->n_group, all.end);
    uint32_t first = min_u32(all.first + group * p->n_group + chunk * p->chunk, group_end);
    return (span_t){first, min_u32(first + p->chunk, group_end)};
}

// ---- rows of operands
uint32_t plan_as_rows(const kernel_plan *p, uint32_t rows, uint32_t blocks) {
    if (p->spec.scale_a == SCALE_NONE) return 0;
    return blocks * (rows / CFG_ROWS * ceil_div(CFG_ROWS, BLOCK) + ceil_div(rows % CFG_ROWS, BLOCK));
}

uint32_t plan_ws_rows(const kernel_plan *p, uint32_t tiles, uint32_t blocks) {
    return ceil_div(tiles * blocks * CFG_COLS * p->ws_bytes, ROW_BYTES);
}

// ---- places
node_t plan_source(const kernel_plan *p, int tile) {
    return (node_t){0, p->split_k ? (uint8_t)(tile / CFG_TILES_X) : 0};
}

rect_t plan_audience(const kernel_plan *p, int tile) {
    uint8_t y = (uint8_t)(tile / CFG_TILES_X);
    return p->split_k ? (rect_t){0, y, CFG_TILES_X - 1, y} : (rect_t){0, 0, CFG_TILES_X - 1, CFG_TILES_Y - 1};
}

int plan_port(int tile) {
    int x = tile % CFG_TILES_X, y = tile / CFG_TILES_X;
    return x < SIDE ? y : CFG_TILES_Y + y;
}

instr_t plan_hbm_access(op_id op, int port, uint32_t hbm_row, uint32_t sram, uint32_t rows) {
    uint8_t y = (uint8_t)(port % CFG_TILES_Y);
    instr_t i = {.op = (uint8_t)op, .engine = ENG_MOVE, .rows = (uint16_t)rows, .hbm_addr = hbm_row, .rect.y0 = y};
    i.to = port < CFG_TILES_Y ? TO_WEST : TO_EAST;
    if (op == OP_LOAD)
        i.addr_c = (uint16_t)sram;
    else
        i.addr_a = (uint16_t)sram;
    return i;
}

// ---- the cut
// The most rows of M that fit at once with phases of k_phase blocks; 0 where not one chunk of ROWS does.
static uint32_t fitting_rows(const kernel_plan *p, uint32_t k_phase) {
    uint32_t c_buffer = p->split_k ? BANK / 4 : BANK / 2;
    uint32_t most = min_u32(MAX_A_BANKS * BANK / (k_phase * p->a_rows_k), c_buffer / C_ROWS);
    if (p->spec.scale_a != SCALE_NONE) // half of the bank of scales
        most = min_u32(most, BANK / 2 / k_phase / ceil_div(CFG_ROWS, BLOCK) * CFG_ROWS);
    return p->spec.m <= most ? p->spec.m : most / CFG_ROWS * CFG_ROWS;
}

static void lay_out(kernel_plan *p) {
    uint32_t a_banks = ceil_div(p->m_group * p->k_phase * p->a_rows_k, BANK), w_banks = (SPARE_BANKS - a_banks) / 2;
    uint32_t c_bank = SPARE_BANKS * BANK, s_bank = c_bank + BANK, as_rows = plan_as_rows(p, p->m_group, p->k_phase);
    uint32_t ws_room = (BANK - as_rows) / 2, c_room = p->phases > 1 ? BANK : p->split_k ? BANK / 4 : BANK / 2;
    for (uint32_t i = 0; i < 2; i++) {
        p->addr_w[i] = (uint16_t)((a_banks + i * w_banks) * BANK);
        p->addr_ws[i] = (uint16_t)(s_bank + as_rows + i * ws_room);
        p->addr_c[i] = (uint16_t)(c_bank + i * (p->split_k ? BANK / 4 : BANK / 2));
        p->addr_land[i] = (uint16_t)(c_bank + BANK / 2 + i * BANK / 4);
    }
    p->addr_as = (uint16_t)s_bank;
    uint32_t held = c_room / (p->m_group * C_ROWS), columns = most_columns(p);
    p->n_group = p->phases > 1 ? min_u32(held, columns) : columns;
    // A chunk costs the latency of a LOAD, the last one its time in the array: the best length lies between.
    uint32_t tile_rows = p->k_phase * p->w_rows_block, most = min_u32(w_banks * BANK / tile_rows, held);
    if (p->ws_bytes) most = min_u32(most, ws_room * ROW_BYTES / (p->k_phase * CFG_COLS * p->ws_bytes));
    double best = sqrt((double)p->n_group * tile_rows * (CFG_HBM_LATENCY + 20)) / tile_rows;
    uint32_t wanted = best < 1 ? 1 : best > most ? most : (uint32_t)best;
    p->chunk = ceil_div(p->n_group, ceil_div(p->n_group, wanted)); // equal parts
}

static bool cut(kernel_plan *p) {
    p->slice_kb = p->split_k ? ceil_div(p->kb, CFG_TILES_Y) : p->kb;
    uint32_t rows = min_u32(p->spec.m, CFG_ROWS), most = min_u32(BANK / p->w_rows_block, p->slice_kb);
    while (most > 1 && fitting_rows(p, most) < rows) most--;
    p->phases = ceil_div(p->slice_kb, most);
    if (p->split_k && p->phases > 1) return false;
    p->k_phase = ceil_div(p->slice_kb, p->phases);
    p->m_group = fitting_rows(p, p->k_phase);
    lay_out(p);
    return true;
}

static bool refuse(char error[KERNEL_ERROR], const char *what, unsigned long got, const char *want) {
    snprintf(error, KERNEL_ERROR, "%s: expected %s, got %lu", what, want, got);
    return false;
}

bool plan_make(const gemm_spec *spec, bool has_init, kernel_plan *p, char error[KERNEL_ERROR]) {
    memset(p, 0, sizeof *p);
    const uint32_t sizes[3] = {spec->m, spec->n, spec->k};
    const char *const names[3] = {"m", "n", "k"};
    for (int i = 0; i < 3; i++)
        if (sizes[i] < 1 || sizes[i] > MAX_SIZE) return refuse(error, names[i], sizes[i], "1 to 2^24");
    if (spec->fmt_a >= NUM_FMTS) return refuse(error, "format of the activations", spec->fmt_a, "a format");
    if (spec->fmt_w >= NUM_FMTS) return refuse(error, "format of the weights", spec->fmt_w, "a format");
    if (spec->scale_a > SCALE_E8M0) return refuse(error, "scales of the activations", spec->scale_a, "none or e8m0");
    if (spec->scale_w > SCALE_BF16) return refuse(error, "scales of the weights", spec->scale_w, "none, e8m0 or bf16");
    p->spec = *spec;
    p->has_init = has_init;
    p->kb = ceil_div(spec->k, BLOCK);
    p->nt = ceil_div(spec->n, CFG_COLS);
    p->a_rows_k = spec->fmt_a == FMT_BF16 ? 2 : 1;
    p->w_rows_block = (uint32_t)(CFG_COLS * num_fmt_bits(spec->fmt_w) / 8);
    p->ws_bytes = (uint32_t)spec->scale_w; // none 0, E8M0 1, BF16 2
    p->split_k = spec->split_k && !has_init && CFG_TILES_Y > 1 && p->kb >= CFG_TILES_Y;
    if (p->split_k && !cut(p)) p->split_k = false;
    if (!p->split_k) cut(p);
    return true;
}
