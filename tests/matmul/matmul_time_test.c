// CONFIGS: tiny mini
// The closed form of the engine's time, held to its twin; the utilisation of the engine over every shape of a prefill.
#include "matmul/matmul_time.h"

#include <criterion/criterion.h>

#include "common/seed.h"
#include "matmul/matmul.h"
#include "workload/trace.h"

enum { JOBS = 4, PASSES = 64 };

static instr_t job_of(uint32_t m, uint32_t n, uint32_t k, fmt_id a, fmt_id w) {
    return (instr_t){.op = OP_MATMUL,
                     .engine = ENG_MATMUL,
                     .m = (uint16_t)m,
                     .n = (uint16_t)n,
                     .k = (uint16_t)k,
                     .fmt_a = (uint8_t)a,
                     .fmt_w = (uint8_t)w,
                     .scale_a = SCALE_E8M0,
                     .scale_w = SCALE_E8M0,
                     .addr_w = 0x5000,
                     .addr_c = 0xB000};
}

// Cycles of the twin from the first instruction to the last result, every access granted at once.
static uint64_t simulated(const instr_t *jobs, int n) {
    static matmul s;
    matmul_in in = {0};
    matmul_out out;
    matmul_events ev;
    uint64_t last = 0, limit = 2 * matmul_time(jobs, (uint32_t)n) + 1000;
    int next = 0;
    matmul_reset(&s);
    for (uint64_t cycle = 1;; cycle++) {
        cr_assert_lt(cycle, limit, "hangs");
        matmul_peek(&s, &out);
        in.instr_valid = next < n && out.instr_ready;
        if (in.instr_valid) in.instr = jobs[next++];
        for (int p = 0; p < MM_PORTS; p++) {
            in.rsp[p].gnt = out.req[p].valid;
            if (out.req[p].valid && out.req[p].we) last = cycle;
        }
        matmul_step(&s, &in, &ev);
        if (next == n && !out.busy && !in.instr_valid) return last;
        for (int p = 0; p < MM_PORTS; p++) in.rsp[p] = (mem_rsp){.rvalid = out.req[p].valid && !out.req[p].we};
    }
}

Test(matmul_time, equals_the_twin_over_random_jobs) {
    rng_t r = rng_new(11);
    for (int i = 0; i < 300; i++) {
        instr_t jobs[JOBS];
        int n = 1 + (int)rng_below(&r, JOBS);
        for (int j = 0; j < n; j++) {
            uint32_t m = rng_below(&r, 4) ? 1 + (uint32_t)rng_below(&r, CFG_ROWS) : 1;
            uint32_t k = rng_below(&r, 4) ? 1 + (uint32_t)rng_below(&r, 200) : 1280;
            jobs[j] = job_of(m, 1 + (uint32_t)rng_below(&r, 6 * CFG_COLS), k, (fmt_id)rng_below(&r, FMT_BF16),
                             (fmt_id)rng_below(&r, NUM_FMTS));
            jobs[j].scale_a = (uint8_t)rng_below(&r, 2);
            jobs[j].scale_w = (uint8_t)rng_below(&r, 3);
        }
        uint64_t got = matmul_time(jobs, (uint32_t)n), want = simulated(jobs, n);
        cr_assert_eq(got, want, "program %d of %d jobs: got %llu, want %llu cycles", i, n, (unsigned long long)got,
                     (unsigned long long)want);
    }
}

// ---- shapes

// Useful MACs / cycles / MACs of the array, over all passes of at most ROWS activation rows.
static double utilisation(uint32_t m, uint32_t n, uint32_t k, fmt_id a, fmt_id w) {
    instr_t passes[PASSES];
    uint32_t count = 0;
    for (uint32_t m0 = 0; m0 < m; m0 += CFG_ROWS) {
        cr_assert_lt(count, PASSES);
        passes[count++] = job_of(m - m0 < CFG_ROWS ? m - m0 : CFG_ROWS, n, k, a, w);
    }
    return (double)m * n * k / (double)matmul_time(passes, count) / (32 * CFG_COLS);
}

typedef struct {
    double sum, number;
} mean;

static bool same_shape(const trace_op *a, const trace_op *b) {
    const gemm_spec *s = &a->spec, *t = &b->spec;
    return s->m == t->m && a->full_n == b->full_n && s->k == t->k && s->fmt_w == t->fmt_w;
}

// Is there an operator of this shape before it, or for an expert one of the same name?
static bool seen_before(const trace *t, uint32_t op) {
    for (uint32_t i = 0; i < op; i++)
        if (t->ops[op].expert < 0 ? same_shape(&t->ops[i], &t->ops[op]) : !strcmp(t->ops[i].name, t->ops[op].name))
            return true;
    return false;
}

// even: one line a shape, the tokens spread evenly over all experts; routed: every product, as the trace routes them.
static void layer(const char *name, uint32_t first_layer, mean *even, mean *routed) {
    model_facts facts;
    char error[MODEL_ERROR];
    trace t;
    cr_assert(model_load("models", name, &facts, error), "%s", error);
    trace_request request = {.model = &facts,
                             .phase = PHASE_PREFILL,
                             .batch = 1,
                             .tokens = 512,
                             .layers = 1,
                             .share = 1,
                             .first_layer = first_layer,
                             .seed = 1};
    cr_assert(trace_make(&request, &t, error), "%s", error);
    for (uint32_t i = 0; i < t.num_ops; i++) {
        const trace_op *op = &t.ops[i];
        const gemm_spec *s = &op->spec;
        routed->sum += op->full_count * utilisation(s->m, op->full_n, s->k, s->fmt_a, s->fmt_w);
        routed->number += op->full_count;
        if (seen_before(&t, i)) continue;
        uint32_t m = op->expert < 0 ? s->m : (512 * facts.top_k + facts.experts - 1) / facts.experts;
        double u = utilisation(m, op->full_n, s->k, s->fmt_a, s->fmt_w);
        fprintf(stderr, "%-13s layer %u %-14s (%4u, %5u, %5u) %6.2f %%\n", name, first_layer, op->name, m, op->full_n,
                s->k, 100 * u);
        even->sum += u;
        even->number++;
    }
    trace_free(&t);
}

// An expert with fewer tokens than its blocks take to load waits for its weights.
Test(matmul_time, prefill_shapes_keep_the_array_busy) {
    mean even = {0}, routed = {0};
    layer("gpt-oss-120b", 0, &even, &routed);
    layer("gpt-oss-120b", 1, &even, &routed);
    layer("deepseek-r1", 0, &even, &routed);
    layer("deepseek-r1", 3, &even, &routed);
    layer("kimi-k2.5", 0, &even, &routed);
    layer("kimi-k2.5", 1, &even, &routed);
    fprintf(stderr, "%s: mean of %g shapes %.2f %%; of %g products, routed as the traces do, %.2f %%\n", CFG_NAME,
            even.number, 100 * even.sum / even.number, routed.number, 100 * routed.sum / routed.number);
    cr_assert_geq(even.sum / even.number, 0.95);
    cr_assert_geq(routed.sum / routed.number, 0.94);
}

Test(matmul_time, the_published_slice_is_met) {
    double u = utilisation(1024, 4096, 2880, FMT_E4M3, FMT_E4M3);
    fprintf(stderr, "%s: (1024, 4096, 2880) E4M3 %.3f %%\n", CFG_NAME, 100 * u);
    cr_assert_geq(u, 0.999);
}
