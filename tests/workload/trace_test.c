#include "workload/trace.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numerics/num.h"
#include "workload/untimed.h"

static char error[TRACE_ERROR];
static model_facts facts;

static trace_request request(const char *model, trace_phase phase, uint32_t batch, uint32_t context, uint32_t tokens,
                             uint32_t layer) {
    char why[MODEL_ERROR];
    cr_assert(model_load("models", model, &facts, why), "%s", why);
    return (trace_request){&facts, phase, batch, context, tokens, layer, 1, 1.0, 42};
}

static trace make(trace_request q) {
    trace t;
    cr_assert(trace_make(&q, &t, error), "%s", error);
    return t;
}

static const trace_op *find(const trace *t, const char *name) {
    for (uint32_t i = 0; i < t->num_ops; i++)
        if (!strcmp(t->ops[i].name, name)) return &t->ops[i];
    cr_assert(false, "no operator %s", name);
    return NULL;
}

static void shape(const trace *t, const char *name, uint32_t m, uint32_t n, uint32_t k, uint32_t count) {
    const trace_op *o = find(t, name);
    cr_assert(o->spec.m == m && o->spec.n == n && o->spec.k == k && o->count == count,
              "%s: got %u x %u x %u, %u times, want %u x %u x %u, %u times", name, o->spec.m, o->spec.n, o->spec.k,
              o->count, m, n, k, count);
}

Test(trace, decode_of_gpt_oss_has_the_shapes_of_the_model) {
    trace t = make(request("gpt-oss-120b", PHASE_DECODE, 8, 1024, 1, 1));
    shape(&t, "q", 8, 4096, 2880, 1);
    shape(&t, "k", 8, 512, 2880, 1);
    shape(&t, "v", 8, 512, 2880, 1);
    shape(&t, "scores", 8, 1024, 64, 64);
    shape(&t, "values", 8, 64, 1024, 64);
    shape(&t, "o", 8, 2880, 4096, 1);
    shape(&t, "router", 8, 128, 2880, 1);
    const trace_op *up = find(&t, "gate_up"), *down = find(&t, "down"), *q = find(&t, "q");
    cr_assert(up->spec.n == 5760 && up->spec.k == 2880 && down->spec.n == 2880 && down->spec.k == 2880);
    cr_assert(up->spec.fmt_a == FMT_E4M3 && up->spec.fmt_w == FMT_E2M1 && up->spec.scale_w == SCALE_E8M0);
    cr_assert(q->spec.fmt_w == FMT_E4M3 && find(&t, "o")->spec.split_k);
    trace_free(&t);
}

// W2: even layers see 128 keys, the token itself included.
Test(trace, sliding_layers_see_a_window_of_128_keys) {
    const uint32_t contexts[] = {1, 127, 128, 129, 1024};
    for (int i = 0; i < 5; i++) {
        trace even = make(request("gpt-oss-120b", PHASE_DECODE, 1, contexts[i], 1, 2));
        trace odd = make(request("gpt-oss-120b", PHASE_DECODE, 1, contexts[i], 1, 3));
        cr_assert_eq(find(&even, "scores")->spec.n, contexts[i] < 128 ? contexts[i] : 128);
        cr_assert_eq(find(&even, "values")->spec.k, contexts[i] < 128 ? contexts[i] : 128);
        cr_assert_eq(find(&odd, "scores")->spec.n, contexts[i]);
        trace_free(&even);
        trace_free(&odd);
    }
}

// 300 tokens behind 1000: blocks of 128, 128 and 44 queries; the first query of a block sees 127 keys before it.
Test(trace, prefill_meets_the_keys_of_its_blocks) {
    const uint32_t keys[2][3] = {{128 + 127, 128 + 127, 44 + 127}, {1128, 1256, 1300}};
    for (uint32_t layer = 0; layer < 2; layer++) {
        trace t = make(request("gpt-oss-120b", PHASE_PREFILL, 2, 1000, 300, layer));
        shape(&t, "q", 600, 4096, 2880, 1);
        int block = 0;
        for (uint32_t i = 0; i < t.num_ops; i++)
            if (!strcmp(t.ops[i].name, "scores")) {
                cr_assert_eq(t.ops[i].spec.n, keys[layer][block], "layer %u block %d: %u keys", layer, block,
                             t.ops[i].spec.n);
                cr_assert_eq(t.ops[i].spec.m, (block < 2 ? 128 : 44) * 8);
                cr_assert_eq(t.ops[i].count, 16);
                block++;
            }
        cr_assert_eq(block, 3);
        trace_free(&t);
    }
}

