// Operands and results in the rows of docs/architecture.md: inside of the kernels.
#ifndef WORKLOAD_KERNEL_PACK_H
#define WORKLOAD_KERNEL_PACK_H
#include "workload/kernel_plan.h"

// Rows m0..m0 + m - 1 and these blocks of the activations: (blocks * m * a_rows_k) rows.
void pack_a(const kernel_plan *p, const uint16_t *a, uint32_t m0, uint32_t m, span_t blocks, row_t *out);
// Their scales: blocks * ceil(m / 32) rows.
void pack_a_scales(const kernel_plan *p, const uint8_t *scales, uint32_t m0, uint32_t m, span_t blocks, row_t *out);
// These column tiles and blocks of the weights: tiles * blocks * w_rows_block rows.
void pack_w(const kernel_plan *p, const uint16_t *w, span_t tiles, span_t blocks, row_t *out);
// Their scales: plan_ws_rows rows.
void pack_w_scales(const kernel_plan *p, const uint16_t *scales, span_t tiles, span_t blocks, row_t *out);
// Rows m0.. of these column tiles of y[][n]: tiles * m * COLS / 8 rows; padding columns zero.
void pack_c(const float *y, uint32_t n, uint32_t m0, uint32_t m, span_t tiles, row_t *out);
void unpack_c(const row_t *in, uint32_t n, uint32_t m0, uint32_t m, span_t tiles, float *y);
#endif
