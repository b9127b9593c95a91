// Block quantiser, two cycles deep, one block a cycle: twin of rtl/numerics/mx_quantize.sv around num_quantize.
#ifndef NUMERICS_MX_QUANTIZE_H
#define NUMERICS_MX_QUANTIZE_H
#include "numerics/num.h"

typedef struct {
    bool valid;
    uint8_t fmt, rule; // fmt_id: E2M1, E4M3, E5M2 or INT8; num_scale_rule
    uint32_t x[NUM_BLOCK];
} mx_quantize_in;

// codes and scale matter only while valid.
typedef struct {
    bool valid;
    uint8_t codes[NUM_BLOCK], scale;
} mx_quantize_out;

typedef struct {
    mx_quantize_out stage[2];
} mx_quantize;

void mx_quantize_reset(mx_quantize *s);
void mx_quantize_peek(const mx_quantize *s, mx_quantize_out *out);
void mx_quantize_step(mx_quantize *s, const mx_quantize_in *in);
#endif
