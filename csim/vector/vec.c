#include "vector/vec.h"

#include <string.h>

enum { PART_MASK = VEC_PARTS - 1 };

vec_facts vec_facts_of(uint8_t op) {
    vec_facts f = {.own = op >= OP_VADD && op <= OP_VQUANT, .lane = LANE_PASS, .uses = {[VEC_A] = true}};
    f.uses[VEC_C] = op == OP_VFMA || op == OP_VSELECT;
    f.uses[VEC_B] = op >= OP_VADD && op <= OP_VSELECT;
    if (op >= OP_VADD && op <= OP_VCOPY) f.lane = (lane_op)(op - OP_VADD);
    if (op == OP_VSUM) f.lane = LANE_ADD;
    if (op == OP_VLARGEST) f.lane = LANE_MAX;
    if (op == OP_VSUM || op == OP_VLARGEST) f.kind = VEC_REDUCE;
    if (op == OP_VBF16) f.kind = VEC_BF16;
    if (op == OP_VQUANT) f.kind = VEC_QUANT;
    return f;
}

bool vec_fits(const vec_facts *facts, const vec_args *args) {
    int steps = args->segs * args->rows;
    if (facts->kind == VEC_BF16) return steps == 2;
    if (facts->kind != VEC_QUANT) return true;
    int fmt = args->arg % VEC_ARG_RULE;
    return steps == 4 && (fmt == FMT_E2M1 || fmt == FMT_E4M3 || fmt == FMT_E5M2 || fmt == FMT_INT8) &&
           args->arg / VEC_ARG_RULE <= NUM_CEIL;
}

void vec_reset(vec *s) {
    memset(s, 0, sizeof *s);
    engine_front_reset(&s->front);
    vec_join_reset(&s->join);
    mx_quantize_reset(&s->quantize);
}

static bool quiet(const vec *s) {
    return !s->running && !s->reserved;
}

static bool may_fire(const vec *s) {
    return s->running && !s->held && s->reserved <= VEC_FIFO - 2;
}

static bool needs(const vec *s, const vec_walk_out *at, int x) {
    return s->facts.uses[x] && (s->walk.args.of[x].wide || at->first);
}

void vec_peek(const vec *s, vec_out *out) {
    const instr_t *cur = &s->front.cur;
    out->instr_ready = engine_front_ready(&s->front);
    out->busy = s->front.cur_valid || !quiet(s);
    out->error = s->error;
    out->wait_valid = engine_front_waits(&s->front);
    out->signal_valid = engine_front_signals(&s->front) && quiet(s);
    for (int x = 0; x < VEC_PORTS; x++) out->req[x].valid = false;
    if (!out->busy) return;
    out->wait_sem = out->signal_sem = cur->sem;
    out->wait_count = out->signal_count = cur->count;
    if (s->count) {
        const vec_write *w = &s->fifo[s->rd];
        out->req[VEC_W] = (mem_req){.valid = true, .we = true, .addr = w->addr, .wdata = w->row};
    }
    if (!may_fire(s)) return;
    vec_walk_out at;
    vec_walk_peek(&s->walk, &at);
    for (int x = 0; x < VEC_READS; x++) {
        out->req[x].valid = needs(s, &at, x) && !s->got[x];
        out->req[x].we = false;
        out->req[x].addr = at.addr[x];
    }
}

static row_t row_of(const vec_lanes *x) {
    row_t row;
    memcpy(&row, x, sizeof row);
    return row;
}

static void push(vec *s, uint16_t addr, row_t row) {
    s->fifo[(s->rd + s->count++) % VEC_FIFO] = (vec_write){addr, row};
}

// What enters the lanes, into the first stage; whether anything does.
static bool enter(vec *s, const vec_join_out *join) {
    vec_stage *to = &s->stage[0];
    const vec_way *way = &s->fired[1];
    const vec_lanes *a = &s->operand[VEC_A], *b = &s->operand[VEC_B], *c = &s->operand[VEC_C];
    vec_lanes swapped;
    to->way.valid = way->valid || join->valid;
    if (!to->way.valid) return false;
    if (join->valid) {
        to->way = (vec_way){.valid = true, .tail = true, .part = join->part, .final_join = join->final_join};
        a = &join->a;
        b = &join->b;
    } else {
        to->way = *way;
        if (s->facts.kind == VEC_REDUCE) b = &s->join.partial[way->part];
        if (s->op == OP_VCOPY) {
            swapped = vec_swap(a, s->arg % VEC_LANES);
            a = &swapped;
        }
    }
    for (int i = 0; i < VEC_LANES; i++) to->result.x[i] = vec_lane_result(s->facts.lane, a->x[i], b->x[i], c->x[i]);
    return true;
}

