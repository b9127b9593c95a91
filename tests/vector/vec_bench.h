// A vector engine and a memory around it: RTL in lock-step with the twin, and what the program must leave in memory,
// worked out without time from the text of isa_pkg::vec_instr_t.
#ifndef TESTS_VEC_BENCH_H
#define TESTS_VEC_BENCH_H
#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"
#include "common/same.h"
#include "numerics/floats.h"
#include "vector/vec.h"
#include "vector/vec_dut.h"

enum { REGION = 1024, SRAM = 3 * REGION };

typedef struct {
    vec twin;
    vec_dut *dut;
    rng_t rng;
    row_t mem[SRAM], want[SRAM];
    const instr_t *prog;
    int n, next, signals;
    int hold; // grants and instructions come in one of `hold` cycles
    bool poison;
    mem_rsp rsp[VEC_PORTS];
    vec_out out, old;
    bool old_gnt[VEC_PORTS];
    uint64_t cycle, total[10];
    vec_events ev;
} bench;

static bench *bench_new(uint64_t seed, bool rtl) {
    bench *b = calloc(1, sizeof *b);
    b->rng = rng_new(seed);
    b->hold = 1;
    for (int i = 0; i < SRAM; i += NUM_BLOCK / VEC_LANES) { // mostly numbers: one NaN is enough to hide a block or sum
        uint32_t x[NUM_BLOCK];
        random_floats(&b->rng, (int)rng_below(&b->rng, 9), x);
        for (int k = 0; k < NUM_BLOCK && rng_below(&b->rng, 8) == 0; k++) x[k] = random_operand(&b->rng, 0x3F800000);
        memcpy(&b->mem[i], x, sizeof x);
    }
    vec_reset(&b->twin);
    if (rtl) b->dut = vec_dut_new(&(dut_options){.seed = (uint32_t)seed});
    return b;
}

static void bench_free(bench *b) {
    if (b->dut) {
        cr_assert_eq(vec_dut_errors(b->dut), 0, "checks of the RTL failed");
        vec_dut_free(b->dut);
    }
    free(b);
}

static bool luck(bench *b) {
    return b->hold == 1 || rng_below(&b->rng, (uint64_t)b->hold) == 0;
}

static uint32_t *want_row(bench *b, int addr) {
    return (uint32_t *)&b->want[addr];
}

static int row_addr(const vec_args *a, int operand, int o, int l, int s, int r) {
    const vec_operand *of = &a->of[operand];
    return of->addr + l * of->line + (of->wide ? (o * a->segs + s) * of->seg + r : o * of->seg);
}

// Sum or largest of n rows, in the order that rtl/vector/vec_join.sv states.
static void want_joined(lane_op op, const uint32_t (*x)[VEC_LANES], int n, uint32_t out[VEC_LANES]) {
    uint32_t part[4][VEC_LANES];
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < VEC_LANES; i++) part[p][i] = op == LANE_MAX ? 0xFF800000 : 0x80000000;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < VEC_LANES; i++) part[k % 4][i] = vec_lane_result(op, x[k][i], part[k % 4][i], 0);
    for (int i = 0; i < VEC_LANES; i++)
        out[i] = vec_lane_result(op, vec_lane_result(op, part[0][i], part[1][i], 0),
                                 vec_lane_result(op, part[2][i], part[3][i], 0), 0);
    for (int by = 1; by < VEC_LANES; by *= 2) {
        uint32_t old[VEC_LANES];
        memcpy(old, out, sizeof old);
        for (int i = 0; i < VEC_LANES; i++) out[i] = vec_lane_result(op, old[i], old[i ^ by], 0);
    }
}

static void want_group(bench *b, const instr_t *p, int o, int l, const uint32_t (*x)[VEC_LANES], int n) {
    const vec_args *a = &p->vec;
    uint32_t out[VEC_LANES] = {0};
    int to = row_addr(a, VEC_C, o, l, 0, 0);
    if (p->op == OP_VSUM || p->op == OP_VLARGEST) {
        want_joined(p->op == OP_VSUM ? LANE_ADD : LANE_MAX, x, n, out);
    } else if (p->op == OP_VBF16) {
        for (int i = 0; i < 16; i++) ((uint16_t *)out)[i] = num_to_bf16(x[i / VEC_LANES][i % VEC_LANES]);
    } else {
        uint8_t codes[NUM_BLOCK], *bytes = (uint8_t *)out;
        uint8_t scale = num_quantize((fmt_id)(a->arg % 8), (num_scale_rule)(a->arg / 8), x[0], codes);
        for (int i = 0; i < NUM_BLOCK; i++) {
            if (a->arg % 8 == FMT_E2M1)
                bytes[i / 2] = (uint8_t)(bytes[i / 2] | codes[i] << i % 2 * 4);
            else
                bytes[i] = codes[i];
        }
        uint8_t *scales = (uint8_t *)want_row(b, a->of[VEC_B].addr + l / 32 * a->of[VEC_B].line + o * a->of[VEC_B].seg);
        if (l % 32 == 0) memset(scales, 0, ROW_BYTES);
        scales[l % 32] = scale;
    }
    memcpy(want_row(b, to), out, sizeof out);
}

