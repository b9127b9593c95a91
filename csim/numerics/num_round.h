// The one place where results are rounded to float32: to nearest even, subnormals kept, overflow to infinity.
#ifndef NUMERICS_NUM_ROUND_H
#define NUMERICS_NUM_ROUND_H
#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 num_u128;

// float32 bits of (-1)^sign * mag * 2^exp, mag > 0. Bit 0 of mag may stand for anything below it.
uint32_t num_round_fp32(bool sign, num_u128 mag, int exp);
// float32 bits of the exact sum of two numbers mag * 2^exp with mag < 2^64, rounded once; exactly zero gives +0.
uint32_t num_add_exact(bool sign_a, uint64_t mag_a, int exp_a, bool sign_b, uint64_t mag_b, int exp_b);
#endif
