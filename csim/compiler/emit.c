#include "compiler/emit.h"

#include "numerics/num_block.h"

static void add(emitter *e, instr_t i) {
    node_t here = {(uint8_t)(e->tile % CFG_TILES_X), (uint8_t)(e->tile / CFG_TILES_X)};
    e->failed |= !program_add(e->out, here, &i, 0);
}

bool emit_end(emitter *e) {
    add(e, (instr_t){.op = OP_END, .engine = ENG_SEQ});
    return !e->failed;
}

// An engine's waits have a semaphore of its own: in one chain there is one signal for each, in order.
void emit_goes_on_in(emitter *e, engine_id from) {
    e->last = from;
}

void emit(emitter *e, instr_t i) {
    if (e->last != ENG_SEQ && e->last != i.engine) {
        add(e, (instr_t){.op = OP_SIGNAL, .engine = (uint8_t)e->last, .sem = i.engine, .count = 1});
        add(e, (instr_t){.op = OP_WAIT, .engine = i.engine, .sem = i.engine, .count = 1});
    }
    e->last = (engine_id)i.engine;
    add(e, i);
}

void emit_walk(emitter *e, op_id op, vec_args args) {
    emit(e, (instr_t){.op = (uint8_t)op, .engine = ENG_VECTOR, .vec = args});
}

void emit_rows(emitter *e, op_id op, uint32_t to, rows_at a, rows_at b, uint32_t rows) {
    bool binary = op >= OP_VADD && op <= OP_VSELECT;
    vec_args v = {.outer = 1, .lines = (uint16_t)rows, .segs = 1, .rows = 1};
    v.of[VEC_A] = strided(a.addr, !a.constant, 0);
    if (binary) v.of[VEC_B] = strided(b.addr, !b.constant, 0);
    v.of[VEC_C] = strided(to, 1, 0);
    if (rows) emit_walk(e, op, v);
}

void emit_reduce(emitter *e, op_id op, uint32_t from, uint32_t rows, uint32_t to) {
    vec_args v = {.outer = 1, .lines = 1, .segs = 1, .rows = (uint8_t)rows};
    v.of[VEC_A] = strided(from, 0, 0);
    v.of[VEC_C] = grouped(to, 0, 0);
    emit_walk(e, op, v);
}

void emit_load(emitter *e, uint32_t to, uint32_t hbm_row, uint32_t rows) {
    emit(e, plan_hbm_access(OP_LOAD, e->t->port, hbm_row, to, rows));
}

void emit_store(emitter *e, uint32_t from, uint32_t hbm_row, uint32_t rows) {
    emit(e, plan_hbm_access(OP_STORE, e->t->port, hbm_row, from, rows));
}

void emit_gather(emitter *e, uint32_t from, uint32_t rows, uint32_t to, uint32_t all, uint8_t tag) {
    if (rows)
        emit(e, (instr_t){.op = OP_MULTICAST,
                          .engine = ENG_SEND,
                          .addr_a = (uint16_t)from,
                          .addr_c = (uint16_t)to,
                          .rows = (uint16_t)rows,
                          .rect = {0, 0, CFG_TILES_X - 1, CFG_TILES_Y - 1},
                          .tag = tag});
    instr_t receive = {.op = OP_RECEIVE, .engine = ENG_RECV, .rows = (uint16_t)all, .tag = tag};
    if (rows) emit_goes_on_in(e, ENG_RECV); // what this tile sends arrives here too
    emit(e, receive);
}

void emit_multiply(emitter *e, const placed *w, fmt_id fmt_a, uint32_t m, uint32_t a, uint32_t to) {
    scale_id scale_w = num_block_scale(w->fmt);
    if (!w->n) return;
    emit(e, (instr_t){.op = OP_MATMUL,
                      .engine = ENG_MATMUL,
                      .fmt_a = (uint8_t)fmt_a,
                      .fmt_w = (uint8_t)w->fmt,
                      .scale_a = fmt_a == FMT_BF16 ? SCALE_NONE : SCALE_E8M0,
                      .scale_w = (uint8_t)scale_w,
                      .m = (uint16_t)m,
                      .n = (uint16_t)w->n,
                      .k = (uint16_t)w->k,
                      .addr_a = (uint16_t)a,
                      .addr_as = fmt_a == FMT_BF16 ? 0 : e->t->rows.a_scales,
                      .addr_w = w->w,
                      .addr_ws = scale_w == SCALE_NONE ? 0 : w->ws,
                      .addr_c = (uint16_t)to});
}

void emit_product(emitter *e, const placed *w, fmt_id fmt_a, uint32_t to) {
    emit_multiply(e, w, fmt_a, 1, e->t->rows.a, to);
}

void emit_bias(emitter *e, const placed *w, uint32_t to) {
    if (w->has_bias) emit_rows(e, OP_VADD, to, at(to), at(w->bias), result_rows(w->n));
}

void emit_convert(emitter *e, uint32_t from, uint32_t blocks, fmt_id fmt) {
    const tile_rows *r = &e->t->rows;
    vec_args v = {.outer = 1, .lines = (uint16_t)(2 * blocks), .segs = 1, .rows = 2};
    v.of[VEC_A] = strided(from, 2, 0);
    v.of[VEC_C] = grouped(r->a, 1, 0);
    if (fmt != FMT_BF16) {
        v = (vec_args){.arg = (uint8_t)fmt, .outer = (uint16_t)blocks, .lines = 1, .segs = 1, .rows = 4};
        v.of[VEC_A] = strided(from, 0, 4);
        v.of[VEC_B] = grouped(r->a_scales, 0, 1);
        v.of[VEC_C] = grouped(r->a, 0, 1);
    }
    emit_walk(e, fmt == FMT_BF16 ? OP_VBF16 : OP_VQUANT, v);
}

void emit_rms_norm(emitter *e, uint32_t from, uint32_t rows, uint16_t gain, uint16_t eps, uint32_t to) {
    const tile_rows *r = &e->t->rows;
    emit_rows(e, OP_VMUL, r->scratch, at(from), at(from), rows);
    emit_reduce(e, OP_VSUM, r->scratch, rows, r->sum);
    emit_rows(e, OP_VADD, r->sum, at(r->sum), at(eps), 1);
    emit_rows(e, OP_VRSQRT, r->sum, at(r->sum), at(0), 1);
    emit_rows(e, OP_VMUL, to, at(from), constant(r->sum), rows);
    emit_rows(e, OP_VMUL, to, at(to), at(gain), rows);
}

void emit_norm(emitter *e, uint16_t gain, fmt_id fmt) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    emit_rms_norm(e, r->x, f->hidden / LANES, gain, r->eps, r->normed);
    emit_convert(e, r->normed, ceil_div(f->hidden, BLOCK), fmt);
}