static void want_instr(bench *b, const instr_t *p) {
    const vec_args *a = &p->vec;
    vec_facts facts = vec_facts_of(p->op);
    if (p->op < OP_VADD || p->op > OP_VQUANT || !vec_fits(&facts, a)) return;
    for (int o = 0; o < a->outer; o++)
        for (int l = 0; l < a->lines; l++) {
            static uint32_t x[256][VEC_LANES];
            for (int k = 0; k < a->segs * a->rows; k++) {
                int s = k / a->rows, r = k % a->rows;
                const uint32_t *row = want_row(b, row_addr(a, VEC_A, o, l, s, r));
                const uint32_t *other = facts.uses[VEC_B] ? want_row(b, row_addr(a, VEC_B, o, l, s, r)) : row;
                uint32_t *to = want_row(b, row_addr(a, VEC_C, o, l, s, r)), out[VEC_LANES];
                for (int i = 0; i < VEC_LANES; i++) {
                    x[k][i] = row[i];
                    uint32_t from = p->op == OP_VCOPY ? row[i ^ a->arg] : row[i];
                    out[i] = vec_lane_result((lane_op)(p->op - OP_VADD), from, other[i], to[i]);
                }
                if (facts.kind == VEC_ROWS) memcpy(to, out, sizeof out);
            }
            if (facts.kind != VEC_ROWS) want_group(b, p, o, l, x, a->segs * a->rows);
        }
}

static void compare(const bench *b, const vec_out *got, const vec_events *ev) {
    SAME_ENGINE(*got, b->out, b->cycle);
    for (int p = 0; p < VEC_PORTS; p++) SAME_REQ(*got, b->out, req[p], b->cycle);
    same_events(&ev->busy, &b->ev.busy, 10, b->cycle);
}

static void bench_cycle(bench *b) {
    vec_in in = {0};
    memcpy(in.rsp, b->rsp, sizeof in.rsp);
    b->old = b->out;
    vec_peek(&b->twin, &b->out);
    for (int p = 0; p < VEC_PORTS; p++) {
        const mem_req *req = &b->out.req[p];
        if (b->old.req[p].valid && !b->old_gnt[p])
            cr_assert(req->valid && req->addr == b->old.req[p].addr, "a request holds: cycle %llu",
                      (unsigned long long)b->cycle);
        b->rsp[p] = (mem_rsp){0};
        in.rsp[p].gnt = b->old_gnt[p] = req->valid && luck(b);
        if (!in.rsp[p].gnt) continue;
        cr_assert_lt(req->addr, SRAM);
        if (req->we)
            b->mem[req->addr] = req->wdata;
        else
            b->rsp[p] = (mem_rsp){.rvalid = true, .rerr = b->poison, .rdata = b->mem[req->addr]};
    }
    if (b->out.signal_valid) { // all before it is written
        b->signals++;
        cr_assert(!b->out.req[VEC_W].valid);
    }
    in.instr_valid = b->next < b->n && luck(b);
    if (in.instr_valid) in.instr = b->prog[b->next];
    if (in.instr_valid && b->out.instr_ready) b->next++;
    in.wait_gnt = b->out.wait_valid && luck(b);
    vec_step(&b->twin, &in, &b->ev);
    if (b->dut) {
        vec_out got;
        vec_events ev;
        vec_dut_step(b->dut, &in, &got, &ev);
        compare(b, &got, &ev);
    }
    cr_assert_eq(b->ev.busy + b->ev.stall_bank + b->ev.stall_reduce + b->ev.stall_drain + b->ev.stall_sem + b->ev.idle,
                 1);
    for (int i = 0; i < 10; i++) b->total[i] += (&b->ev.busy)[i];
    b->cycle++;
}

static void bench_run(bench *b, const instr_t *prog, int n, uint64_t limit) {
    b->prog = prog;
    b->n = n;
    memcpy(b->want, b->mem, sizeof b->mem);
    for (int i = 0; i < n; i++) want_instr(b, &prog[i]);
    do {
        bench_cycle(b);
        cr_assert_lt(b->cycle, limit, "hangs at instruction %d of %d", b->next, n);
    } while (b->next < n || b->twin.front.cur_valid || b->out.busy);
    for (int i = 0; i < SRAM && !b->poison; i++)
        cr_assert_eq(memcmp(&b->mem[i], &b->want[i], ROW_BYTES), 0, "row %d: got %016llx %016llx, want %016llx %016llx",
                     i, (unsigned long long)b->mem[i].w[0], (unsigned long long)b->mem[i].w[3],
                     (unsigned long long)b->want[i].w[0], (unsigned long long)b->want[i].w[3]);
}
#endif
