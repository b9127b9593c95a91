// What the files of this room share: weights in memory, and the operators.
#ifndef LLM_LLM_PARTS_H
#define LLM_LLM_PARTS_H
#include <stddef.h>

#include "llm/llm.h"

// y[out] = w[out][in] x[in] + bias[out]; bias may be NULL.
typedef struct {
    const float *w, *bias;
    uint32_t in, out;
} llm_linear;

typedef struct {
    llm_linear gate, up, down;
} llm_ffn;

typedef struct {
    const float *norm_in, *norm_post;  // [hidden]
    llm_linear q, k, v, o;             // q: of MLA too where q_rank is 0
    const float *sinks;                // [heads] or NULL
    llm_linear q_a, q_b, kv_a, kv_b;   // MLA; kv_b rows: per head nope_dim of the key, then v_dim
    const float *q_a_norm, *kv_a_norm; // [q_rank], [kv_rank]
    llm_linear router;
    const float *correction; // [experts], deepseek_v3
    llm_ffn *experts;        // [experts], or NULL in a dense layer
    llm_ffn dense;           // the dense layer's, or the shared experts' as one
} llm_layer;

struct llm {
    llm_config c;
    float **owned; // every array below
    size_t num_owned;
    uint64_t parameters;
    const float *embedding, *norm; // [vocabulary][hidden], [hidden]
    llm_linear head;
    llm_layer *layers;
    float *frequencies; // [rotated dimensions / 2]
};

struct llm_run {
    const llm *m;
    llm_mla form;
    uint32_t positions, at; // at: tokens taken
    uint32_t key_width, value_width;
    float **keys, **values;    // [layers] of [positions][key_width], [positions][value_width]
    float *x, *normed, *mixed; // [hidden]
    float *q, *heads, *latent; // [heads][head width], [heads][value], scratch
    float *scores;             // [positions]
    float *gate, *up;          // [widest ffn]
    float *router, *choice;    // [experts]
    float *sums;               // [groups]
    uint32_t *kept;            // [top_groups]
    uint32_t *chosen;          // [top_k]
    float *weights;            // [top_k]
};

// ---- llm_load.c
bool llm_load(llm *m, const char *dir, fmt_id weights, char error[LLM_ERROR]);

// ---- llm_math.c
void llm_apply(const llm_linear *l, const float *x, float *y);
double llm_dot(const float *a, const float *b, uint32_t n);
// y = x / rms(x) * gain; y may be x.
void llm_rms_norm(const float *x, const float *gain, uint32_t n, double eps, float *y);
// In place; with a sink, whose share is left out.
void llm_softmax(float *x, uint32_t n, const float *sink);
double llm_sigmoid(double x);
// The k largest, in descending order; of equals the lowest index first. NaN never wins.
void llm_top_k(const float *x, uint32_t n, uint32_t k, uint32_t *chosen);
// Angles a position: [dim / 2].
void llm_rope_frequencies(const llm_rope *rope, uint32_t dim, float *out);
// Turns pairs of x[dim] by position, in place.
void llm_rotate(const llm *m, uint32_t position, uint32_t dim, float *x);

// The latent norms of MLA keep their own epsilon, whatever rms_norm_eps says, as in Hugging Face's code.
#define LLM_LATENT_EPS 1e-6
// What multiplies a score in front of the softmax.
double llm_score_scale(const llm_config *c);
// ---- llm_attention.c, llm_experts.c: r->normed in, r->mixed out
void llm_attention_gqa(llm_run *r, uint32_t layer);
void llm_attention_mla(llm_run *r, uint32_t layer);
void llm_feed_forward(llm_run *r, const llm_layer *l);
#endif
