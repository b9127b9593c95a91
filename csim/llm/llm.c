#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llm/llm_parts.h"

_Static_assert((int)LLM_ERROR == 512, "the error of a checkpoint fits that of a model");

llm *llm_open(const char *dir, fmt_id weights, char error[LLM_ERROR]) {
    llm *m = calloc(1, sizeof *m);
    if (!m) {
        snprintf(error, LLM_ERROR, "no memory");
        return NULL;
    }
    bool ok = llm_config_load(dir, &m->c, error) && llm_load(m, dir, weights, error);
    uint32_t dim = m->c.arch == LLM_DEEPSEEK_V3 ? m->c.rope_dim : m->c.head_dim;
    if (ok && !(m->frequencies = malloc((dim / 2 + 1) * sizeof *m->frequencies))) {
        snprintf(error, LLM_ERROR, "no memory");
        ok = false;
    }
    if (ok) {
        llm_rope_frequencies(&m->c.rope, dim, m->frequencies);
        return m;
    }
    llm_close(m);
    return NULL;
}

void llm_close(llm *m) {
    if (!m) return;
    for (size_t i = 0; i < m->num_owned; i++) free(m->owned[i]);
    for (uint32_t i = 0; m->layers && i < m->c.layers; i++) free(m->layers[i].experts);
    free(m->owned);
    free(m->layers);
    free(m->frequencies);
    free(m);
}

const llm_config *llm_config_of(const llm *m) {
    return &m->c;
}

uint64_t llm_parameters(const llm *m) {
    return m->parameters;
}

// ---- a sequence
static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

// All arrays of the run; false where there is no memory.
static bool allocate(llm_run *r) {
    const llm_config *c = &r->m->c;
    bool mla = c->arch == LLM_DEEPSEEK_V3, absorbed = r->form == LLM_ABSORBED;
    size_t head = mla ? c->nope_dim + c->rope_dim : c->head_dim, value = mla ? c->v_dim : c->head_dim;
    uint32_t kv_heads = mla ? c->heads : c->kv_heads;
    uint32_t width = larger(larger(c->dense_width, c->expert_width), c->shared_experts * c->expert_width);
    r->key_width = mla && absorbed ? c->kv_rank + c->rope_dim : (uint32_t)(kv_heads * head);
    r->value_width = mla && absorbed ? 1 : (uint32_t)(kv_heads * value);
    struct {
        float **at;
        size_t count;
    } arrays[] = {{&r->x, c->hidden},
                  {&r->normed, c->hidden},
                  {&r->mixed, c->hidden},
                  {&r->q, c->heads * head},
                  {&r->heads, c->heads * value},
                  {&r->latent, 3 * ((size_t)c->kv_rank + c->rope_dim) + c->q_rank + 1},
                  {&r->scores, r->positions},
                  {&r->gate, width},
                  {&r->up, width},
                  {&r->router, c->experts + 1},
                  {&r->choice, c->experts + 1},
                  {&r->sums, c->groups + 1},
                  {&r->weights, c->top_k + 1}};
    bool ok = true;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        ok &= (*arrays[i].at = calloc(arrays[i].count, sizeof(float))) != NULL;
    ok &= (r->chosen = calloc(c->top_k + 1, sizeof *r->chosen)) != NULL;
    ok &= (r->kept = calloc(c->top_groups + 1, sizeof *r->kept)) != NULL;
    ok &= (r->keys = calloc(c->layers, sizeof *r->keys)) != NULL;
    ok &= (r->values = calloc(c->layers, sizeof *r->values)) != NULL;
    for (uint32_t i = 0; ok && i < c->layers; i++) {
        ok &= (r->keys[i] = malloc((size_t)r->positions * r->key_width * sizeof(float))) != NULL;
        ok &= (r->values[i] = malloc((size_t)r->positions * r->value_width * sizeof(float))) != NULL;
    }
    return ok;
}

llm_run *llm_start(const llm *m, uint32_t positions, llm_mla form) {
    llm_run *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->m = m;
    r->form = form;
    r->positions = positions;
    if (allocate(r)) return r;
    llm_end(r);
    return NULL;
}

void llm_end(llm_run *r) {
    if (!r) return;
    for (uint32_t i = 0; i < r->m->c.layers; i++) {
        if (r->keys) free(r->keys[i]);
        if (r->values) free(r->values[i]);
    }
    void *arrays[] = {r->x,      r->normed, r->mixed, r->q,       r->heads,  r->latent, r->scores, r->gate,  r->up,
                      r->router, r->choice, r->sums,  r->weights, r->chosen, r->kept,   r->keys,   r->values};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
    free(r);
}

static void add(float *x, const float *y, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) x[i] += y[i];
}

void llm_step(llm_run *r, uint32_t token, float *logits, float *hidden) {
    const llm *m = r->m;
    const llm_config *c = &m->c;
    memcpy(r->x, m->embedding + (size_t)token * c->hidden, c->hidden * sizeof *r->x);
    for (uint32_t i = 0; i < c->layers; i++) {
        const llm_layer *l = &m->layers[i];
        if (hidden) memcpy(hidden + (size_t)i * c->hidden, r->x, c->hidden * sizeof *hidden);
        llm_rms_norm(r->x, l->norm_in, c->hidden, c->norm_eps, r->normed);
        if (c->arch == LLM_DEEPSEEK_V3)
            llm_attention_mla(r, i);
        else
            llm_attention_gqa(r, i);
        add(r->x, r->mixed, c->hidden);
        llm_rms_norm(r->x, l->norm_post, c->hidden, c->norm_eps, r->normed);
        llm_feed_forward(r, l);
        add(r->x, r->mixed, c->hidden);
    }
    llm_rms_norm(r->x, m->norm, c->hidden, c->norm_eps, r->normed);
    if (hidden) memcpy(hidden + (size_t)c->layers * c->hidden, r->normed, c->hidden * sizeof *hidden);
    llm_apply(&m->head, r->normed, logits);
    r->at++;
}
