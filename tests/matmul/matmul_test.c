// CONFIGS: tiny mini
#include "matmul_bench.h"

enum { ROWS = CFG_ROWS, COLS = CFG_COLS };

static instr_t mm(int m, int n, int k, fmt_id fa, fmt_id fw, scale_id sa, scale_id sw, int c) {
    return (instr_t){.op = OP_MATMUL, .engine = ENG_MATMUL, .m = (uint16_t)m, .n = (uint16_t)n, .k = (uint16_t)k,
                     .fmt_a = (uint8_t)fa, .fmt_w = (uint8_t)fw, .scale_a = (uint8_t)sa, .scale_w = (uint8_t)sw,
                     .addr_as = ZONE_AS, .addr_w = ZONE_W, .addr_ws = ZONE_WS, .addr_c = (uint16_t)(ZONE_C + c)};
}

static int c_rows(const instr_t *in) {
    return (in->n + COLS - 1) / COLS * in->m * GROUPS;
}

static int pick(rng_t *r, const int *list, int n) {
    return list[rng_below(r, (uint64_t)n)];
}

// Shapes around every size of the engine, all formats and scales.
static instr_t random_matmul(rng_t *r, int c) {
    static const int ms[] = {1, 1, 2, 3, ROWS / 2, ROWS - 1, ROWS}, ks[] = {1, 31, 32, 33, 64, 65};
    static const int ns[] = {1, COLS - 1, COLS, COLS + 1, 2 * COLS + 3};
    instr_t in = mm(pick(r, ms, 7), pick(r, ns, 5), pick(r, ks, 6), (fmt_id)rng_below(r, 6), (fmt_id)rng_below(r, 6),
                    (scale_id)rng_below(r, 2), (scale_id)rng_below(r, 3), c);
    in.addr_a = (uint16_t)rng_below(r, 1000);
    in.addr_as = (uint16_t)(ZONE_AS + rng_below(r, 1000));
    in.addr_w = (uint16_t)(ZONE_W + rng_below(r, 1000));
    in.addr_ws = (uint16_t)(ZONE_WS + rng_below(r, 1000));
    in.init = rng_below(r, 3) == 0;
    return in;
}

enum { PROG = 40 };

static int random_program(rng_t *r, instr_t *prog, int matmuls) {
    int n = 0, c = 0, last = -1;
    while (matmuls) {
        if (n < PROG - matmuls && rng_below(r, 4) == 0) {
            prog[n++] = (instr_t){.op = (uint8_t)(OP_WAIT + rng_below(r, 2)), .sem = 3, .count = 2};
            continue;
        }
        prog[n] = random_matmul(r, c);
        bool chain = last >= 0 && rng_below(r, 4) == 0;
        if (chain) { // accumulates onto the result just written
            prog[n].m = prog[last].m;
            prog[n].n = prog[last].n;
            prog[n].addr_c = prog[last].addr_c;
            prog[n].init = true;
        } else {
            c += c_rows(&prog[n]);
        }
        last = n++;
        matmuls--;
    }
    return n;
}

static void lock_step(uint64_t seed, int max_delay, int gap) {
    bench b;
    bench_new(&b, seed, true);
    b.max_delay = max_delay;
    b.instr_gap = gap;
    for (int round = 0; b.cycle < 12000; round++) {
        instr_t prog[PROG];
        int n = random_program(&b.rng, prog, 12), signals = b.done_signals;
        b.prompt = (uint8_t)rng_below(&b.rng, 16); // one port slow, the others not: other orders of events
        bench_run(&b, prog, n, 100000);
        for (int i = 0; i < n; i++) {
            if (prog[i].op == OP_MATMUL) ref_matmul(b.want, &prog[i]);
            signals += prog[i].op == OP_SIGNAL;
        }
        check_memory(&b, 0, MEM_ROWS, "after the program");
        cr_assert_eq(b.done_signals, signals, "signals: got %d, want %d", b.done_signals, signals);
    }
    for (int i = 0; i < 50; i++) bench_cycle(&b);
    bench_free(&b);
}

Test(matmul, equals_its_twin_with_all_grants) {
    lock_step(1, 0, 1);
}

