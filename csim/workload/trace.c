// The operators of a trace. Tensors: trace_tensors.c; files: trace_file.c.
#include "workload/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/random.h"

enum { QUERY_BLOCK = 128, MAX_BATCH = 65536, COLUMN_STEP = 32, GATE_AND_UP = 2 };

typedef struct {
    const trace_request *q;
    const model_facts *m;
    trace *t;
    uint32_t capacity, layer;
    int32_t expert;
    bool failed;
} maker;

// Columns, or instances where there are several, that a share keeps.
static uint32_t keep(double share, uint32_t whole, uint32_t step) {
    double kept = ceil(share * whole / step) * step;
    return kept < 1 ? 1 : kept >= whole ? whole : (uint32_t)kept;
}

static void add(maker *k, const char *name, gemm_spec spec, uint32_t count, trace_values a, trace_values w) {
    trace *t = k->t;
    if (t->num_ops == k->capacity) {
        uint32_t capacity = k->capacity ? 2 * k->capacity : 64;
        trace_op *ops = realloc(t->ops, capacity * sizeof *ops);
        k->failed |= !ops;
        if (!ops) return;
        t->ops = ops;
        k->capacity = capacity;
    }
    trace_op op = {.layer = k->layer, .expert = k->expert, .spec = spec, .a_values = a, .w_values = w};
    snprintf(op.name, sizeof op.name, "%s", name);
    op.full_n = spec.n;
    op.full_count = count;
    op.count = count > 1 ? keep(k->q->share, count, 1) : 1;
    if (count == 1) op.spec.n = keep(k->q->share, spec.n, COLUMN_STEP);
    uint64_t each = (uint64_t)spec.m * spec.k;
    t->macs += each * op.spec.n * op.count;
    t->full_macs += each * op.full_n * op.full_count;
    t->ops[t->num_ops++] = op;
}

static gemm_spec eight_bits(uint32_t m, uint32_t n, uint32_t k, bool split_k) {
    return (gemm_spec){m, n, k, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, split_k};
}

static void linear(maker *k, const char *name, uint32_t m, uint32_t n, uint32_t in, bool split_k) {
    add(k, name, eight_bits(m, n, in, split_k), 1, VALUES_ACTIVATIONS, VALUES_WEIGHTS);
}

// Tokens of all sequences.
static uint32_t rows(const maker *k) {
    return k->q->batch * k->q->tokens;
}

static bool slides(const maker *k) {
    return k->m->window && (!k->m->even_layers_slide || k->layer % 2 == 0);
}

// ---- attention
// Scores and values of each sequence and each of its `heads` groups of queries, which share keys. Prefill takes the
// queries in blocks: a block meets the keys from the window of its first query to its last query.
static void attend(maker *k, uint32_t heads, uint32_t queries, uint32_t key_dim, uint32_t value_dim) {
    const trace_request *q = k->q;
    uint32_t past = q->phase == PHASE_DECODE ? q->context - 1 : q->context, count = q->batch * heads;
    for (uint32_t at = 0; at < q->tokens; at += QUERY_BLOCK) {
        uint32_t block = q->tokens - at < QUERY_BLOCK ? q->tokens - at : QUERY_BLOCK, end = past + at + block;
        uint32_t first = past + at + 1; // keys that the block's first query sees
        uint32_t keys = slides(k) && first > k->m->window ? end - (first - k->m->window) : end;
        add(k, "scores", eight_bits(block * queries, keys, key_dim, false), count, VALUES_ACTIVATIONS,
            VALUES_ACTIVATIONS);
        add(k, "values", eight_bits(block * queries, value_dim, keys, true), count, VALUES_PROBABILITIES,
            VALUES_WEIGHTS);
    }
}

static void attention_gqa(maker *k) {
    const model_facts *m = k->m;
    uint32_t q = m->query_heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    linear(k, "q", rows(k), q, m->hidden, false);
    linear(k, "k", rows(k), kv, m->hidden, false);
    linear(k, "v", rows(k), kv, m->hidden, false);
    attend(k, m->kv_heads, m->query_heads / m->kv_heads, m->head_dim, m->head_dim);
    linear(k, "o", rows(k), m->hidden, q, true);
}

static void per_head(maker *k, const char *name, uint32_t n, uint32_t in) {
    add(k, name, eight_bits(rows(k), n, in, false), k->m->query_heads, VALUES_ACTIVATIONS, VALUES_WEIGHTS);
}

// Decode keeps the latent keys and values as they are and moves the queries into their space instead.
static void attention_mla(maker *k) {
    const model_facts *m = k->m;
    linear(k, "q_down", rows(k), m->q_rank, m->hidden, false);
    linear(k, "q_up", rows(k), m->query_heads * (m->nope_dim + m->rope_dim), m->q_rank, false);
    linear(k, "kv_down", rows(k), m->kv_rank + m->rope_dim, m->hidden, false);
    if (k->q->phase == PHASE_DECODE) {
        per_head(k, "q_absorb", m->kv_rank, m->nope_dim);
        attend(k, 1, m->query_heads, m->kv_rank + m->rope_dim, m->kv_rank);
        per_head(k, "v_up", m->v_dim, m->kv_rank);
    } else {
        uint32_t tokens = k->q->batch * (k->q->context + k->q->tokens);
        linear(k, "kv_up", tokens, m->query_heads * (m->nope_dim + m->v_dim), m->kv_rank, false);
        attend(k, m->query_heads, 1, m->nope_dim + m->rope_dim, m->v_dim);
    }
    linear(k, "o", rows(k), m->hidden, m->query_heads * m->v_dim, true);
}

