// Small models of random weights.
#ifndef TESTS_LLM_MADE_MODELS_H
#define TESTS_LLM_MADE_MODELS_H
#include "llm/checkpoint.h"

#define MADE_COMMON                                                                                                    \
    "\"hidden_size\": 24, \"vocab_size\": 40, \"max_position_embeddings\": 64, \"num_attention_heads\": 4"

static inline void put_frame(checkpoint *k) {
    ck_put(k, "model.embed_tokens.weight", 40, 24, 0, 0, 1);
    ck_put(k, "lm_head.weight", 40, 24, 0, 0, 1);
    ck_put(k, "model.norm.weight", 24, 0, 0, 1, 0.2f);
}

static inline void put_layer(checkpoint *k, int layer, const char *name, unsigned d0, unsigned d1, unsigned d2,
                             float mean, float spread) {
    char full[128];
    snprintf(full, sizeof full, "model.layers.%d.%s", layer, name);
    ck_put(k, full, d0, d1, d2, mean, spread);
}

static inline void put_norms(checkpoint *k, int layer) {
    put_layer(k, layer, "input_layernorm.weight", 24, 0, 0, 1, 0.2f);
    put_layer(k, layer, "post_attention_layernorm.weight", 24, 0, 0, 1, 0.2f);
}

// Two layers; queries of rank 12 where ranked; one dense layer, then eight experts in four groups and a shared one.
static inline void make_deepseek(checkpoint *k, bool ranked, const char *more) {
    char config[1024];
    ck_begin(k);
    snprintf(config, sizeof config,
             "{\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 2, %s, \"intermediate_size\": 20, "
             "\"moe_intermediate_size\": 10, \"q_lora_rank\": %s, \"kv_lora_rank\": 14, \"qk_nope_head_dim\": 6, "
             "\"qk_rope_head_dim\": 4, \"v_head_dim\": 5, \"n_routed_experts\": 8, \"num_experts_per_tok\": 2, "
             "\"n_group\": 4, \"topk_group\": 1, \"n_shared_experts\": 1, \"first_k_dense_replace\": 1, "
             "\"routed_scaling_factor\": 2.5%s}",
             MADE_COMMON, ranked ? "12" : "null", more);
    ck_write_text(k, "config.json", config);
    put_frame(k);
    for (int l = 0; l < 2; l++) {
        put_norms(k, l);
        if (ranked) {
            put_layer(k, l, "self_attn.q_a_proj.weight", 12, 24, 0, 0, 0.5f);
            put_layer(k, l, "self_attn.q_a_layernorm.weight", 12, 0, 0, 1, 0.2f);
            put_layer(k, l, "self_attn.q_b_proj.weight", 40, 12, 0, 0, 1);
        } else
            put_layer(k, l, "self_attn.q_proj.weight", 40, 24, 0, 0, 0.5f);
        put_layer(k, l, "self_attn.kv_a_proj_with_mqa.weight", 18, 24, 0, 0, 0.5f);
        put_layer(k, l, "self_attn.kv_a_layernorm.weight", 14, 0, 0, 1, 0.2f);
        put_layer(k, l, "self_attn.kv_b_proj.weight", 44, 14, 0, 0, 1);
        put_layer(k, l, "self_attn.o_proj.weight", 24, 20, 0, 0, 1);
    }
    put_layer(k, 0, "mlp.gate_proj.weight", 20, 24, 0, 0, 1);
    put_layer(k, 0, "mlp.up_proj.weight", 20, 24, 0, 0, 1);
    put_layer(k, 0, "mlp.down_proj.weight", 24, 20, 0, 0, 1);
    put_layer(k, 1, "mlp.gate.weight", 8, 24, 0, 0, 1);
    put_layer(k, 1, "mlp.gate.e_score_correction_bias", 8, 0, 0, 0, 0.1f);
    put_layer(k, 1, "mlp.shared_experts.gate_proj.weight", 10, 24, 0, 0, 1);
    put_layer(k, 1, "mlp.shared_experts.up_proj.weight", 10, 24, 0, 0, 1);
    put_layer(k, 1, "mlp.shared_experts.down_proj.weight", 24, 10, 0, 0, 1);
}

