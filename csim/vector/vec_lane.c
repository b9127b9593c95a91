#include "vector/vec_lane.h"

#include <string.h>

#include "numerics/num_fp32.h"

uint32_t vec_lane_result(lane_op op, uint32_t a, uint32_t b, uint32_t c) {
    switch (op) {
    case LANE_ADD:
        return num_fp32_add(a, b);
    case LANE_SUB:
        return num_fp32_add(a, b ^ 0x80000000);
    case LANE_MUL:
        return num_fp32_mul(a, b);
    case LANE_FMA:
        return num_fp32_fma(a, b, c);
    case LANE_MAX:
        return num_fp32_max(a, b);
    case LANE_MIN:
        return num_fp32_min(a, b);
    case LANE_LESS:
        return num_fp32_less(a, b) ? 0x3F800000 : 0;
    case LANE_SELECT:
        return a << 1 ? b : c;
    case LANE_EXP2:
        return num_fp32_exp2(a);
    case LANE_RECIP:
        return num_fp32_recip(a);
    case LANE_RSQRT:
        return num_fp32_rsqrt(a);
    default:
        return a;
    }
}

void vec_lane_reset(vec_lane *s) {
    memset(s, 0, sizeof *s);
}

void vec_lane_peek(const vec_lane *s, vec_lane_out *out) {
    *out = s->stage[LANE_STAGES - 1];
}

void vec_lane_step(vec_lane *s, const vec_lane_in *in) {
    memmove(s->stage + 1, s->stage, sizeof s->stage - sizeof s->stage[0]);
    s->stage[0].valid = in->valid;
    if (in->valid) s->stage[0].result = vec_lane_result((lane_op)in->op, in->a, in->b, in->c);
}