// W9: bytes come from the distinct experts that the batch touches.
Test(trace, every_token_takes_top_k_different_experts) {
    const uint32_t batches[] = {1, 8, 200};
    for (int i = 0; i < 3; i++) {
        trace t = make(request("gpt-oss-120b", PHASE_DECODE, batches[i], 16, 1, 0));
        uint64_t tokens = 0;
        uint32_t distinct = 0;
        int32_t last = -1;
        for (uint32_t o = 0; o < t.num_ops; o++)
            if (!strcmp(t.ops[o].name, "gate_up")) {
                cr_assert_gt(t.ops[o].expert, last);
                cr_assert_leq(t.ops[o].spec.m, batches[i]);
                last = t.ops[o].expert;
                tokens += t.ops[o].spec.m;
                distinct++;
            } else if (!strcmp(t.ops[o].name, "down")) {
                cr_assert_eq(t.ops[o].expert, last);
            }
        cr_assert_eq(tokens, 4 * batches[i]);
        cr_assert(distinct >= 4 && distinct <= 128 && distinct <= tokens);
        if (i == 0) cr_assert_eq(distinct, 4);
        trace_free(&t);
    }
}

// As many experts as each token takes: every expert gets every token, none twice.
Test(trace, no_token_takes_an_expert_twice) {
    trace_request q = request("gpt-oss-120b", PHASE_DECODE, 50, 16, 1, 0);
    facts.experts = facts.top_k;
    trace t = make(q);
    uint32_t ups = 0;
    for (uint32_t o = 0; o < t.num_ops; o++)
        if (!strcmp(t.ops[o].name, "gate_up")) {
            cr_assert_eq(t.ops[o].spec.m, 50, "expert %d: %u tokens", t.ops[o].expert, t.ops[o].spec.m);
            ups++;
        }
    cr_assert_eq(ups, facts.top_k);
    trace_free(&t);
}

Test(trace, macs_of_batch_1_equal_the_active_weights) {
    trace_request q = request("gpt-oss-120b", PHASE_DECODE, 1, 1, 1, 0);
    trace t = make(q);
    uint64_t matrices = 2880ull * 4096 * 2 + 2 * 2880ull * 512 + 2880ull * 128 + 4 * 3 * 2880ull * 2880;
    cr_assert_eq(t.full_macs, matrices + 2 * 64 * 64); // and 64 heads of one key, scores and values
    cr_assert_eq(t.macs, t.full_macs);
    trace_free(&t);
}

Test(trace, a_share_covers_about_its_part) {
    const double shares[] = {0.01, 0.125, 0.5, 1};
    for (int i = 0; i < 4; i++) {
        trace_request q = request("gpt-oss-120b", PHASE_PREFILL, 1, 0, 64, 0);
        q.share = shares[i];
        trace t = make(q);
        double got = (double)t.macs / (double)t.full_macs;
        cr_assert(got >= shares[i] && got < shares[i] + 0.02, "share %g covers %g", shares[i], got);
        for (uint32_t o = 0; o < t.num_ops; o++)
            cr_assert(t.ops[o].spec.n <= t.ops[o].full_n && t.ops[o].count <= t.ops[o].full_count);
        trace_free(&t);
    }
}

