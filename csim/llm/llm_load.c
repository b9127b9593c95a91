// From the tensors of a checkpoint to the matrices of llm_parts.h. Every tensor must be used: one that is not would
// change the answer without a word.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llm/llm_parts.h"
#include "llm/safetensors.h"
#include "numerics/num_block.h"

typedef struct {
    llm *m;
    const char *dir;
    st_checkpoint file;
    bool *used; // [file.count]
    fmt_id weights;
    char *error;
    bool failed;
} loader;

static void fail(loader *d, const char *format, ...) {
    if (d->failed) return;
    int used = snprintf(d->error, LLM_ERROR, "%.200s: ", d->dir);
    va_list args;
    va_start(args, format);
    vsnprintf(d->error + used, (size_t)(LLM_ERROR - used), format, args);
    va_end(args);
    d->failed = true;
}

// Memory that lives as long as the model; NULL once something failed.
static float *own(loader *d, uint64_t count) {
    float **grown = realloc(d->m->owned, (d->m->num_owned + 1) * sizeof *grown);
    if (grown) d->m->owned = grown;
    float *at = grown ? malloc((count ? count : 1) * sizeof *at) : NULL;
    if (!at) {
        fail(d, "no memory for %" PRIu64 " values", count);
        return NULL;
    }
    d->m->owned[d->m->num_owned++] = at;
    return at;
}

// ---- tensors
static void say_shape(const uint64_t *shape, int rank, char text[96]) {
    int used = snprintf(text, 96, "[");
    for (int i = 0; i < rank; i++)
        used += snprintf(text + used, (size_t)(96 - used), "%s%" PRIu64, i ? ", " : "", shape[i]);
    snprintf(text + used, (size_t)(96 - used), "]");
}

static bool present(const loader *d, const char *name) {
    return st_find(&d->file, name) != NULL;
}

// The tensor as float32 in memory of the model, NULL where it is not as expected. Axes of size 0 end the shape.
static float *tensor(loader *d, const char *name, uint64_t d0, uint64_t d1, uint64_t d2) {
    uint64_t want[] = {d0, d1, d2};
    int rank = d2 ? 3 : d1 ? 2 : 1;
    char asked[96], got[96];
    if (d->failed) return NULL;
    const st_tensor *t = st_find(&d->file, name);
    if (!t) {
        fail(d, "no tensor %s", name);
        return NULL;
    }
    if (t->rank != rank || memcmp(t->shape, want, (size_t)rank * sizeof *want)) {
        say_shape(want, rank, asked);
        say_shape(t->shape, t->rank, got);
        fail(d, "%s: expected shape %s, got %s", name, asked, got);
        return NULL;
    }
    float *values = own(d, t->elements);
    if (values && !st_floats(t, values)) fail(d, "%s: expected F32, BF16 or F16, got %s", name, t->dtype);
    d->used[t - d->file.tensors] = true;
    d->m->parameters += t->elements;
    return values;
}

// The matrix at the values that the weights' format can hold, block by block along its input.
static void quantise(loader *d, float *w, uint64_t rows, uint32_t in) {
    uint16_t codes[NUM_BLOCK];
    if (d->weights == NUM_FMTS || d->failed) return;
    for (uint64_t r = 0; r < rows; r++)
        for (uint32_t at = 0; at < in; at += NUM_BLOCK) {
            uint32_t count = in - at < NUM_BLOCK ? in - at : NUM_BLOCK;
            float *x = w + r * in + at;
            uint16_t scale = num_block_quantize(d->weights, x, count, codes);
            num_block_values(d->weights, codes, count, scale, x);
        }
}