static void push_bf16(vec *s, const vec_stage *done) {
    uint16_t x[2 * VEC_LANES];
    row_t row;
    for (int i = 0; i < VEC_LANES; i++) {
        x[i] = num_to_bf16(s->kept[0].x[i]);
        x[VEC_LANES + i] = num_to_bf16(done->result.x[i]);
    }
    memcpy(&row, x, sizeof row);
    push(s, done->way.addr, row);
}

static row_t code_row(const uint8_t codes[NUM_BLOCK], uint8_t fmt) {
    row_t row = {{0}};
    bool narrow = fmt == FMT_E2M1;
    for (int i = 0; i < NUM_BLOCK; i++)
        row.w[narrow ? i / 16 : i / 8] |= (uint64_t)codes[i] << (narrow ? i % 16 * 4 : i % 8 * 8);
    return row;
}

// The quantiser's cycle: codes and scales to the queue, `done` (or NULL) into the block.
static void quantise(vec *s, const vec_stage *done, vec_events *ev) {
    mx_quantize_out codes;
    mx_quantize_in block = {
        .valid = done && done->way.last, .fmt = s->arg % VEC_ARG_RULE, .rule = s->arg / VEC_ARG_RULE};
    mx_quantize_peek(&s->quantize, &codes);
    if (s->scale_push) {
        push(s, s->scale_addr, s->scales);
        s->scales = (row_t){{0}};
    }
    s->scale_push = false;
    if (codes.valid) {
        const vec_way *way = &s->block[1];
        push(s, way->addr, code_row(codes.codes, s->arg % VEC_ARG_RULE));
        s->scales.w[way->byte / 8] |= (uint64_t)codes.scale << way->byte % 8 * 8;
        s->scale_push = way->scale_due;
        s->scale_addr = way->scale_addr;
    }
    if (block.valid) {
        memcpy(block.x, s->kept, sizeof s->kept);
        memcpy(block.x + 3 * VEC_LANES, &done->result, sizeof done->result);
        ev->blocks = 1;
    }
    s->block[1] = s->block[0];
    if (block.valid) s->block[0] = done->way;
    mx_quantize_step(&s->quantize, &block);
}

// What becomes of the results that leave the lanes; done: NULL where there are none.
static void finish(vec *s, const vec_stage *done, vec_events *ev) {
    switch (s->facts.kind) {
    case VEC_ROWS:
        if (done) push(s, done->way.addr, row_of(&done->result));
        break;
    case VEC_REDUCE:
        if (done && done->way.final_join) push(s, s->sum_addr, row_of(&done->result));
        if (done && done->way.last) s->sum_addr = done->way.addr;
        break;
    case VEC_BF16:
        if (done && done->way.last) push_bf16(s, done);
        break;
    case VEC_QUANT:
        quantise(s, done, ev);
        break;
    }
    if (done && s->facts.kind >= VEC_BF16 && !done->way.last) s->kept[done->way.part] = done->result;
    if (!done) return;
    row_t now = row_of(&done->result), before = row_of(&s->last_result);
    ev->result_toggles = row_toggles(&now, &before);
    s->last_result = done->result;
}

// Lanes, joining and results of a cycle.
static void flow(vec *s, vec_events *ev) {
    vec_stage done = s->stage[LANE_STAGES - 1];
    vec_join_out join;
    bool reduce = s->facts.kind == VEC_REDUCE;
    vec_join_peek(&s->join, &join);
    memmove(s->stage + 1, s->stage, sizeof s->stage - sizeof s->stage[0]);
    if (enter(s, &join)) ev->lane_ops = VEC_LANES;
    finish(s, done.way.valid ? &done : NULL, ev);
    vec_join_step(&s->join, reduce && s->fired[0].valid && s->fired[0].first, s->facts.lane == LANE_MAX,
                  reduce && done.way.valid && !done.way.final_join ? &done.result : NULL, done.way.part, done.way.last);
    if (join.release) s->held = false;
}