Test(matmul, equals_its_twin_with_late_grants) {
    lock_step(2, 7, 3);
}

Test(matmul, equals_its_twin_with_some_stalls) {
    lock_step(3, 2, 10);
}

// ---- speed, counted on the twin

static int load_rows(const instr_t *in) {
    int bits = num_fmt_bits(in->fmt_w);
    return bits == 4 ? COLS / 2 : bits == 8 ? COLS : 2 * COLS;
}

static uint64_t blocks(const instr_t *in) {
    return (uint64_t)((in->n + COLS - 1) / COLS) * (uint64_t)((in->k + 31) / 32);
}

// Cycles of the steady state: max(rows, load) for every block.
static uint64_t least_cycles(const instr_t *in) {
    int rows = in->fmt_a == FMT_BF16 ? 2 * in->m : in->m;
    return blocks(in) * (uint64_t)(rows > load_rows(in) ? rows : load_rows(in));
}

static uint64_t useful(const instr_t *in) {
    return (uint64_t)in->m * in->n * in->k;
}

// Runs `n` times the same job with all grants; returns the cycles, checks the laws that hold for every run.
static uint64_t timed(const instr_t *job, int n) {
    bench b;
    bench_new(&b, 1, false);
    instr_t prog[64];
    for (int i = 0; i < n; i++) prog[i] = *job;
    uint64_t bound = (uint64_t)n * least_cycles(job), all = (uint64_t)n * blocks(job);
    bench_run(&b, prog, n, 3 * bound + 1000);
    cr_assert_eq(total(&b, EV_MATMUL_MAC_USEFUL), (uint64_t)n * useful(job));
    cr_assert_eq(total(&b, EV_MATMUL_MAC_ISSUED), all * job->m * 32 * COLS);
    cr_assert_eq(total(&b, EV_MATMUL_WEIGHT_ROWS), all * (uint64_t)load_rows(job));
    cr_assert_eq(b.reads[MM_W], all * (uint64_t)load_rows(job), "weights are read once");
    cr_assert_eq(b.reads[MM_A], all * job->m * (job->fmt_a == FMT_BF16 ? 2 : 1));
    cr_assert_eq(b.writes, (uint64_t)n * (uint64_t)c_rows(job));
    cr_assert_geq(b.cycle, bound, "faster than its bound");
    uint64_t cycles = b.cycle;
    bench_free(&b);
    return cycles;
}

static void at_least(const instr_t *job, int n, double share, const char *name) {
    uint64_t cycles = timed(job, n), bound = (uint64_t)n * least_cycles(job);
    fprintf(stderr, "%s %s: %llu of %llu cycles = %.3f %%\n", CFG_NAME, name, (unsigned long long)bound,
            (unsigned long long)cycles, 100.0 * (double)bound / (double)cycles);
    cr_assert_geq((double)bound, share * (double)cycles, "%s: %llu cycles, bound %llu", name, (unsigned long long)cycles,
                  (unsigned long long)bound);
}

Test(matmul, prefill_keeps_every_mac_busy) {
    instr_t job = mm(ROWS, 512, 2880, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0);
    at_least(&job, 2, 0.999, "(ROWS, 512, 2880) E4M3 x E2M1, twice");
    job = mm(ROWS, 4096, 2880, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, 0);
    at_least(&job, 1, 0.999, "(ROWS, 4096, 2880) E4M3");
}

Test(matmul, small_batches_wait_only_for_the_weight_port) {
    instr_t job = mm(16, 2880, 2880, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0);
    at_least(&job, 1, 0.99, "(16, 2880, 2880) E4M3 x E2M1");
}

Test(matmul, decode_is_bound_by_the_weight_port) {
    instr_t job = mm(1, 2880, 2880, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0);
    at_least(&job, 1, 0.98, "(1, 2880, 2880) E4M3 x E2M1");
}

