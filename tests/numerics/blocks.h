// Random and edge blocks for the numerics tests.
#ifndef TESTS_BLOCKS_H
#define TESTS_BLOCKS_H
#include "common/isa.h"
#include "common/seed.h"
#include "numerics/num.h"

typedef struct {
    fmt_id a_fmt, w_fmt;
    scale_id a_scale, w_scale;
    uint16_t a[NUM_BLOCK], w[NUM_BLOCK], scale_a, scale_w;
    uint32_t acc;
} block_case;

// Largest finite, smallest subnormal, one, NaN, infinity (where there are such), by format.
static const uint16_t edge_codes[NUM_FMTS][5] = {
    {0x7, 0x1, 0x2, 0xF, 0x8},      {0x8, 0x7, 0x1, 0xF, 0x0},      {0x7E, 0x01, 0x38, 0x7F, 0x80},
    {0x7B, 0x01, 0x3C, 0x7D, 0x7C}, {0x80, 0x7F, 0x40, 0xFF, 0x01}, {0x7F7F, 0x0001, 0x3F80, 0x7FC0, 0x7F80}};
static const uint32_t edge_acc[] = {0,          0x80000000, 0x3F800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                    0x00800000, 0x007FFFFF, 0x00000001, 0x80000001, 0x7F800000,
                                    0xFF800000, 0x7FC00000, 0x7F000000, 0x00FFFFFF, 0x4B800001};

static inline uint16_t random_code(rng_t *r, fmt_id fmt, int kind) {
    uint16_t mask = (uint16_t)((1u << num_fmt_bits(fmt)) - 1), sign = (uint16_t)(1u << (num_fmt_bits(fmt) - 1));
    uint16_t code = (uint16_t)rng_next(r) & mask;
    if (kind == 1) return (uint16_t)(edge_codes[fmt][rng_below(r, 3)] ^ (rng_below(r, 2) ? sign : 0));
    if (kind == 2) return edge_codes[fmt][rng_below(r, 5)];
    // bf16: mostly exponents near each other, so that sums are not all one product
    if (kind == 3 && fmt == FMT_BF16) return (uint16_t)((code & 0x80FF) | (0x3C00 + (rng_below(r, 8) << 8)));
    return code;
}

// Case number i: classes in turn (any codes, edges, specials, near exponents, one non-zero, all zeros, cancellation).
static inline block_case random_block(rng_t *r, fmt_id a_fmt, fmt_id w_fmt, int i) {
    static const uint16_t scales[2][8] = {{0, 1, 254, 255, 127, 126, 130, 120},
                                          {0x3F80, 0x0001, 0x7F7F, 0x7F80, 0xBF80, 0x8000, 0x7FC0, 0x4049}};
    block_case c = {.a_fmt = a_fmt, .w_fmt = w_fmt};
    int class = i % 8;
    for (int k = 0; k < NUM_BLOCK; k++) {
        c.a[k] = random_code(r, a_fmt, class < 4 ? class : 3);
        c.w[k] = random_code(r, w_fmt, class < 4 ? class : 3);
        if (class == 4 && k != (int)(i / 8 % 32)) c.a[k] = c.w[k] = 0;
        if (class == 5) c.a[k] = 0;
    }
    // cancellation: pairs of products of opposite sign, all but one
    if (class == 6 && a_fmt != FMT_INT4 && a_fmt != FMT_INT8)
        for (int k = 0; k < NUM_BLOCK - 2; k += 2) {
            c.a[k + 1] = (uint16_t)(c.a[k] ^ 1u << (num_fmt_bits(a_fmt) - 1));
            c.w[k + 1] = c.w[k];
        }
    c.a_scale = (scale_id)rng_below(r, 2);
    c.w_scale = (scale_id)rng_below(r, 3);
    bool edge = rng_below(r, 3) == 0;
    c.scale_a = edge ? scales[0][rng_below(r, 8)] : (uint16_t)(110 + rng_below(r, 30));
    c.scale_w = c.w_scale == SCALE_BF16 ? (edge ? scales[1][rng_below(r, 8)] : (uint16_t)(0x3C00 + rng_below(r, 0x700)))
                                        : (edge ? scales[0][rng_below(r, 8)] : (uint16_t)(110 + rng_below(r, 30)));
    c.acc = rng_below(r, 3) ? (uint32_t)rng_next(r) : edge_acc[rng_below(r, sizeof edge_acc / sizeof edge_acc[0])];
    // an accumulator that all but cancels the block
    if (class == 7) {
        num_dot dot = num_block_dot(a_fmt, c.a, w_fmt, c.w);
        c.acc = num_accumulate(0, dot, num_decode_scale(c.a_scale, c.scale_a), num_decode_scale(c.w_scale, c.scale_w)) ^
                0x80000000u;
        c.acc += (uint32_t)rng_below(r, 3);
    }
    return c;
}

static inline uint32_t reference(const block_case *c) {
    return num_accumulate(c->acc, num_block_dot(c->a_fmt, c->a, c->w_fmt, c->w),
                          num_decode_scale(c->a_scale, c->scale_a), num_decode_scale(c->w_scale, c->scale_w));
}
#endif
