#include <math.h>
#include <string.h>

#include "llm/llm_parts.h"

// out[width] = sum of p[i] * values[i], values `stride` apart.
static void weigh(const float *p, const float *values, uint32_t count, size_t stride, uint32_t width, float *out) {
    for (uint32_t d = 0; d < width; d++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++) sum += (double)p[i] * values[i * stride + d];
        out[d] = (float)sum;
    }
}

double llm_score_scale(const llm_config *c) {
    if (c->arch != LLM_DEEPSEEK_V3) return 1 / sqrt(c->head_dim);
    double m = c->rope.yarn && c->rope.mscale_all_dim > 0 && c->rope.factor > 1
                   ? 0.1 * c->rope.mscale_all_dim * log(c->rope.factor) + 1
                   : 1;
    return m * m / sqrt(c->nope_dim + c->rope_dim);
}

// ---- grouped-query attention: llama, gpt_oss
void llm_attention_gqa(llm_run *r, uint32_t layer) {
    const llm_config *c = &r->m->c;
    const llm_layer *l = &r->m->layers[layer];
    uint32_t dim = c->head_dim, share = c->heads / c->kv_heads;
    float *keys = r->keys[layer], *values = r->values[layer], *key = keys + (size_t)r->at * r->key_width;
    uint32_t first = c->slides[layer] && r->at + 1 > c->window ? r->at + 1 - c->window : 0, count = r->at + 1 - first;
    llm_apply(&l->q, r->normed, r->q);
    llm_apply(&l->k, r->normed, key);
    llm_apply(&l->v, r->normed, values + (size_t)r->at * r->value_width);
    for (uint32_t h = 0; h < c->heads; h++) llm_rotate(r->m, r->at, dim, r->q + (size_t)h * dim);
    for (uint32_t h = 0; h < c->kv_heads; h++) llm_rotate(r->m, r->at, dim, key + (size_t)h * dim);
    for (uint32_t h = 0; h < c->heads; h++) {
        size_t shared = (size_t)(h / share) * dim;
        const float *from = keys + (size_t)first * r->key_width + shared;
        for (uint32_t i = 0; i < count; i++)
            r->scores[i] = (float)(llm_dot(r->q + (size_t)h * dim, from + (size_t)i * r->key_width, dim) / sqrt(dim));
        llm_softmax(r->scores, count, l->sinks ? &l->sinks[h] : NULL);
        weigh(r->scores, values + (size_t)first * r->value_width + shared, count, r->value_width, dim,
              r->heads + (size_t)h * dim);
    }
    llm_apply(&l->o, r->heads, r->mixed);
}

// ---- multi-head latent attention: deepseek_v3
static void latent_query(llm_run *r, const llm_layer *l) {
    const llm_config *c = &r->m->c;
    uint32_t width = c->nope_dim + c->rope_dim;
    if (c->q_rank) {
        llm_apply(&l->q_a, r->normed, r->latent);
        llm_rms_norm(r->latent, l->q_a_norm, c->q_rank, LLM_LATENT_EPS, r->latent);
        llm_apply(&l->q_b, r->latent, r->q);
    } else
        llm_apply(&l->q, r->normed, r->q);
    for (uint32_t h = 0; h < c->heads; h++)
        llm_rotate(r->m, r->at, c->rope_dim, r->q + (size_t)h * width + c->nope_dim);
}

// Keys and values of one head each, expanded when the token arrives: key = nope, rope; all heads share the rope.
static void expanded(llm_run *r, uint32_t layer, const float *latent) {
    const llm_config *c = &r->m->c;
    const llm_layer *l = &r->m->layers[layer];
    uint32_t width = c->nope_dim + c->rope_dim, pair = c->nope_dim + c->v_dim;
    float *keys = r->keys[layer], *values = r->values[layer];
    for (uint32_t h = 0; h < c->heads; h++) {
        float *key = keys + (size_t)r->at * r->key_width + (size_t)h * width;
        llm_linear nope = {l->kv_b.w + (size_t)h * pair * c->kv_rank, NULL, c->kv_rank, c->nope_dim};
        llm_linear value = {nope.w + (size_t)c->nope_dim * c->kv_rank, NULL, c->kv_rank, c->v_dim};
        llm_apply(&nope, latent, key);
        memcpy(key + c->nope_dim, latent + c->kv_rank, c->rope_dim * sizeof *key);
        llm_apply(&value, latent, values + (size_t)r->at * r->value_width + (size_t)h * c->v_dim);
        for (uint32_t i = 0; i <= r->at; i++)
            r->scores[i] =
                (float)(llm_dot(r->q + (size_t)h * width, keys + (size_t)i * r->key_width + (size_t)h * width, width) *
                        llm_score_scale(c));
        llm_softmax(r->scores, r->at + 1, NULL);
        weigh(r->scores, values + (size_t)h * c->v_dim, r->at + 1, r->value_width, c->v_dim,
              r->heads + (size_t)h * c->v_dim);
    }
}

// The latent itself is key and value of all heads: W_k goes into the query, W_v behind the weighted sum.
static void absorbed(llm_run *r, uint32_t layer, const float *latent) {
    const llm_config *c = &r->m->c;
    const llm_layer *l = &r->m->layers[layer];
    uint32_t width = c->nope_dim + c->rope_dim, pair = c->nope_dim + c->v_dim;
    float *keys = r->keys[layer], *query = r->latent, *mixed = r->latent + r->key_width;
    memcpy(keys + (size_t)r->at * r->key_width, latent, r->key_width * sizeof *keys);
    for (uint32_t h = 0; h < c->heads; h++) {
        const float *q = r->q + (size_t)h * width, *wk = l->kv_b.w + (size_t)h * pair * c->kv_rank;
        llm_linear value = {wk + (size_t)c->nope_dim * c->kv_rank, NULL, c->kv_rank, c->v_dim};
        weigh(q, wk, c->nope_dim, c->kv_rank, c->kv_rank, query);
        memcpy(query + c->kv_rank, q + c->nope_dim, c->rope_dim * sizeof *query);
        for (uint32_t i = 0; i <= r->at; i++)
            r->scores[i] = (float)(llm_dot(query, keys + (size_t)i * r->key_width, r->key_width) * llm_score_scale(c));
        llm_softmax(r->scores, r->at + 1, NULL);
        weigh(r->scores, keys, r->at + 1, r->key_width, c->kv_rank, mixed);
        llm_apply(&value, mixed, r->heads + (size_t)h * c->v_dim);
    }
}

void llm_attention_mla(llm_run *r, uint32_t layer) {
    const llm_config *c = &r->m->c;
    const llm_layer *l = &r->m->layers[layer];
    float *latent = r->latent + 2 * ((size_t)c->kv_rank + c->rope_dim) + c->q_rank;
    latent_query(r, l);
    llm_apply(&l->kv_a, r->normed, latent);
    llm_rms_norm(latent, l->kv_a_norm, c->kv_rank, LLM_LATENT_EPS, latent);
    llm_rotate(r->m, r->at, c->rope_dim, latent + c->kv_rank);
    (r->form == LLM_ABSORBED ? absorbed : expanded)(r, layer, latent);
    llm_apply(&l->o, r->heads, r->mixed);
}
