// Numerics of the matmul: element formats, block dot product, accumulation with one rounding, quantisation to MX.
// Untimed, on integers only, obvious and slow: the C reference. Twin of rtl/numerics/num_pkg.sv; held to mx_oracle.py.
#ifndef NUMERICS_NUM_H
#define NUMERICS_NUM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/isa.h"

enum { NUM_BLOCK = 32 };
#define NUM_QNAN 0x7FC00000u

// A decoded element or scale: value = (-1)^sign * mag * 2^exp, unless nan or inf.
typedef struct {
    bool nan, inf, sign;
    uint8_t mag;
    int16_t exp;
} num_elem;

// Sum of a block: (-1)^sign * mag * 2^exp, mag < 2^54, unless nan or inf.
typedef struct {
    bool nan, inf, sign;
    uint64_t mag;
    int exp;
} num_dot;

// Bits of an element of the format: 4, 8 or 16.
int num_fmt_bits(fmt_id fmt);
// E2M1, E4M3, INT8, ... as the command line spells them ("e2m1"); num_fmt_parse gives NUM_FMTS for anything else.
const char *num_fmt_name(fmt_id fmt);
fmt_id num_fmt_parse(const char *name);

num_elem num_decode(fmt_id fmt, uint16_t code);
// SCALE_NONE is 1 whatever the code; infinities of BF16 read as NaN.
num_elem num_decode_scale(scale_id fmt, uint16_t code);

// 32 products, aligned to the largest product exponent, bits more than CFG_ALIGN_BITS below it dropped toward zero,
// then an exact sum.
num_dot num_block_dot(fmt_id a_fmt, const uint16_t a[NUM_BLOCK], fmt_id w_fmt, const uint16_t w[NUM_BLOCK]);
// The same with another number of bits kept (0..32).
num_dot num_block_dot_bits(fmt_id a_fmt, const uint16_t a[NUM_BLOCK], fmt_id w_fmt, const uint16_t w[NUM_BLOCK],
                           int align_bits);
// float32 bits of acc + dot * scale_a * scale_w, rounded once to nearest even.
uint32_t num_accumulate(uint32_t acc, num_dot dot, num_elem scale_a, num_elem scale_w);

typedef enum { NUM_FLOOR, NUM_EVEN, NUM_CEIL } num_scale_rule;
// float32 bits x[32] -> element codes and E8M0 scale. fmt: E2M1, E4M3, E5M2 or INT8. Elements to nearest even,
// saturating. The scale exponent comes from the largest magnitude: floor of its log2 less the format's largest
// exponent; "even" rounds that magnitude to the element's mantissa width first (ties up), "ceil" takes the ceiling of
// its log2. All zeros: scale 0, signs kept; a NaN or infinity: scale 255, elements 0.
uint8_t num_quantize(fmt_id fmt, num_scale_rule rule, const uint32_t x[NUM_BLOCK], uint8_t codes[NUM_BLOCK]);
// float32 bits to BF16, to nearest even; NaN is 0x7FC0.
uint16_t num_to_bf16(uint32_t x);
#endif