Test(trace, latent_attention_has_its_operators) {
    trace t = make(request("deepseek-r1", PHASE_DECODE, 2, 100, 1, 5));
    shape(&t, "q_down", 2, 1536, 7168, 1);
    shape(&t, "q_up", 2, 24576, 1536, 1);
    shape(&t, "kv_down", 2, 576, 7168, 1);
    shape(&t, "q_absorb", 2, 512, 128, 128);
    shape(&t, "scores", 128, 100, 576, 2);
    shape(&t, "values", 128, 512, 100, 2);
    shape(&t, "v_up", 2, 128, 512, 128);
    shape(&t, "o", 2, 7168, 16384, 1);
    shape(&t, "shared_gate_up", 2, 4096, 7168, 1);
    trace_free(&t);
    t = make(request("deepseek-r1", PHASE_PREFILL, 1, 0, 64, 0));
    shape(&t, "kv_up", 64, 32768, 512, 1);
    shape(&t, "scores", 64, 64, 192, 128);
    shape(&t, "dense_gate_up", 64, 36864, 7168, 1);
    trace_free(&t);
    t = make(request("kimi-k2.5", PHASE_DECODE, 1, 10, 1, 1));
    cr_assert(find(&t, "gate_up")->spec.fmt_w == FMT_INT4 && find(&t, "gate_up")->spec.scale_w == SCALE_BF16);
    trace_free(&t);
}

// ---- tensors
static trace one_op(fmt_id fmt, scale_id scale, trace_values a, trace_values w, trace_op *op) {
    *op = (trace_op){.name = "x", .expert = -1, .count = 2, .full_count = 2, .a_values = a, .w_values = w};
    op->spec = (gemm_spec){16, 64, 1000, FMT_E4M3, fmt, SCALE_E8M0, scale, false};
    return (trace){.seed = 7, .ops = op, .num_ops = 1};
}

static double value(fmt_id fmt, uint16_t code, scale_id scale_fmt, uint16_t scale) {
    num_elem e = num_decode(fmt, code), s = num_decode_scale(scale_fmt, scale);
    cr_assert_not(e.nan || e.inf || s.nan || s.inf);
    return ldexp(e.sign ? -(double)e.mag : e.mag, e.exp) * ldexp(s.mag, s.exp);
}

Test(trace, operands_are_the_same_for_a_seed_and_differ_otherwise) {
    trace_op op;
    trace t = one_op(FMT_E2M1, SCALE_E8M0, VALUES_ACTIVATIONS, VALUES_WEIGHTS, &op);
    trace_tensors a, b, c, d;
    cr_assert(trace_operands(&t, 0, 0, &a) && trace_operands(&t, 0, 0, &b) && trace_operands(&t, 0, 1, &c));
    t.seed++;
    cr_assert(trace_operands(&t, 0, 0, &d));
    size_t bytes = 16 * 1000 * sizeof *a.a, w_bytes = 64 * 1000 * sizeof *a.w;
    cr_assert(!memcmp(a.a, b.a, bytes) && !memcmp(a.w, b.w, w_bytes));
    cr_assert(memcmp(a.a, c.a, bytes) && memcmp(a.w, c.w, w_bytes));
    cr_assert(memcmp(a.a, d.a, bytes) && memcmp(a.w, d.w, w_bytes));
    trace_tensors_free(&a);
    trace_tensors_free(&b);
    trace_tensors_free(&c);
    trace_tensors_free(&d);
}

// Outlier channels of activations stand out by far; weights have none; probabilities are positive and sum to about 1.
Test(trace, values_have_the_spread_that_is_promised) {
    trace_op op;
    trace_tensors x;
    trace t = one_op(FMT_E4M3, SCALE_E8M0, VALUES_ACTIVATIONS, VALUES_WEIGHTS, &op);
    cr_assert(trace_operands(&t, 0, 0, &x));
    int outliers = 0;
    for (int k = 0; k < 1000; k++) {
        double square = 0;
        for (int m = 0; m < 16; m++)
            square += pow(value(FMT_E4M3, x.a[m * 1000 + k], SCALE_E8M0, x.a_scales[m * 32 + k / 32]), 2);
        outliers += sqrt(square / 16) > 8;
    }
    cr_assert(outliers >= 2 && outliers <= 20, "%d outlier channels of 1000", outliers);
    double square = 0;
    for (int i = 0; i < 64 * 1000; i++)
        square += pow(value(FMT_E4M3, x.w[i], SCALE_E8M0, x.w_scales[i / 1000 * 32 + i % 1000 / 32]), 2);
    cr_assert_float_eq(sqrt(square / 64), 1, 0.3, "norm of a weight row %g", sqrt(square / 64));
    trace_tensors_free(&x);
    t = one_op(FMT_E4M3, SCALE_E8M0, VALUES_PROBABILITIES, VALUES_WEIGHTS, &op);
    cr_assert(trace_operands(&t, 0, 0, &x));
    double sum = 0;
    for (int i = 0; i < 16 * 1000; i++) {
        double v = value(FMT_E4M3, x.a[i], SCALE_E8M0, x.a_scales[i / 1000 * 32 + i % 1000 / 32]);
        cr_assert_geq(v, 0);
        sum += v / 16;
    }
    cr_assert_float_eq(sum, 1, 0.3, "probabilities sum to %g", sum);
    trace_tensors_free(&x);
}

