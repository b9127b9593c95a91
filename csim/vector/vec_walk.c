#include "vector/vec_walk.h"

void vec_walk_load(vec_walk *w, const vec_args *args, bool quant) {
    *w = (vec_walk){.args = *args, .quant = quant};
    for (int x = 0; x < VEC_OPERANDS; x++) {
        const vec_operand *of = &args->of[x];
        w->base[x] = w->line[x] = w->seg[x] = of->addr;
        w->span[x] = of->wide ? (uint16_t)(args->segs * of->seg) : of->seg;
    }
}

void vec_walk_peek(const vec_walk *w, vec_walk_out *out) {
    const vec_args *a = &w->args;
    for (int x = 0; x < VEC_OPERANDS; x++) out->addr[x] = a->of[x].wide ? (uint16_t)(w->seg[x] + w->r) : w->line[x];
    out->first = w->r == 0 && w->s == 0;
    out->group_last = w->r == a->rows - 1 && w->s == a->segs - 1;
    out->last = out->group_last && w->l == a->lines - 1 && w->o == a->outer - 1;
    out->scale_due = w->l % 32 == 31 || w->l == a->lines - 1;
    out->byte = w->l % 32;
}

// Of one operand, from the step before.
static void advance(vec_walk *w, int x, bool group_last, bool line_last) {
    const vec_operand *of = &w->args.of[x];
    if (group_last && line_last) {
        w->base[x] = (uint16_t)(w->base[x] + w->span[x]);
        w->line[x] = w->seg[x] = w->base[x];
    } else if (group_last) {
        w->seg[x] = (uint16_t)(w->line[x] + of->line);
        if (x != VEC_B || !w->quant || w->l % 32 == 31) w->line[x] = w->seg[x];
    } else {
        w->seg[x] = (uint16_t)(w->seg[x] + of->seg);
    }
}

void vec_walk_step(vec_walk *w) {
    const vec_args *a = &w->args;
    if (w->r != a->rows - 1) {
        w->r++;
        return;
    }
    bool group_last = w->s == a->segs - 1, line_last = w->l == a->lines - 1;
    for (int x = 0; x < VEC_OPERANDS; x++) advance(w, x, group_last, line_last);
    w->r = 0;
    w->s = group_last ? 0 : (uint8_t)(w->s + 1);
    if (!group_last) return;
    w->l = line_last ? 0 : (uint16_t)(w->l + 1);
    w->o = (uint16_t)(w->o + line_last);
}
