#include "workload/kernel_pack.h"

#include <string.h>

#include "numerics/num.h"

enum { ONE_E8M0 = 127, ONE_BF16 = 0x3F80 };

// Bit `at` of a row on: `width` bits, which hold zero before.
static inline void put(row_t *r, uint32_t at, int width, uint64_t code) {
    r->w[at / 64] |= (code & ((1u << width) - 1)) << at % 64;
}

// A block of 32 elements from bit `at` on, over as many rows as it takes; elements past `count` are zero.
static void put_block(row_t *r, uint32_t at, int width, const uint16_t *codes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, at += (uint32_t)width) put(r + at / ROW_BITS, at % ROW_BITS, width, codes[i]);
}

static uint32_t block_elements(const kernel_plan *p, uint32_t block) {
    return min_u32(p->spec.k - block * BLOCK, BLOCK);
}

void pack_a(const kernel_plan *p, const uint16_t *a, uint32_t m0, uint32_t m, span_t blocks, row_t *out) {
    int width = num_fmt_bits(p->spec.fmt_a);
    memset(out, 0, (size_t)(blocks.end - blocks.first) * m * p->a_rows_k * sizeof *out);
    for (uint32_t b = blocks.first; b < blocks.end; b++)
        for (uint32_t i = 0; i < m; i++, out += p->a_rows_k)
            put_block(out, 0, width, a + (size_t)(m0 + i) * p->spec.k + b * BLOCK, block_elements(p, b));
}

void pack_a_scales(const kernel_plan *p, const uint8_t *scales, uint32_t m0, uint32_t m, span_t blocks, row_t *out) {
    uint8_t *bytes = (uint8_t *)out;
    uint32_t padded = ceil_div(m, BLOCK) * BLOCK;
    memset(bytes, ONE_E8M0, (size_t)(blocks.end - blocks.first) * padded);
    for (uint32_t b = blocks.first; b < blocks.end; b++, bytes += padded)
        for (uint32_t i = 0; i < m; i++) bytes[i] = scales[(size_t)(m0 + i) * p->kb + b];
}

void pack_w(const kernel_plan *p, const uint16_t *w, span_t tiles, span_t blocks, row_t *out) {
    int width = num_fmt_bits(p->spec.fmt_w);
    uint32_t rows = p->w_rows_block;
    memset(out, 0, (size_t)(tiles.end - tiles.first) * (blocks.end - blocks.first) * rows * sizeof *out);
    for (uint32_t t = tiles.first; t < tiles.end; t++)
        for (uint32_t b = blocks.first; b < blocks.end; b++, out += rows)
            for (uint32_t c = 0; c < CFG_COLS && t * CFG_COLS + c < p->spec.n; c++)
                put_block(out, c * BLOCK * (uint32_t)width, width,
                          w + (size_t)(t * CFG_COLS + c) * p->spec.k + b * BLOCK, block_elements(p, b));
}

void pack_w_scales(const kernel_plan *p, const uint16_t *scales, span_t tiles, span_t blocks, row_t *out) {
    uint32_t at = 0, total = plan_ws_rows(p, tiles.end - tiles.first, blocks.end - blocks.first) * ROW_BYTES;
    uint8_t *bytes = (uint8_t *)out;
    memset(out, 0, total);
    for (uint32_t t = tiles.first; t < tiles.end; t++)
        for (uint32_t b = blocks.first; b < blocks.end; b++)
            for (uint32_t n = t * CFG_COLS; n < (t + 1) * CFG_COLS; n++, at += p->ws_bytes) {
                uint16_t one = p->spec.scale_w == SCALE_BF16 ? ONE_BF16 : ONE_E8M0;
                uint16_t code = n < p->spec.n ? scales[(size_t)n * p->kb + b] : one;
                memcpy(bytes + at, &code, p->ws_bytes);
            }
}

void pack_c(const float *y, uint32_t n, uint32_t m0, uint32_t m, span_t tiles, row_t *out) {
    memset(out, 0, (size_t)(tiles.end - tiles.first) * m * C_ROWS * sizeof *out);
    for (uint32_t t = tiles.first; t < tiles.end; t++)
        for (uint32_t i = 0; i < m; i++, out += C_ROWS)
            memcpy(out, y + (size_t)(m0 + i) * n + t * CFG_COLS, min_u32(n - t * CFG_COLS, CFG_COLS) * sizeof(float));
}

void unpack_c(const row_t *in, uint32_t n, uint32_t m0, uint32_t m, span_t tiles, float *y) {
    for (uint32_t t = tiles.first; t < tiles.end; t++)
        for (uint32_t i = 0; i < m; i++, in += C_ROWS)
            memcpy(y + (size_t)(m0 + i) * n + t * CFG_COLS, in, min_u32(n - t * CFG_COLS, CFG_COLS) * sizeof(float));
}