Test(trace, int4_weights_use_the_whole_range) {
    trace_op op;
    trace t = one_op(FMT_INT4, SCALE_BF16, VALUES_ACTIVATIONS, VALUES_WEIGHTS, &op);
    trace_tensors x;
    cr_assert(trace_operands(&t, 0, 0, &x));
    int seen[16] = {0};
    for (int i = 0; i < 64 * 1000; i++) seen[x.w[i] & 15]++;
    cr_assert_eq(seen[8], 0); // -8 stays unused: symmetric
    for (int c = 0; c < 16; c++) cr_assert(c == 8 || seen[c] > 100, "code %d: %d times", c, seen[c]);
    trace_tensors_free(&x);
}

// An operator of a trace through the chip without time.
Test(trace, an_operator_runs_and_equals_the_reference) {
    trace_request q = request("gpt-oss-20b", PHASE_DECODE, 2, 100, 1, 1);
    q.share = 0.01;
    trace t = make(q);
    for (uint32_t i = 0; i < t.num_ops; i++) {
        trace_tensors x;
        kernel k;
        size_t size = (size_t)t.ops[i].spec.m * t.ops[i].spec.n;
        float *want = malloc(size * sizeof *want), *got = malloc(size * sizeof *got);
        cr_assert(trace_operands(&t, i, t.ops[i].count - 1, &x));
        gemm_operands o = trace_gemm(&x);
        cr_assert(kernel_gemm(t.ops[i].name, &t.ops[i].spec, &o, &k, error), "%s", error);
        ut_chip *c = ut_new(i);
        const char *fault = ut_run_kernel(c, &k);
        cr_assert_null(fault, "%s: %s", t.ops[i].name, fault);
        cr_assert(kernel_result(&k, &c->mem, got) && kernel_reference(&k, &o, want));
        cr_assert_eq(memcmp(got, want, size * sizeof *got), 0, "%s differs", t.ops[i].name);
        ut_free(c);
        kernel_free(&k);
        trace_tensors_free(&x);
        free(want);
        free(got);
    }
    trace_free(&t);
}

// ---- files
static void read_text(const char *path, char *out, size_t size) {
    FILE *f = fopen(path, "r");
    cr_assert(f, "%s", path);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
}

static void write_text(const char *path, const char *text, size_t size) {
    FILE *f = fopen(path, "w");
    cr_assert(f && fwrite(text, 1, size, f) == size);
    fclose(f);
}