static inline void put_experts_as_one(checkpoint *k) {
    put_layer(k, 1, "mlp.experts.gate_up_proj", 8, 20, 24, 0, 1);
    put_layer(k, 1, "mlp.experts.down_proj", 8, 24, 10, 0, 1);
}

// One layer, four experts, a window of `window`.
static inline void make_gpt_oss(checkpoint *k, unsigned window) {
    char config[1024];
    ck_begin(k);
    snprintf(config, sizeof config,
             "{\"model_type\": \"gpt_oss\", \"num_hidden_layers\": 1, %s, \"num_key_value_heads\": 2, \"head_dim\": 6, "
             "\"intermediate_size\": 10, \"num_local_experts\": 4, \"num_experts_per_tok\": 2, \"sliding_window\": %u, "
             "\"attention_bias\": true}",
             MADE_COMMON, window);
    ck_write_text(k, "config.json", config);
    put_frame(k);
    put_norms(k, 0);
    static const char *const names[] = {"q", "k", "v", "o"};
    static const unsigned outs[] = {24, 12, 12, 24};
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "self_attn.%s_proj.weight", names[i]);
        put_layer(k, 0, name, outs[i], 24, 0, 0, 1);
        snprintf(name, sizeof name, "self_attn.%s_proj.bias", names[i]);
        put_layer(k, 0, name, outs[i], 0, 0, 0, 1);
    }
    put_layer(k, 0, "self_attn.sinks", 4, 0, 0, 0, 1);
    put_layer(k, 0, "mlp.router.weight", 4, 24, 0, 0, 1);
    put_layer(k, 0, "mlp.router.bias", 4, 0, 0, 0, 1);
    put_layer(k, 0, "mlp.experts.gate_up_proj", 4, 24, 20, 0, 1);
    put_layer(k, 0, "mlp.experts.gate_up_proj_bias", 4, 20, 0, 0, 1);
    put_layer(k, 0, "mlp.experts.down_proj", 4, 10, 24, 0, 1);
    put_layer(k, 0, "mlp.experts.down_proj_bias", 4, 24, 0, 0, 1);
}
// One layer, a head tied to the embedding, and a vocabulary of control tokens, bytes, " ", "a", "b".
static inline void make_llama(checkpoint *k) {
    enum { VOCABULARY = 3 + 256 + 3 };
    static const char *const rest[] = {"\" \"", "\"a\"", "\"b\""};
    char text[1 << 14] =
        "[{\"piece\":\"<unk>\",\"score\":0},{\"piece\":\"<s>\",\"score\":0},{\"piece\":\"</s>\",\"score\":0}";
    size_t at = strlen(text);
    ck_begin(k);
    ck_write_text(k, "config.json",
                  "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 8, \"vocab_size\": 262, "
                  "\"max_position_embeddings\": 32, \"num_attention_heads\": 2, \"intermediate_size\": 12, "
                  "\"tie_word_embeddings\": true, \"bos_token_id\": 1, \"eos_token_id\": 2}");
    for (unsigned i = 0; i < 256 + 3; i++) {
        char byte[16];
        snprintf(byte, sizeof byte, "\"<0x%02X>\"", i);
        at += (size_t)snprintf(text + at, sizeof text - at, ",{\"piece\":%s,\"score\":-1}",
                               i < 256 ? byte : rest[i - 256]);
    }
    snprintf(text + at, sizeof text - at, "]");
    ck_write_text(k, "vocab.json", text);
    ck_put(k, "model.embed_tokens.weight", VOCABULARY, 8, 0, 0, 1);
    ck_put(k, "model.norm.weight", 8, 0, 0, 1, 0.2f);
    put_layer(k, 0, "input_layernorm.weight", 8, 0, 0, 1, 0.2f);
    put_layer(k, 0, "post_attention_layernorm.weight", 8, 0, 0, 1, 0.2f);
    static const char *const square[] = {"q", "k", "v", "o"};
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "self_attn.%s_proj.weight", square[i]);
        put_layer(k, 0, name, 8, 8, 0, 0, 1);
    }
    put_layer(k, 0, "mlp.gate_proj.weight", 12, 8, 0, 0, 1);
    put_layer(k, 0, "mlp.up_proj.weight", 12, 8, 0, 0, 1);
    put_layer(k, 0, "mlp.down_proj.weight", 8, 12, 0, 0, 1);
    ck_write(k, "model.safetensors", 0);
}
#endif
