// Steps of a vector instruction: twin of rtl/vector/vec_walk.sv.
#ifndef VECTOR_VEC_WALK_H
#define VECTOR_VEC_WALK_H
#include "common/isa.h"

typedef struct {
    vec_args args;
    bool quant; // operand B walks scale rows
    uint16_t o, l;
    uint8_t s, r;
    uint16_t base[VEC_OPERANDS], line[VEC_OPERANDS], seg[VEC_OPERANDS], span[VEC_OPERANDS];
} vec_walk;

typedef struct {
    uint16_t addr[VEC_OPERANDS];
    bool first, group_last, last;
    bool scale_due; // its group fills a scale row
    uint8_t byte;   // of the group's scale
} vec_walk_out;

// The first step. No count may be 0.
void vec_walk_load(vec_walk *w, const vec_args *args, bool quant);
// The step it stands at.
void vec_walk_peek(const vec_walk *w, vec_walk_out *out);
// To the next step; past the last one it means nothing.
void vec_walk_step(vec_walk *w);
#endif
