// Facts of language models, from models/*.json.
#ifndef WORKLOAD_MODEL_H
#define WORKLOAD_MODEL_H
#include <stdbool.h>
#include <stdint.h>

#include "common/isa.h"

enum { MODEL_NAME = 32, MODEL_ERROR = 512 };

typedef enum { ATTENTION_GQA, ATTENTION_MLA } model_attention;

typedef struct {
    char name[MODEL_NAME];
    uint32_t layers, hidden, vocabulary, context;
    model_attention attention;
    uint32_t query_heads, kv_heads, head_dim;              // GQA
    uint32_t q_rank, kv_rank, nope_dim, rope_dim, v_dim;   // MLA, with query_heads
    bool attention_bias, sinks;                            // biases on q, k, v, o; a learned sink per query head
    uint32_t window;                                       // keys of a sliding layer, 0 where there is none
    bool even_layers_slide;                                // even layers slide, odd ones are full
    uint32_t experts, top_k, shared_experts, expert_width; // routed; shared ones have the same width
    bool router_bias, expert_bias;                         // router_bias: of the router or its correction
    fmt_id expert_fmt; // as stored, the formats of routed experts; other weights run in 8 bits
    scale_id expert_scale;
    uint32_t dense_layers, dense_width; // the first layers
} model_facts;

// Reads DIR/NAME.json. False with one line in error that says which file, where, what was expected.
bool model_load(const char *dir, const char *name, model_facts *out, char error[MODEL_ERROR]);

// All parameters; those that take part in a token: everything but the embedding table and the experts not chosen.
uint64_t model_parameters(const model_facts *m);
uint64_t model_active_parameters(const model_facts *m);
// Elements of keys and values that a token leaves in all layers together.
uint64_t model_kv_elements(const model_facts *m);
#endif