static void classify(const vec *s, bool busy, vec_events *ev) {
    if (busy)
        ev->busy = 1;
    else if (s->running && s->held)
        ev->stall_reduce = 1;
    else if (s->running)
        ev->stall_bank = 1;
    else if (s->reserved)
        ev->stall_drain = 1;
    else if (engine_front_waits(&s->front))
        ev->stall_sem = 1;
    else
        ev->idle = 1;
}

// The step that the walk stands at has all its operands: on its way.
static void fire(vec *s, const vec_walk_out *at, bool *reserves_two) {
    s->fired[0] = (vec_way){.valid = true,
                            .first = at->first,
                            .last = at->group_last,
                            .scale_due = at->scale_due,
                            .part = s->part,
                            .byte = at->byte,
                            .addr = at->addr[VEC_C],
                            .scale_addr = at->addr[VEC_B]};
    *reserves_two = s->facts.kind == VEC_QUANT && at->group_last && at->scale_due;
    s->part = at->group_last ? 0 : (s->part + 1) & PART_MASK;
    if (at->group_last && s->facts.kind == VEC_REDUCE) s->held = true;
    if (at->last) s->running = false;
    memset(s->got, 0, sizeof s->got);
    vec_walk_step(&s->walk);
}

void vec_step(vec *s, const vec_in *in, vec_events *ev) {
    memset(ev, 0, sizeof *ev);
    const instr_t *offer = in->instr_valid ? &in->instr : NULL, *work = engine_front_work(&s->front);
    bool calm = quiet(s);
    if (!s->front.cur_valid && !offer && calm) {
        ev->idle = 1;
        return;
    }
    vec_facts facts = {0};
    bool load = false, nothing = false;
    if (work && calm) {
        const vec_args *a = &work->vec;
        facts = vec_facts_of(work->op);
        bool legal = facts.own && vec_fits(&facts, a);
        load = legal && a->outer && a->lines && a->segs && a->rows;
        nothing = !load;
        s->error |= !legal;
    }
    bool passed = engine_front_waits(&s->front) ? in->wait_gnt : engine_front_signals(&s->front) && calm;
    vec_walk_out at;
    bool asks = may_fire(s), fires = asks;
    bool gnt[VEC_READS] = {false}, write_gnt = s->count && in->rsp[VEC_W].gnt;
    if (asks) vec_walk_peek(&s->walk, &at);
    for (int x = 0; asks && x < VEC_READS; x++) {
        bool needed = needs(s, &at, x);
        gnt[x] = needed && !s->got[x] && in->rsp[x].gnt;
        fires &= !needed || s->got[x] || gnt[x];
    }
    classify(s, fires || load || passed || nothing, ev);
    ev->rows_written = write_gnt;
    int reserved = s->reserved - write_gnt;
    if (write_gnt) {
        s->rd = (uint8_t)((s->rd + 1) % VEC_FIFO);
        s->count--;
    }
    flow(s, ev);
    s->fired[1] = s->fired[0];
    s->fired[0].valid = false;
    for (int x = 0; x < VEC_READS; x++) {
        if (in->rsp[x].rvalid) memcpy(&s->operand[x], &in->rsp[x].rdata, sizeof s->operand[x]);
        s->error |= in->rsp[x].rvalid && in->rsp[x].rerr;
        s->got[x] |= gnt[x];
    }
    if (fires) {
        bool two;
        bool row = s->facts.kind == VEC_ROWS || at.group_last;
        fire(s, &at, &two);
        reserved += row + two;
    }
    s->reserved = (uint8_t)reserved;
    if (load) {
        s->op = work->op;
        s->arg = work->vec.arg;
        s->facts = facts;
        s->running = true;
        vec_walk_load(&s->walk, &work->vec, facts.kind == VEC_QUANT);
    }
    engine_front_step(&s->front, passed || nothing || load, offer);
}
