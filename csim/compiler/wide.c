#include <stdlib.h>
#include <string.h>

#include "compiler/parts.h"

static float *own(compiled *c, size_t count) {
    float *x = calloc(count, sizeof *x);
    float **grown = x ? realloc(c->owned, (c->num_owned + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(x);
        return NULL;
    }
    c->owned = grown;
    return c->owned[c->num_owned++] = x;
}

// Gates, or ups, of all experts below each other, then those of the shared ones.
static bool stack(compiled *c, const llm_layer *layer, bool up, llm_linear *out) {
    const llm_config *f = &c->m->c;
    const llm_ffn *experts = layer->experts;
    const llm_linear *first = up ? &experts->up : &experts->gate, *shared = up ? &layer->dense.up : &layer->dense.gate;
    uint32_t width = f->experts * f->expert_width + shared->out;
    size_t each = (size_t)f->expert_width * f->hidden;
    float *w = own(c, (size_t)width * f->hidden), *bias = own(c, width);
    if (!w || !bias) return false;
    for (uint32_t i = 0; i < f->experts; i++) {
        const llm_linear *l = up ? &experts[i].up : &experts[i].gate;
        memcpy(w + i * each, l->w, each * sizeof *w);
        if (l->bias) memcpy(bias + i * f->expert_width, l->bias, f->expert_width * sizeof *bias);
    }
    if (shared->out) memcpy(w + each * f->experts, shared->w, (size_t)shared->out * f->hidden * sizeof *w);
    *out = (llm_linear){w, first->bias ? bias : NULL, f->hidden, width};
    return true;
}

// Downs of all experts beside each other, then that of the shared ones; biases stay with the experts.
static bool line_up(compiled *c, const llm_layer *layer, llm_linear *out) {
    const llm_config *f = &c->m->c;
    const llm_linear *shared = &layer->dense.down;
    uint32_t each = f->expert_width, width = f->experts * each + shared->in;
    float *w = own(c, (size_t)f->hidden * width);
    if (!w) return false;
    for (uint32_t row = 0; row < f->hidden; row++) {
        float *to = w + (size_t)row * width;
        for (uint32_t i = 0; i < f->experts; i++)
            memcpy(to + i * each, layer->experts[i].down.w + (size_t)row * each, each * sizeof *w);
        if (shared->in) memcpy(to + f->experts * each, shared->w + (size_t)row * shared->in, shared->in * sizeof *w);
    }
    *out = (llm_linear){w, NULL, width, f->hidden};
    return true;
}

// Of each head `count` rows from row `first` on: the part of kv_b that makes keys, or values.
static bool pick(compiled *c, const llm_linear *kv_b, uint32_t first, uint32_t count, llm_linear *out) {
    const llm_config *f = &c->m->c;
    float *w = own(c, (size_t)f->heads * count * kv_b->in);
    if (!w) return false;
    for (uint32_t h = 0; h < f->heads; h++)
        memcpy(w + (size_t)h * count * kv_b->in, kv_b->w + (size_t)(h * (f->nope_dim + f->v_dim) + first) * kv_b->in,
               (size_t)count * kv_b->in * sizeof *w);
    *out = (llm_linear){w, NULL, kv_b->in, f->heads * count};
    return true;
}

bool compiler_widen(compiled *c) {
    const llm_config *f = &c->m->c;
    c->wide = calloc(f->layers, sizeof *c->wide);
    c->expand_k = calloc(f->layers, sizeof *c->expand_k);
    c->expand_v = calloc(f->layers, sizeof *c->expand_v);
    if (!c->wide || !c->expand_k || !c->expand_v) return false;
    for (uint32_t i = 0; i < f->layers; i++) {
        const llm_layer *l = &c->m->layers[i];
        llm_ffn *to = &c->wide[i];
        if (!l->experts)
            *to = l->dense;
        else if (!stack(c, l, false, &to->gate) || !stack(c, l, true, &to->up) || !line_up(c, l, &to->down))
            return false;
        if (to->gate.out > c->width) c->width = to->gate.out;
        if (f->arch == LLM_DEEPSEEK_V3 && (!pick(c, &l->kv_b, 0, f->nope_dim, &c->expand_k[i]) ||
                                           !pick(c, &l->kv_b, f->nope_dim, f->v_dim, &c->expand_v[i])))
            return false;
    }
    return true;
}
