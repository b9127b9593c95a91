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

// Gates, or ups, of all experts below each other.
static bool stack(compiled *c, const llm_ffn *experts, bool up, llm_linear *out) {
    const llm_config *f = &c->m->c;
    const llm_linear *first = up ? &experts->up : &experts->gate;
    size_t each = (size_t)f->expert_width * f->hidden;
    float *w = own(c, each * f->experts), *bias = own(c, c->width);
    if (!w || !bias) return false;
    for (uint32_t i = 0; i < f->experts; i++) {
        const llm_linear *l = up ? &experts[i].up : &experts[i].gate;
        memcpy(w + i * each, l->w, each * sizeof *w);
        if (l->bias) memcpy(bias + i * f->expert_width, l->bias, f->expert_width * sizeof *bias);
    }
    *out = (llm_linear){w, first->bias ? bias : NULL, f->hidden, c->width};
    return true;
}

// Downs of all experts beside each other; biases stay with the experts.
static bool line_up(compiled *c, const llm_ffn *experts, llm_linear *out) {
    const llm_config *f = &c->m->c;
    float *w = own(c, (size_t)f->hidden * c->width);
    if (!w) return false;
    for (uint32_t row = 0; row < f->hidden; row++)
        for (uint32_t i = 0; i < f->experts; i++)
            memcpy(w + (size_t)row * c->width + i * f->expert_width, experts[i].down.w + (size_t)row * f->expert_width,
                   f->expert_width * sizeof *w);
    *out = (llm_linear){w, NULL, c->width, f->hidden};
    return true;
}

bool compiler_widen(compiled *c) {
    const llm_config *f = &c->m->c;
    if (!(c->wide = calloc(f->layers, sizeof *c->wide))) return false;
    for (uint32_t i = 0; i < f->layers; i++) {
        const llm_layer *l = &c->m->layers[i];
        llm_ffn *to = &c->wide[i];
        if (!f->experts)
            *to = l->dense;
        else if (!stack(c, l->experts, false, &to->gate) || !stack(c, l->experts, true, &to->up) ||
                 !line_up(c, l->experts, &to->down))
            return false;
    }
    return true;
}
