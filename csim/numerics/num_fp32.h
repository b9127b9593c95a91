// float32 arithmetic of the network's reductions and of the vector lanes, on bits. Every NaN result is NUM_QNAN. Twin
// of the functions of rtl/numerics/num_pkg.sv and rtl/vector/vec_lane.sv; held to the host's arithmetic.
#ifndef NUMERICS_NUM_FP32_H
#define NUMERICS_NUM_FP32_H
#include <stdbool.h>
#include <stdint.h>

// To nearest even, subnormals kept. An exact zero is +0 unless all terms are -0.
uint32_t num_fp32_add(uint32_t a, uint32_t b);
uint32_t num_fp32_mul(uint32_t a, uint32_t b);
// a * b + c, rounded once.
uint32_t num_fp32_fma(uint32_t a, uint32_t b, uint32_t c);

// The larger, the smaller: a NaN makes a NaN, -0 is below +0.
uint32_t num_fp32_max(uint32_t a, uint32_t b);
uint32_t num_fp32_min(uint32_t a, uint32_t b);
// a < b; -0 equals +0, a NaN is not below anything.
bool num_fp32_less(uint32_t a, uint32_t b);

// Within 1 ulp of the true value for every input, exact where that is a power of two and the input a whole number
// (exp2) or a power of two (recip; rsqrt of even powers). Quadratics of configs/special.tbl, rounded once.
uint32_t num_fp32_exp2(uint32_t x);
// 1 / x; of a zero the infinity of its sign.
uint32_t num_fp32_recip(uint32_t x);
// 1 / sqrt(x); of zeros +infinity, below zero NaN.
uint32_t num_fp32_rsqrt(uint32_t x);
#endif
