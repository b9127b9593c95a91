// Blocks of floats in any element format, as the host prepares weights and activations: MX with the floor rule, INT4
// with a BF16 scale (symmetric, largest magnitude to 7), BF16 without scale.
#ifndef NUMERICS_NUM_BLOCK_H
#define NUMERICS_NUM_BLOCK_H
#include "numerics/num.h"

// x[count], count 1 to NUM_BLOCK, finite -> codes[count]; returns the scale's code, of num_block_scale(fmt).
uint16_t num_block_quantize(fmt_id fmt, const float *x, uint32_t count, uint16_t *codes);
// x[k] in blocks of NUM_BLOCK -> codes[k], scales[ceil(k / NUM_BLOCK)].
void num_block_quantize_row(fmt_id fmt, const float *x, uint32_t k, uint16_t *codes, uint16_t *scales);
// The format of a block's scale: E8M0; BF16 for INT4; none for BF16.
scale_id num_block_scale(fmt_id fmt);
// The values of the codes, exactly but for what float32 cannot hold.
void num_block_values(fmt_id fmt, const uint16_t *codes, uint32_t count, uint16_t scale, float *x);
#endif