__attribute__((format(printf, 5, 6))) static llm_linear linear(loader *d, uint32_t out, uint32_t in, bool bias,
                                                               const char *format, ...) {
    char stem[ST_NAME - 8], name[ST_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(stem, sizeof stem, format, args);
    va_end(args);
    snprintf(name, sizeof name, "%s.weight", stem);
    float *w = tensor(d, name, out, in, 0);
    quantise(d, w, out, in);
    snprintf(name, sizeof name, "%s.bias", stem);
    return (llm_linear){w, bias ? tensor(d, name, out, 0, 0) : NULL, in, out};
}

__attribute__((format(printf, 3, 4))) static const float *vector(loader *d, uint32_t n, const char *format, ...) {
    char name[ST_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    return tensor(d, name, n, 0, 0);
}

// ---- attention
static void load_gqa(loader *d, uint32_t i, llm_layer *l) {
    const llm_config *c = &d->m->c;
    uint32_t q = c->heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    l->q = linear(d, q, c->hidden, c->attention_bias, "model.layers.%u.self_attn.q_proj", i);
    l->k = linear(d, kv, c->hidden, c->attention_bias, "model.layers.%u.self_attn.k_proj", i);
    l->v = linear(d, kv, c->hidden, c->attention_bias, "model.layers.%u.self_attn.v_proj", i);
    l->o = linear(d, c->hidden, q, c->attention_bias, "model.layers.%u.self_attn.o_proj", i);
    if (c->arch == LLM_GPT_OSS) l->sinks = vector(d, c->heads, "model.layers.%u.self_attn.sinks", i);
}

static void load_mla(loader *d, uint32_t i, llm_layer *l) {
    const llm_config *c = &d->m->c;
    uint32_t q = c->heads * (c->nope_dim + c->rope_dim);
    if (c->q_rank) {
        l->q_a = linear(d, c->q_rank, c->hidden, false, "model.layers.%u.self_attn.q_a_proj", i);
        l->q_a_norm = vector(d, c->q_rank, "model.layers.%u.self_attn.q_a_layernorm.weight", i);
        l->q_b = linear(d, q, c->q_rank, false, "model.layers.%u.self_attn.q_b_proj", i);
    } else
        l->q = linear(d, q, c->hidden, false, "model.layers.%u.self_attn.q_proj", i);
    l->kv_a = linear(d, c->kv_rank + c->rope_dim, c->hidden, false, "model.layers.%u.self_attn.kv_a_proj_with_mqa", i);
    l->kv_a_norm = vector(d, c->kv_rank, "model.layers.%u.self_attn.kv_a_layernorm.weight", i);
    l->kv_b =
        linear(d, c->heads * (c->nope_dim + c->v_dim), c->kv_rank, false, "model.layers.%u.self_attn.kv_b_proj", i);
    l->o = linear(d, c->hidden, c->heads * c->v_dim, false, "model.layers.%u.self_attn.o_proj", i);
}

// ---- experts
static llm_ffn ffn(loader *d, uint32_t width, const char *stem) {
    uint32_t hidden = d->m->c.hidden;
    return (llm_ffn){.gate = linear(d, width, hidden, false, "%s.gate_proj", stem),
                     .up = linear(d, width, hidden, false, "%s.up_proj", stem),
                     .down = linear(d, hidden, width, false, "%s.down_proj", stem)};
}

// w[out][in], out[o][i] = from[i * stride + first + o * step]: a matrix stored by input, or a column of a pair.
static llm_linear turned(loader *d, uint32_t out, uint32_t in, const float *from, size_t stride, size_t first,
                         size_t step, const float *bias) {
    float *w = own(d, (uint64_t)out * in), *b = own(d, out);
    for (uint32_t o = 0; !d->failed && o < out; o++) {
        for (uint32_t i = 0; i < in; i++) w[(size_t)o * in + i] = from[i * stride + first + o * step];
        b[o] = bias[first + o * step];
    }
    quantise(d, w, out, in);
    return (llm_linear){w, b, in, out};
}

// gpt_oss: by input, gate and up in turn, all experts in one tensor.
static void load_paired_experts(loader *d, uint32_t layer, llm_ffn *experts) {
    const llm_config *c = &d->m->c;
    uint32_t n = c->experts, width = c->expert_width, hidden = c->hidden;
    char name[4][ST_NAME];
    static const char *const kinds[] = {"gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias"};
    for (int k = 0; k < 4; k++) snprintf(name[k], ST_NAME, "model.layers.%u.mlp.experts.%s", layer, kinds[k]);
    const float *gate_up = tensor(d, name[0], n, hidden, 2 * width),
                *gate_up_bias = tensor(d, name[1], n, 2 * width, 0);
    const float *down = tensor(d, name[2], n, width, hidden), *down_bias = tensor(d, name[3], n, hidden, 0);
    for (uint32_t e = 0; !d->failed && e < n; e++) {
        const float *pair = gate_up + (size_t)e * hidden * 2 * width, *bias = gate_up_bias + (size_t)e * 2 * width;
        experts[e].gate = turned(d, width, hidden, pair, 2 * width, 0, 2, bias);
        experts[e].up = turned(d, width, hidden, pair, 2 * width, 1, 2, bias);
        experts[e].down =
            turned(d, hidden, width, down + (size_t)e * width * hidden, hidden, 0, 1, down_bias + (size_t)e * hidden);
    }
}

// deepseek_v3: by output, gate rows then up rows; all experts in one tensor, or three tensors for each.
static void load_experts(loader *d, uint32_t layer, llm_ffn *experts) {
    const llm_config *c = &d->m->c;
    uint32_t n = c->experts, width = c->expert_width, hidden = c->hidden;
    char gate_up[ST_NAME], down[ST_NAME], stem[ST_NAME - 16];
    snprintf(gate_up, sizeof gate_up, "model.layers.%u.mlp.experts.gate_up_proj", layer);
    snprintf(down, sizeof down, "model.layers.%u.mlp.experts.down_proj", layer);
    if (!present(d, gate_up)) {
        for (uint32_t e = 0; !d->failed && e < n; e++) {
            snprintf(stem, sizeof stem, "model.layers.%u.mlp.experts.%u", layer, e);
            experts[e] = ffn(d, width, stem);
        }
        return;
    }
    float *pair = tensor(d, gate_up, n, 2 * width, hidden), *out = tensor(d, down, n, hidden, width);
    quantise(d, pair, (uint64_t)n * 2 * width, hidden);
    quantise(d, out, (uint64_t)n * hidden, width);
    for (uint32_t e = 0; !d->failed && e < n; e++) {
        const float *gate = pair + (size_t)e * 2 * width * hidden;
        experts[e].gate = (llm_linear){gate, NULL, hidden, width};
        experts[e].up = (llm_linear){gate + (size_t)width * hidden, NULL, hidden, width};
        experts[e].down = (llm_linear){out + (size_t)e * hidden * width, NULL, width, hidden};
    }
}

static void load_moe(loader *d, uint32_t i, llm_layer *l) {
    const llm_config *c = &d->m->c;
    bool gpt = c->arch == LLM_GPT_OSS;
    char stem[ST_NAME - 16];
    fmt_id weights = d->weights;
    d->weights = NUM_FMTS; // the router chooses: kept as stored
    l->router =
        linear(d, c->experts, c->hidden, gpt, gpt ? "model.layers.%u.mlp.router" : "model.layers.%u.mlp.gate", i);
    d->weights = weights;
    l->experts = d->failed ? NULL : calloc(c->experts, sizeof *l->experts);
    if (!l->experts) {
        fail(d, "no memory");
        return;
    }
    if (gpt) {
        load_paired_experts(d, i, l->experts);
        return;
    }
    l->correction = vector(d, c->experts, "model.layers.%u.mlp.gate.e_score_correction_bias", i);
    load_experts(d, i, l->experts);
    snprintf(stem, sizeof stem, "model.layers.%u.mlp.shared_experts", i);
    if (c->shared_experts) l->dense = ffn(d, c->shared_experts * c->expert_width, stem);
}

// ---- the whole
static void load_layer(loader *d, uint32_t i, llm_layer *l) {
    const llm_config *c = &d->m->c;
    char stem[ST_NAME - 16];
    l->norm_in = vector(d, c->hidden, "model.layers.%u.input_layernorm.weight", i);
    l->norm_post = vector(d, c->hidden, "model.layers.%u.post_attention_layernorm.weight", i);
    if (c->arch == LLM_DEEPSEEK_V3)
        load_mla(d, i, l);
    else
        load_gqa(d, i, l);
    snprintf(stem, sizeof stem, "model.layers.%u.mlp", i);
    if (c->experts && i >= c->dense_layers)
        load_moe(d, i, l);
    else
        l->dense = ffn(d, c->dense_width, stem);
}

// Tensors that hold nothing of their own: tables of frequencies, a head that is tied, layers that predict further
// tokens.
static bool redundant(const loader *d, const char *name) {
    unsigned layer;
    if (strstr(name, "rotary_emb.inv_freq") || strstr(name, "rotary_emb.original_inv_freq")) return true;
    if (d->m->c.tied && !strcmp(name, "lm_head.weight")) return true;
    return sscanf(name, "model.layers.%u.", &layer) == 1 && layer >= d->m->c.layers;
}

static void load_all(loader *d) {
    llm *m = d->m;
    const llm_config *c = &m->c;
    m->layers = calloc(c->layers, sizeof *m->layers);
    d->used = calloc(d->file.count + 1, sizeof *d->used);
    if (!m->layers || !d->used) {
        fail(d, "no memory");
        return;
    }
    m->embedding = tensor(d, "model.embed_tokens.weight", c->vocabulary, c->hidden, 0);
    for (uint32_t i = 0; !d->failed && i < c->layers; i++) load_layer(d, i, &m->layers[i]);
    d->weights = NUM_FMTS; // the head chooses, like the router: kept as stored
    m->norm = tensor(d, "model.norm.weight", c->hidden, 0, 0);
    m->head = c->tied ? (llm_linear){m->embedding, NULL, c->hidden, c->vocabulary}
                      : linear(d, c->vocabulary, c->hidden, false, "lm_head");
    for (size_t i = 0; !d->failed && i < d->file.count; i++)
        if (!d->used[i] && !redundant(d, d->file.tensors[i].name))
            fail(d, "tensor %s: expected none of that name", d->file.tensors[i].name);
}

bool llm_load(llm *m, const char *dir, fmt_id weights, char error[LLM_ERROR]) {
    loader d = {.m = m, .dir = dir, .weights = weights, .error = error};
    if (!st_open(dir, &d.file, error)) return false;
    load_all(&d);
    free(d.used);
    st_close(&d.file);
    return !d.failed;
}