// Two more blocks cost exactly 2 max(rows, load), for every pair of widths and every M.
Test(matmul, a_block_costs_the_larger_of_rows_and_load) {
    static const fmt_id fmts[] = {FMT_E2M1, FMT_E4M3, FMT_BF16};
    for (int p = 0; p < 9; p++)
        for (int m = 1; m <= ROWS; m++) {
            instr_t job = mm(m, COLS, 64 * 32, fmts[p / 3], fmts[p % 3], SCALE_E8M0, SCALE_BF16, 0), more = job;
            more.k = 66 * 32;
            uint64_t cost = timed(&more, 1) - timed(&job, 1), want = least_cycles(&more) - least_cycles(&job);
            cr_assert_eq(cost, want, "formats %d x %d, m %d: two blocks cost %llu cycles, want %llu", fmts[p / 3],
                         fmts[p % 3], m, (unsigned long long)cost, (unsigned long long)want);
        }
}

// ---- faults known from other engines

// Shapes that divide nothing, each alone: the bound is kept, and the fill is what the module's head says.
Test(matmul, ragged_shapes_cost_what_the_head_says) {
    for (int m = 1; m <= ROWS; m += 5)
        for (int k = 31; k <= 65; k += 17)
            for (int n = COLS - 1; n <= 2 * COLS + 1; n++) {
                bench b;
                bench_new(&b, 1, false);
                instr_t job = mm(m, n, k, FMT_INT8, FMT_INT8, SCALE_NONE, SCALE_NONE, 0);
                bench_run(&b, &job, 1, 100000);
                cr_assert_eq(b.first_row, (uint64_t)load_rows(&job) + 3 - 1, "first row: got cycle %llu",
                             (unsigned long long)b.first_row);
                cr_assert_eq(total(&b, EV_MATMUL_BUSY), blocks(&job) * (uint64_t)m);
                cr_assert_eq(total(&b, EV_MATMUL_DRAIN_ROWS), (uint64_t)c_rows(&job));
                bench_free(&b);
            }
}

// The same job again after one of another format: the same bits, and nothing happens afterwards.
Test(matmul, jobs_leave_nothing_behind) {
    bench b;
    bench_new(&b, 5, true);
    instr_t prog[] = {mm(3, COLS + 1, 65, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0),
                      mm(ROWS, COLS, 33, FMT_BF16, FMT_BF16, SCALE_NONE, SCALE_BF16, 0x400),
                      mm(3, COLS + 1, 65, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0x800),
                      mm(1, 1, 1, FMT_INT4, FMT_INT8, SCALE_NONE, SCALE_NONE, 0xC00)};
    bench_run(&b, prog, 4, 10000);
    for (int i = 0; i < 4; i++) ref_matmul(b.want, &prog[i]);
    check_memory(&b, 0, MEM_ROWS, "four jobs");
    cr_assert_eq(memcmp(b.mem + ZONE_C, b.mem + ZONE_C + 0x800, (size_t)c_rows(&prog[0]) * ROW_BYTES), 0,
                 "the same job gave other bits");
    uint64_t reads = b.reads[MM_A] + b.reads[MM_W] + b.reads[MM_S] + b.reads[MM_C], writes = b.writes;
    uint64_t gated = total(&b, EV_MATMUL_GATED), idle = total(&b, EV_MATMUL_IDLE);
    for (int i = 0; i < 200; i++) bench_cycle(&b);
    cr_assert_eq(b.reads[MM_A] + b.reads[MM_W] + b.reads[MM_S] + b.reads[MM_C], reads);
    cr_assert_eq(b.writes, writes);
    cr_assert_eq(total(&b, EV_MATMUL_IDLE) - idle, 200);
    cr_assert_eq(total(&b, EV_MATMUL_GATED) - gated, 200);
    bench_free(&b);
}

// When a SIGNAL fires, everything before it is in SRAM, later work runs on, and no earlier SIGNAL is lost.
Test(matmul, signals_when_results_are_final) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        bench b;
        bench_new(&b, seed, false);
        b.max_delay = seed % 2 ? 7 : 0;
        instr_t prog[12];
        int c = 0;
        for (int i = 0; i < 12; i += 2) {
            prog[i] = random_matmul(&b.rng, c);
            c += c_rows(&prog[i]);
            prog[i + 1] = (instr_t){.op = OP_SIGNAL, .sem = (uint8_t)i, .count = 1};
        }
        b.prog = prog;
        b.n = 12;
        for (int fired = 0; fired < 6;) {
            bench_cycle(&b);
            cr_assert_lt(b.cycle, 100000);
            if (!b.out.signal_valid) continue;
            const instr_t *job = &prog[2 * fired++];
            cr_assert_eq(b.out.signal_sem, job - prog);
            ref_matmul(b.want, job);
            check_memory(&b, job->addr_c, c_rows(job), "at the signal");
        }
        bench_free(&b);
    }
}