Test(trace, a_file_reads_back_as_it_was) {
    char dir[] = "/tmp/trace_test_XXXXXX", path[64];
    cr_assert(mkdtemp(dir));
    trace_request q = request("gpt-oss-120b", PHASE_PREFILL, 3, 5, 77, 4);
    q.share = 1.0 / 3;
    q.seed = UINT64_MAX;
    trace t = make(q), u;
    cr_assert(trace_write(&t, dir, error), "%s", error);
    cr_assert(trace_read(dir, &u, error), "%s", error);
    cr_assert_eq(t.num_ops, u.num_ops);
    for (uint32_t i = 0; i < t.num_ops; i++) {
        const trace_op *a = &t.ops[i], *b = &u.ops[i];
        cr_assert_str_eq(a->name, b->name);
        cr_assert(a->layer == b->layer && a->expert == b->expert && a->count == b->count && a->full_n == b->full_n &&
                  a->full_count == b->full_count && a->a_values == b->a_values && a->w_values == b->w_values);
        const gemm_spec *s = &a->spec, *r = &b->spec;
        cr_assert(s->m == r->m && s->n == r->n && s->k == r->k && s->fmt_a == r->fmt_a && s->fmt_w == r->fmt_w &&
                  s->scale_a == r->scale_a && s->scale_w == r->scale_w && s->split_k == r->split_k);
    }
    cr_assert_str_eq(t.model, u.model);
    cr_assert(t.phase == u.phase && t.batch == u.batch && t.context == u.context && t.tokens == u.tokens &&
              t.first_layer == u.first_layer && t.layers == u.layers && t.share == u.share && t.seed == u.seed &&
              t.macs == u.macs && t.full_macs == u.full_macs);
    snprintf(path, sizeof path, "%s/trace.json", dir);
    remove(path);
    rmdir(dir);
    trace_free(&t);
    trace_free(&u);
}

static void refused(const char *dir, const char *because) {
    trace t;
    error[0] = '\0';
    cr_expect_not(trace_read(dir, &t, error), "read, want \"%s\"", because);
    cr_expect(strstr(error, because), "got \"%s\", want \"%s\"", error, because);
    cr_expect_null(strchr(error, '\n'));
    trace_free(&t);
}

// C6: another version or configuration, and every kind of damage.
Test(trace, other_versions_and_damage_are_refused_in_one_line) {
    static char text[1 << 20], changed[1 << 20];
    char dir[] = "/tmp/trace_test_XXXXXX", path[64];
    cr_assert(mkdtemp(dir));
    trace t = make(request("gpt-oss-120b", PHASE_DECODE, 2, 64, 1, 0));
    snprintf(path, sizeof path, "%s/trace.json", dir);
    refused(dir, "expected a trace that can be read");
    cr_assert(trace_write(&t, dir, error), "%s", error);
    read_text(path, text, sizeof text);
    const char *const swaps[][3] = {{"\"version\": 1", "\"version\": 2", "version: expected 1, the file has 2"},
                                    {"\"config\": \"" CFG_NAME "\"", "\"config\": \"other\"", "config: expected"},
                                    {"\"batch\": 2", "\"batch\": 3", "digest"},
                                    {"\"n\": 4096", "\"n\": 4097", "digest"},
                                    {"poblano-trace", "another", "format"},
                                    {"\"ops\"", "\"opz\"", "digest"},
                                    {"{", "[", "expected"}};
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        char *at = strstr(text, swaps[i][0]);
        cr_assert(at, "no %s", swaps[i][0]);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, swaps[i][1], at + strlen(swaps[i][0]));
        write_text(path, changed, strlen(changed));
        refused(dir, swaps[i][2]);
    }
    for (size_t cut = 0; cut + 2 < strlen(text); cut += 37) {
        write_text(path, text, cut);
        refused(dir, "expected");
    }
    remove(path);
    rmdir(dir);
    trace_free(&t);
}

Test(trace, bad_requests_are_refused_in_one_line) {
    const trace_request good = request("gpt-oss-120b", PHASE_DECODE, 1, 1, 1, 0);
    trace_request bad[9];
    for (int i = 0; i < 9; i++) bad[i] = good;
    bad[0].batch = 0;
    bad[1].context = 0;
    bad[2].context = 131073;
    bad[3].first_layer = 36;
    bad[4].layers = 37;
    bad[5].share = 0;
    bad[6].share = NAN;
    bad[7].tokens = 2;
    bad[8].phase = PHASE_PREFILL;
    bad[8].tokens = 131072; // with a token of context before
    const char *const because[] = {"batch", "context", "context", "layers", "layers",
                                   "share", "share",   "tokens",  "context"};
    for (int i = 0; i < 9; i++) {
        trace t;
        cr_assert_not(trace_make(&bad[i], &t, error), "case %d", i);
        cr_assert(strstr(error, because[i]), "got \"%s\", want \"%s\"", error, because[i]);
        cr_assert_null(strchr(error, '\n'));
        trace_free(&t);
    }
}
