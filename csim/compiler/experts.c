// Routing on every tile alike: the best k logits, of equals the lowest expert first, softmax over those. All experts
// are computed; the shares of those not chosen are zero.
#include "compiler/emit.h"

// One row, the same in every lane: the sum or the largest of `rows` rows.
static void reduce(emitter *e, op_id op, uint32_t from, uint32_t rows, uint32_t to) {
    vec_args v = {.outer = 1, .lines = 1, .segs = 1, .rows = (uint8_t)rows};
    v.of[VEC_A] = strided(from, 0, 0);
    v.of[VEC_C] = grouped(to, 0, 0);
    emit_walk(e, op, v);
}

// Takes the largest of `left` out of it and into `chosen`.
static void choose(emitter *e, bool is_first) {
    const tile_rows *r = &e->t->rows;
    uint32_t n = e->c->route_rows;
    reduce(e, OP_VLARGEST, r->left, n, r->most);
    if (is_first) emit_rows(e, OP_VCOPY, r->sum, at(r->most), at(0), 1);
    emit_rows(e, OP_VLESS, r->below, at(r->left), constant(r->most), n);
    emit_rows(e, OP_VCOPY, r->first, at(r->order), at(0), n);
    emit_rows(e, OP_VSELECT, r->first, at(r->below), constant(r->minus_infinity), n);
    reduce(e, OP_VLARGEST, r->first, n, r->most);
    emit_rows(e, OP_VLESS, r->below, at(r->first), constant(r->most), n); // 0 for the one
    emit_rows(e, OP_VSUB, r->below, constant(r->ones), at(r->below), n);
    emit_rows(e, OP_VSELECT, r->left, at(r->below), constant(r->minus_infinity), n);
    if (is_first)
        emit_rows(e, OP_VCOPY, r->chosen, at(r->below), at(0), n);
    else
        emit_rows(e, OP_VADD, r->chosen, at(r->chosen), at(r->below), n);
}

void emit_route(emitter *e, const tile_layer *l) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    uint32_t n = e->c->route_rows;
    emit_product(e, &l->router, FMT_BF16, r->route);
    emit_rows(e, OP_VADD, r->route, at(r->route), at(l->router_bias), n);
    emit_rows(e, OP_VCOPY, r->left, at(r->route), at(0), n);
    for (uint32_t i = 0; i < f->top_k; i++) choose(e, i == 0);
    emit_rows(e, OP_VSUB, r->route, at(r->route), constant(r->sum), n);
    emit_rows(e, OP_VMUL, r->route, at(r->route), constant(r->log2e), n);
    emit_rows(e, OP_VEXP2, r->route, at(r->route), at(0), n);
    emit_rows(e, OP_VMUL, r->route, at(r->route), at(r->chosen), n);
    reduce(e, OP_VSUM, r->route, n, r->sum);
    emit_rows(e, OP_VRECIP, r->sum, at(r->sum), at(0), 1);
    emit_rows(e, OP_VMUL, r->route, at(r->route), constant(r->sum), n);
    for (uint32_t i = 0; i < f->experts; i++) {
        emit_rows(e, OP_VMUL, r->below, at(r->route), at(r->one_hot + i * n), n);
        reduce(e, OP_VSUM, r->below, n, r->shares + i);
    }
}

void emit_share(emitter *e, const tile_layer *l) {
    const tile_rows *r = &e->t->rows;
    uint32_t width = e->c->m->c.expert_width, first = l->gate.first, end = first + l->gate.n;
    for (uint32_t i = first / width; i * width < end; i++) {
        uint32_t begin = i * width > first ? i * width : first, stop = min_u32((i + 1) * width, end);
        uint32_t row = r->gate + (begin - first) / LANES;
        emit_rows(e, OP_VMUL, row, at(row), constant(r->shares + i), (stop - begin) / LANES);
    }
}

void emit_down_bias(emitter *e, const tile_layer *l, uint32_t to) {
    uint32_t rows = ceil_div(l->down.n, CFG_COLS) * C_ROWS;
    for (uint32_t i = 0; i < e->c->m->c.experts && l->down.n; i++)
        emit_rows(e, OP_VFMA, to, at(l->down_bias + i * rows), constant(e->t->rows.shares + i), rows);
}
