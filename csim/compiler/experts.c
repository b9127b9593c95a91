// Routing on every tile alike. All experts are computed; the shares of those not chosen are zero.
#include "compiler/emit.h"

// Takes the largest of `left`, of equals the lowest, out of it; its value in rows.most, and 1 at its place, otherwise
// 0, in rows.below.
static void take_largest(emitter *e) {
    const tile_rows *r = &e->t->rows;
    uint32_t n = e->c->route_rows;
    emit_reduce(e, OP_VLARGEST, r->left, n, r->most);
    emit_rows(e, OP_VLESS, r->below, at(r->left), constant(r->most), n);
    emit_rows(e, OP_VCOPY, r->first, at(r->order), at(0), n);
    emit_rows(e, OP_VSELECT, r->first, at(r->below), constant(r->minus_infinity), n);
    emit_reduce(e, OP_VLARGEST, r->first, n, r->sum);
    emit_rows(e, OP_VLESS, r->below, at(r->first), constant(r->sum), n); // 0 for the one
    emit_rows(e, OP_VSUB, r->below, constant(r->ones), at(r->below), n);
    emit_rows(e, OP_VSELECT, r->left, at(r->below), constant(r->minus_infinity), n);
}

// 1 for the `count` largest of `left` in `chosen`, otherwise 0.
static void choose(emitter *e, uint32_t count) {
    const tile_rows *r = &e->t->rows;
    uint32_t n = e->c->route_rows;
    for (uint32_t i = 0; i < count; i++) {
        take_largest(e);
        if (i == 0)
            emit_rows(e, OP_VCOPY, r->chosen, at(r->below), at(0), n);
        else
            emit_rows(e, OP_VADD, r->chosen, at(r->chosen), at(r->below), n);
    }
}

// gpt_oss: the best logits, softmax over those alone.
static void route_by_logits(emitter *e) {
    const tile_rows *r = &e->t->rows;
    uint32_t n = e->c->route_rows;
    emit_rows(e, OP_VCOPY, r->left, at(r->route), at(0), n);
    choose(e, e->c->m->c.top_k);
    emit_reduce(e, OP_VLARGEST, r->route, n, r->sum);
    emit_rows(e, OP_VSUB, r->route, at(r->route), constant(r->sum), n);
    emit_rows(e, OP_VMUL, r->route, at(r->route), constant(r->log2e), n);
    emit_rows(e, OP_VEXP2, r->route, at(r->route), at(0), n);
    emit_rows(e, OP_VMUL, r->route, at(r->route), at(r->chosen), n);
}

// To `left` what lies in `from` where `which` is not zero, otherwise -infinity.
static void keep(emitter *e, uint32_t which, uint32_t from) {
    const tile_rows *r = &e->t->rows;
    uint32_t n = e->c->route_rows;
    emit_rows(e, OP_VCOPY, r->left, constant(r->minus_infinity), at(0), n);
    emit_rows(e, OP_VSELECT, r->left, at(which), at(from), n);
}

// deepseek_v3: only the best groups are left of `from`, to `left`; a group counts the sum of its best two.
static void keep_groups(emitter *e, uint32_t from) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    uint32_t n = e->c->route_rows;
    emit_rows(e, OP_VCOPY, r->groups, constant(r->minus_infinity), at(0), n);
    for (uint32_t g = 0; g < f->groups; g++) {
        keep(e, r->member + g * n, from);
        take_largest(e);
        emit_rows(e, OP_VCOPY, r->shares, at(r->most), at(0), 1);
        emit_reduce(e, OP_VLARGEST, r->left, n, r->most);
        emit_rows(e, OP_VADD, r->shares, at(r->shares), at(r->most), 1);
        emit_rows(e, OP_VSELECT, r->groups, at(r->one_hot + g * n), constant(r->shares), n);
    }
    emit_rows(e, OP_VCOPY, r->left, at(r->groups), at(0), n);
    choose(e, f->top_groups);
    for (uint32_t g = 0; g < f->groups; g++) { // 1 for the experts of the chosen groups
        emit_rows(e, OP_VMUL, r->below, at(r->chosen), at(r->one_hot + g * n), n);
        emit_reduce(e, OP_VSUM, r->below, n, r->most);
        if (g == 0)
            emit_rows(e, OP_VMUL, r->groups, at(r->member), constant(r->most), n);
        else
            emit_rows(e, OP_VFMA, r->groups, at(r->member + g * n), constant(r->most), n);
    }
    keep(e, r->groups, from);
}

// deepseek_v3: sigmoid; the correction counts for the choice only.
static void route_by_groups(emitter *e, const tile_layer *l) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    uint32_t n = e->c->route_rows, choice = r->scratch;
    emit_rows(e, OP_VMUL, r->route, at(r->route), constant(r->gate_scale), n);
    emit_rows(e, OP_VEXP2, r->route, at(r->route), at(0), n);
    emit_rows(e, OP_VADD, r->route, at(r->route), constant(r->ones), n);
    emit_rows(e, OP_VRECIP, r->route, at(r->route), at(0), n);
    emit_rows(e, OP_VADD, choice, at(r->route), at(l->correction), n);
    if (f->groups > 1)
        keep_groups(e, choice);
    else
        emit_rows(e, OP_VCOPY, r->left, at(choice), at(0), n);
    choose(e, f->top_k);
    emit_rows(e, OP_VMUL, r->route, at(r->route), at(r->chosen), n);
}

void emit_route(emitter *e, const tile_layer *l) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    uint32_t n = e->c->route_rows;
    emit_product(e, &l->router, FMT_BF16, r->route);
    emit_rows(e, OP_VADD, r->route, at(r->route), at(l->router_bias), n);
    if (f->arch == LLM_DEEPSEEK_V3)
        route_by_groups(e, l);
    else
        route_by_logits(e);
    if (f->arch != LLM_DEEPSEEK_V3 || f->norm_top_k) {
        emit_reduce(e, OP_VSUM, r->route, n, r->sum);
        emit_rows(e, OP_VRECIP, r->sum, at(r->sum), at(0), 1);
        emit_rows(e, OP_VMUL, r->route, at(r->route), constant(r->sum), n);
    }
    if (f->arch == LLM_DEEPSEEK_V3) emit_rows(e, OP_VMUL, r->route, at(r->route), constant(r->routed_scale), n);
    for (uint32_t i = 0; i < f->experts; i++) {
        emit_rows(e, OP_VMUL, r->below, at(r->route), at(r->one_hot + i * n), n);
        emit_reduce(e, OP_VSUM, r->below, n, r->shares + i);
    }
}

void emit_share(emitter *e, const tile_layer *l) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    uint32_t width = f->expert_width, first = l->gate.first, end = first + l->gate.n;
    for (uint32_t i = first / width; i < f->experts && i * width < end; i++) { // behind them the shared ones
        uint32_t begin = i * width > first ? i * width : first, stop = min_u32((i + 1) * width, end);
        uint32_t row = r->gate + (begin - first) / LANES;
        emit_rows(e, OP_VMUL, row, at(row), constant(r->shares + i), (stop - begin) / LANES);
    }
}

void emit_down_bias(emitter *e, const tile_layer *l, uint32_t to) {
    uint32_t rows = result_rows(l->down.n);
    for (uint32_t i = 0; i < e->c->m->c.experts && l->down.n; i++)
        emit_rows(e, OP_VFMA, to, at(l->down_bias + i * rows), constant(e->t->rows.shares + i), rows);
}
