#include "vector/vec_join.h"

#include <string.h>

enum { LAST = 17 };

vec_lanes vec_swap(const vec_lanes *x, int by) {
    vec_lanes y;
    for (int i = 0; i < VEC_LANES; i++) y.x[i] = x->x[i ^ by];
    return y;
}

void vec_join_reset(vec_join *s) {
    s->active = false;
    s->count = 0;
}

void vec_join_peek(const vec_join *s, vec_join_out *out) {
    const vec_lanes *p = s->partial;
    out->valid = out->final_join = out->release = false;
    out->part = 0;
    if (!s->active) return;
    out->release = s->count == LAST - 2;
    out->a = p[0];
    out->valid = true;
    switch (s->count) {
    case 0:
        out->b = p[1];
        break;
    case 1:
        out->part = 2;
        out->a = p[2];
        out->b = p[3];
        break;
    case 5:
        out->b = p[2];
        break;
    case 9:
        out->b = vec_swap(&p[0], 1);
        break;
    case 13:
        out->b = vec_swap(&p[0], 2);
        break;
    case LAST:
        out->b = vec_swap(&p[0], 4);
        out->final_join = true;
        break;
    default:
        out->valid = false;
    }
}

void vec_join_step(vec_join *s, bool clear, bool largest, const vec_lanes *result, int part, bool last) {
    bool end = s->active && s->count == LAST;
    s->count = s->active && !end ? (uint8_t)(s->count + 1) : 0;
    s->active = (result && last) || (s->active && !end);
    if (clear) {
        for (int p = 0; p < VEC_PARTS; p++)
            for (int i = 0; i < VEC_LANES; i++) s->partial[p].x[i] = largest ? 0xFF800000 : 0x80000000;
    } else if (result) {
        s->partial[part] = *result;
    }
}
