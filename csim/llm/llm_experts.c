#include <math.h>
#include <string.h>

#include "llm/llm_parts.h"

// out += share * ffn(x)
static void add_ffn(llm_run *r, const llm_ffn *f, double share, float *out) {
    const llm_config *c = &r->m->c;
    llm_apply(&f->gate, r->normed, r->gate);
    llm_apply(&f->up, r->normed, r->up);
    for (uint32_t i = 0; i < f->gate.out; i++) {
        double g = r->gate[i], u = r->up[i];
        if (c->arch == LLM_GPT_OSS) {
            g = fmin(g, c->swiglu_limit);
            u = fmin(fmax(u, -c->swiglu_limit), c->swiglu_limit);
            r->gate[i] = (float)((u + 1) * g * llm_sigmoid(c->swiglu_alpha * g));
        } else
            r->gate[i] = (float)(g * llm_sigmoid(g) * u);
    }
    for (uint32_t i = 0; i < f->down.out; i++) {
        double y = llm_dot(f->down.w + (size_t)i * f->down.in, r->gate, f->down.in);
        out[i] += (float)(share * (y + (f->down.bias ? f->down.bias[i] : 0)));
    }
}

// gpt_oss: the best logits, softmax over those alone.
static void choose_by_logits(llm_run *r) {
    const llm_config *c = &r->m->c;
    llm_top_k(r->router, c->experts, c->top_k, r->chosen);
    for (uint32_t i = 0; i < c->top_k; i++) r->weights[i] = r->router[r->chosen[i]];
    llm_softmax(r->weights, c->top_k, NULL);
}

// Choices of all groups but the best become -infinity; a group counts the sum of its best two.
static void mask_groups(llm_run *r) {
    const llm_config *c = &r->m->c;
    uint32_t size = c->experts / c->groups, best[2];
    for (uint32_t g = 0; g < c->groups; g++) {
        const float *group = r->choice + (size_t)g * size;
        llm_top_k(group, size, 2, best);
        r->sums[g] = group[best[0]] + group[best[1]];
    }
    llm_top_k(r->sums, c->groups, c->top_groups, r->kept);
    for (uint32_t g = 0; g < c->groups; g++) {
        bool keep = false;
        for (uint32_t i = 0; i < c->top_groups; i++) keep |= r->kept[i] == g;
        for (uint32_t i = 0; !keep && i < size; i++) r->choice[(size_t)g * size + i] = -INFINITY;
    }
}

// deepseek_v3: sigmoid; the correction counts for the choice only.
static void choose_by_groups(llm_run *r, const float *correction) {
    const llm_config *c = &r->m->c;
    double sum = 1e-20; // as upstream: no division by zero
    for (uint32_t i = 0; i < c->experts; i++) {
        r->router[i] = (float)llm_sigmoid(r->router[i]);
        r->choice[i] = r->router[i] + correction[i];
    }
    mask_groups(r);
    llm_top_k(r->choice, c->experts, c->top_k, r->chosen);
    for (uint32_t i = 0; i < c->top_k; i++) sum += r->router[r->chosen[i]];
    for (uint32_t i = 0; i < c->top_k; i++)
        r->weights[i] = (float)(r->router[r->chosen[i]] / (c->norm_top_k ? sum : 1) * c->routed_scale);
}

void llm_feed_forward(llm_run *r, const llm_layer *l) {
    memset(r->mixed, 0, r->m->c.hidden * sizeof *r->mixed);
    if (l->experts) {
        llm_apply(&l->router, r->normed, r->router);
        if (r->m->c.arch == LLM_GPT_OSS)
            choose_by_logits(r);
        else
            choose_by_groups(r, l->correction);
        for (uint32_t i = 0; i < r->m->c.top_k; i++) add_ffn(r, &l->experts[r->chosen[i]], r->weights[i], r->mixed);
    }
    if (l->dense.gate.out) add_ffn(r, &l->dense, 1, r->mixed);
}
