#include "vector/vec.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"
#include "numerics/floats.h"
#include "vector/vec_bench.h"

static instr_t vec_instr(op_id op, vec_args args) {
    return (instr_t){.op = (uint8_t)op, .engine = ENG_VECTOR, .vec = args};
}

// An operand of up to REGION rows for any counts of random_args.
static vec_operand random_walk(rng_t *rng, int region, bool wide) {
    return (vec_operand){.addr = (uint16_t)(region * REGION + (int)rng_below(rng, 64)),
                         .line = (uint16_t)rng_below(rng, 9),
                         .seg = (uint16_t)rng_below(rng, 9),
                         .wide = wide};
}

static instr_t random_instr(rng_t *rng) {
    int to = (int)rng_below(rng, 3), from = (to + 1 + (int)rng_below(rng, 2)) % 3, other = 3 - to - from;
    uint8_t op = (uint8_t)(OP_VADD + rng_below(rng, 16));
    vec_args a = {.outer = (uint16_t)(1 + rng_below(rng, 3)),
                  .lines = (uint16_t)(1 + rng_below(rng, rng_below(rng, 4) ? 4 : 70)),
                  .segs = (uint8_t)(1 + rng_below(rng, 4)),
                  .rows = (uint8_t)(1 + rng_below(rng, 5))};
    vec_kind kind = vec_facts_of(op).kind;
    if (kind >= VEC_BF16) {
        a.segs = (uint8_t)(1 << rng_below(rng, kind == VEC_BF16 ? 2 : 3));
        a.rows = (uint8_t)((kind == VEC_BF16 ? 2 : 4) / a.segs);
    }
    static const fmt_id formats[] = {FMT_E2M1, FMT_E4M3, FMT_E5M2, FMT_INT8};
    if (op == OP_VCOPY) a.arg = (uint8_t)rng_below(rng, 8);
    if (op == OP_VQUANT) a.arg = (uint8_t)(formats[rng_below(rng, 4)] + 8 * rng_below(rng, 3));
    a.of[VEC_A] = random_walk(rng, from, rng_below(rng, 4) != 0);
    a.of[VEC_B] = random_walk(rng, other, op != OP_VQUANT && rng_below(rng, 2));
    a.of[VEC_C] = random_walk(rng, to, kind == VEC_ROWS);
    if (op == OP_VFMA || op == OP_VSELECT) { // rows that are read, so each once
        a.lines = (uint16_t)(1 + rng_below(rng, 10));
        a.of[VEC_C].seg = a.rows;
        a.of[VEC_C].line = (uint16_t)(a.outer * a.segs * a.rows);
        if (rng_below(rng, 2)) a.of[VEC_A] = a.of[VEC_C];
    }
    if (rng_below(rng, 30) == 0) a.outer = 0;
    return vec_instr((op_id)op, a);
}

static void lock_step(uint64_t seed) {
    enum { PROG = 15, RUNS = 30 }; // short: what operations leave in memory tends to NaN
    static instr_t prog[PROG];
    for (int run = 0; run < RUNS; run++) {
        bench *b = bench_new(seed + 100 * (uint64_t)run, true);
        b->hold = 1 + run % 3;
        for (int i = 0; i < PROG; i++) {
            prog[i] = random_instr(&b->rng);
            if (rng_below(&b->rng, 6) == 0)
                prog[i] = (instr_t){.op = rng_below(&b->rng, 2) ? OP_WAIT : OP_SIGNAL,
                                    .engine = ENG_VECTOR,
                                    .sem = (uint8_t)rng_below(&b->rng, 32),
                                    .count = (uint8_t)rng_below(&b->rng, 256)};
        }
        bench_run(b, prog, PROG, 500000);
        cr_assert(!b->out.error);
        for (int i = 0; i < 20; i++) bench_cycle(b);
        cr_assert(b->ev.idle && b->total[EV_VEC_IDLE - EV_VEC_BUSY] >= 20, "activity after the end");
        bench_free(b);
    }
}

Test(vec, equals_its_twin_and_the_reference_1) {
    lock_step(1);
}
Test(vec, equals_its_twin_and_the_reference_2) {
    lock_step(2);
}
Test(vec, equals_its_twin_and_the_reference_3) {
    lock_step(3);
}