// ---- experts
// Tokens that each expert gets: experts have a popularity, log-normal with sigma 0.5, per layer; a token draws top_k
// different ones in proportion to it (the largest of log popularity + Gumbel noise).
static void assign(const maker *k, uint32_t *tokens, double *score, double *popularity) {
    const model_facts *m = k->m;
    random_t r = random_of(random_of((random_t){k->q->seed}, 0x657870), k->layer); // "exp"
    for (uint32_t e = 0; e < m->experts; e++) popularity[e] = 0.5 * (double)random_normal(&r);
    for (uint32_t i = 0; i < rows(k); i++) {
        for (uint32_t e = 0; e < m->experts; e++) score[e] = popularity[e] - log(-log(random_uniform(&r) + 0x1p-54));
        for (uint32_t j = 0; j < m->top_k; j++) {
            uint32_t best = 0;
            for (uint32_t e = 1; e < m->experts; e++)
                if (score[e] > score[best]) best = e;
            tokens[best]++;
            score[best] = -INFINITY;
        }
    }
}

static void feed_forward(maker *k, const char *up, const char *down, uint32_t tokens, uint32_t width, fmt_id fmt,
                         scale_id scale) {
    gemm_spec first = {tokens, GATE_AND_UP * width, k->m->hidden, FMT_E4M3, fmt, SCALE_E8M0, scale, false};
    gemm_spec second = {tokens, k->m->hidden, width, FMT_E4M3, fmt, SCALE_E8M0, scale, false};
    add(k, up, first, 1, VALUES_ACTIVATIONS, VALUES_WEIGHTS);
    add(k, down, second, 1, VALUES_ACTIVATIONS, VALUES_WEIGHTS);
}

static void experts(maker *k) {
    const model_facts *m = k->m;
    uint32_t *tokens = calloc(m->experts, sizeof *tokens);
    double *score = calloc(m->experts, sizeof *score), *popularity = calloc(m->experts, sizeof *popularity);
    k->failed |= !tokens || !score || !popularity;
    linear(k, "router", rows(k), m->experts, m->hidden, true);
    if (!k->failed) assign(k, tokens, score, popularity);
    for (uint32_t e = 0; e < m->experts && !k->failed; e++) {
        k->expert = (int32_t)e;
        if (tokens[e]) feed_forward(k, "gate_up", "down", tokens[e], m->expert_width, m->expert_fmt, m->expert_scale);
    }
    k->expert = -1;
    if (m->shared_experts)
        feed_forward(k, "shared_gate_up", "shared_down", rows(k), m->shared_experts * m->expert_width, FMT_E4M3,
                     SCALE_E8M0);
    free(tokens);
    free(score);
    free(popularity);
}

static void layer(maker *k) {
    if (k->m->attention == ATTENTION_GQA)
        attention_gqa(k);
    else
        attention_mla(k);
    if (k->layer < k->m->dense_layers)
        feed_forward(k, "dense_gate_up", "dense_down", rows(k), k->m->dense_width, FMT_E4M3, SCALE_E8M0);
    else
        experts(k);
}

// ---- the request
static bool refuse(char error[TRACE_ERROR], const char *what, const char *want, double got) {
    snprintf(error, TRACE_ERROR, "%s: expected %s, got %.10g", what, want, got);
    return false;
}

static bool check(const trace_request *q, char error[TRACE_ERROR]) {
    const model_facts *m = q->model;
    char want[96];
    if (q->batch < 1 || q->batch > MAX_BATCH) return refuse(error, "batch", "1 to 65536", q->batch);
    if (q->tokens < 1 || q->tokens > m->context || (q->phase == PHASE_DECODE && q->tokens != 1))
        return refuse(error, "tokens", q->phase == PHASE_DECODE ? "1 in decode" : "1 to the model's context",
                      q->tokens);
    if ((uint64_t)q->batch * (q->tokens + q->context) > 1 << 24)
        return refuse(error, "batch x (context + tokens)", "at most 2^24",
                      (double)q->batch * ((double)q->tokens + q->context));
    uint32_t most = q->phase == PHASE_DECODE ? m->context : m->context - q->tokens;
    uint32_t least = q->phase == PHASE_DECODE;
    snprintf(want, sizeof want, "%u to %u", least, most);
    if (q->context < least || q->context > most) return refuse(error, "context", want, q->context);
    snprintf(want, sizeof want, "layers of the %u from 0 on", m->layers);
    if (q->layers < 1 || q->layers > m->layers || q->first_layer > m->layers - q->layers)
        return refuse(error, "layers", want, q->layers < 1 ? 0 : (double)q->first_layer + q->layers - 1);
    if (!(q->share > 0 && q->share <= 1)) return refuse(error, "share", "more than 0, at most 1", q->share);
    return true;
}

bool trace_make(const trace_request *request, trace *out, char error[TRACE_ERROR]) {
    memset(out, 0, sizeof *out);
    if (!check(request, error)) return false;
    maker k = {.q = request, .m = request->model, .t = out, .expert = -1};
    snprintf(out->model, sizeof out->model, "%s", request->model->name);
    snprintf(out->config, sizeof out->config, "%s", CFG_NAME);
    out->phase = request->phase;
    out->batch = request->batch;
    out->context = request->context;
    out->tokens = request->tokens;
    out->first_layer = request->first_layer;
    out->layers = request->layers;
    out->share = request->share;
    out->seed = request->seed;
    for (uint32_t i = 0; i < request->layers && !k.failed; i++) {
        k.layer = request->first_layer + i;
        layer(&k);
    }
    if (k.failed) snprintf(error, TRACE_ERROR, "no memory for the operators of the trace");
    return !k.failed;
}

void trace_free(trace *t) {
    free(t->ops);
    memset(t, 0, sizeof *t);
}