// One output, a long k: back-to-back use of one accumulator, on both sides of the array's latency.
Test(matmul, accumulates_one_output_exactly) {
    bench b;
    bench_new(&b, 9, true);
    instr_t job = mm(1, 1, 8192, FMT_INT8, FMT_INT4, SCALE_NONE, SCALE_NONE, 0);
    bench_run(&b, &job, 1, 10000);
    ref_matmul(b.want, &job);
    check_memory(&b, 0, MEM_ROWS, "K = 8192");
    bench_free(&b);
}

// A hundred orders of grants: the same bits, every instruction retired.
Test(matmul, stalls_change_no_bit) {
    for (uint64_t seed = 1; seed <= 100; seed++) {
        bench b;
        bench_new(&b, 77, false);
        instr_t prog[PROG];
        int n = random_program(&b.rng, prog, 4);
        b.rng = rng_new(seed);
        b.max_delay = (int)(seed % 8);
        b.instr_gap = 1 + (int)(seed % 3);
        bench_run(&b, prog, n, 100000);
        for (int i = 0; i < n; i++)
            if (prog[i].op == OP_MATMUL) ref_matmul(b.want, &prog[i]);
        check_memory(&b, 0, MEM_ROWS, "stalls");
        bench_free(&b);
    }
}

// Scale rows: one per 32 rows of m and k block, weight scale rows once each; none where there are no scales.
Test(matmul, reads_no_scale_row_twice) {
    bench b;
    bench_new(&b, 1, false);
    instr_t prog[] = {mm(1, 8 * COLS, 32, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0),
                      mm(ROWS, COLS, 96, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_BF16, 0)};
    bench_run(&b, prog, 1, 10000);
    cr_assert_eq(b.reads[MM_S], 1 + (8 * COLS + 31) / 32);
    bench_run(&b, prog + 1, 1, 10000);
    cr_assert_eq(b.reads[MM_S], 1 + (8 * COLS + 31) / 32 + 3 * ((ROWS + 31) / 32) + (3 * COLS + 15) / 16);
    bench_free(&b);
}

Test(matmul, a_poisoned_operand_raises_a_sticky_error) {
    bench b;
    bench_new(&b, 1, true);
    instr_t job = mm(2, COLS, 32, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0);
    bench_run(&b, &job, 1, 1000);
    cr_assert(!b.out.error);
    b.poison = true;
    bench_run(&b, &job, 1, 1000);
    cr_assert(b.out.error);
    b.poison = false;
    bench_run(&b, &job, 1, 1000);
    cr_assert(b.out.error, "the error is sticky");
    bench_free(&b);
}

// ---- checks of the RTL that can be provoked from its ports

static int errors_of(instr_t job, bool answer) {
    matmul_dut *d = matmul_dut_new(&(dut_options){.seed = 1});
    matmul_in in = {.instr_valid = true, .instr = job};
    matmul_out out;
    matmul_events ev;
    for (int i = 0; i < 20; i++) {
        matmul_dut_step(d, &in, &out, &ev);
        in.instr_valid = false;
        for (int p = 0; p < MM_PORTS; p++) in.rsp[p] = (mem_rsp){.gnt = true, .rvalid = answer};
    }
    int errors = matmul_dut_errors(d);
    matmul_dut_free(d);
    return errors;
}

Test(matmul, its_checks_fire) {
    instr_t job = mm(1, 1, 1, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, 0);
    cr_assert_eq(errors_of(job, true), 0);
    cr_assert_gt(errors_of(job, false), 0, "a read without an answer");
    job.m = ROWS + 1;
    cr_assert_gt(errors_of(job, true), 0, "more rows than accumulators");
    job.m = 0;
    cr_assert_gt(errors_of(job, true), 0, "no rows");
}