// One operation on all banks free: cycles from its taking to its last write.
static uint64_t cycles_of(op_id op, int groups, int steps) {
    instr_t instr =
        vec_instr(op, (vec_args){.outer = 1,
                                 .lines = (uint16_t)groups,
                                 .segs = 1,
                                 .rows = (uint8_t)steps,
                                 .of = {{0, (uint16_t)steps, 0, true},
                                        {REGION, (uint16_t)steps, 0, op != OP_VQUANT},
                                        {2 * REGION, (uint16_t)steps, 0, vec_facts_of(op).kind == VEC_ROWS}}});
    if (op == OP_VQUANT) instr.vec.arg = FMT_E4M3;
    bench *b = bench_new(7, true);
    bench_run(b, &instr, 1, 10000);
    uint64_t cycles = b->cycle - b->total[EV_VEC_IDLE - EV_VEC_BUSY];
    bench_free(b);
    return cycles;
}

// rtl/vector/README.md states these.
Test(vec, takes_the_stated_cycles) {
    for (int steps = 1; steps <= 40; steps += 13) {
        cr_assert_eq(cycles_of(OP_VADD, 1, steps), steps + 7);
        cr_assert_eq(cycles_of(OP_VEXP2, 3, steps), 3 * steps + 7);
        cr_assert_eq(cycles_of(OP_VSUM, 1, steps), steps + 28);
        cr_assert_eq(cycles_of(OP_VLARGEST, 5, steps), 5 * (steps + 21) + 7);
    }
    cr_assert_eq(cycles_of(OP_VBF16, 9, 2), 18 + 7);
    cr_assert_eq(cycles_of(OP_VQUANT, 9, 4), 36 + 10);
}

Test(vec, sums_every_lane) {
    instr_t instr = vec_instr(
        OP_VSUM,
        (vec_args){.outer = 1, .lines = 1, .segs = 1, .rows = 7, .of = {{0, 0, 0, true}, {0}, {REGION, 0, 0, false}}});
    bench *b = bench_new(3, true);
    float want = 0, *x = (float *)b->mem;
    for (int i = 0; i < 7 * VEC_LANES; i++) want += x[i] = (float)(i * i);
    bench_run(b, &instr, 1, 1000);
    for (int i = 0; i < VEC_LANES; i++) cr_assert_eq(((float *)(b->mem + REGION))[i], want);
    bench_free(b);
}

static void refused(instr_t instr) {
    instr_t prog[2] = {instr, {.op = OP_SIGNAL, .engine = ENG_VECTOR, .sem = 1, .count = 1}};
    bench *b = bench_new(6, true);
    bench_run(b, prog, 2, 100);
    cr_assert(b->out.error);
    cr_assert_eq(b->signals, 1);
    bench_free(b);
}

Test(vec, foreign_operation_is_an_error_and_passes) {
    refused((instr_t){.op = OP_RECEIVE, .rows = 2});
    refused(vec_instr((op_id)(OP_VQUANT + 1), (vec_args){.outer = 1, .lines = 1, .segs = 1, .rows = 1}));
}

Test(vec, group_of_another_size_and_format_without_blocks_are_errors) {
    vec_args args = {.outer = 1, .lines = 1, .segs = 1, .rows = 3, .of = {{0, 0, 0, true}, {0}, {8, 0, 0, false}}};
    refused(vec_instr(OP_VBF16, args));
    refused(vec_instr(OP_VQUANT, args));
    args.rows = 4;
    args.arg = FMT_INT4;
    refused(vec_instr(OP_VQUANT, args));
    args.arg = FMT_E4M3 + 8 * 3;
    refused(vec_instr(OP_VQUANT, args));
}

Test(vec, poisoned_read_is_an_error) {
    bench *b = bench_new(5, true);
    instr_t instr = vec_instr(
        OP_VADD,
        (vec_args){
            .outer = 1, .lines = 1, .segs = 1, .rows = 2, .of = {{0, 0, 0, true}, {8, 0, 0, true}, {16, 0, 0, true}}});
    b->poison = true;
    bench_run(b, &instr, 1, 100);
    cr_assert(b->out.error);
    bench_free(b);
}
