#include "llm/llm_config.h"

#include "llm/checkpoint.h"

static char error[LLM_ERROR];
static llm_config c;

static bool load(const char *text) {
    checkpoint k;
    ck_begin(&k);
    ck_write_text(&k, "config.json", text);
    bool ok = llm_config_load(k.dir, &c, error);
    ck_end(&k);
    return ok;
}

#define SIZES                                                                                                          \
    "\"num_hidden_layers\": 4, \"hidden_size\": 64, \"vocab_size\": 300, \"max_position_embeddings\": 512, "           \
    "\"num_attention_heads\": 8"
#define LLAMA "{\"model_type\": \"llama\", \"intermediate_size\": 172, " SIZES
#define GPT                                                                                                            \
    "{\"model_type\": \"gpt_oss\", \"intermediate_size\": 48, \"num_local_experts\": 8, \"num_experts_per_tok\": 4, "  \
    "\"sliding_window\": 16, " SIZES
#define SEEK                                                                                                           \
    "{\"model_type\": \"deepseek_v3\", \"intermediate_size\": 128, \"moe_intermediate_size\": 32, \"kv_lora_rank\": "  \
    "24, \"qk_nope_head_dim\": 32, \"qk_rope_head_dim\": 16, \"v_head_dim\": 40, \"n_routed_experts\": 16, "           \
    "\"num_experts_per_tok\": 4, " SIZES

Test(llm_config, llama_with_the_defaults_of_the_format) {
    cr_assert(load(LLAMA "}"), "%s", error);
    cr_assert(c.arch == LLM_LLAMA && c.layers == 4 && c.hidden == 64 && c.vocabulary == 300 && c.positions == 512);
    cr_assert(c.heads == 8 && c.kv_heads == 8 && c.head_dim == 8 && !c.attention_bias && !c.tied);
    cr_assert(c.dense_layers == 4 && c.dense_width == 172 && c.experts == 0 && c.norm_eps == 1e-6);
    cr_assert(c.rope.theta == 10000 && !c.rope.yarn && c.rope.attention_factor == 1 && !c.rope_interleaved);
    cr_assert(c.begin == LLM_NO_TOKEN && c.num_ends == 0);
}

Test(llm_config, llama_with_everything_said) {
    cr_assert(load(LLAMA ", \"num_key_value_heads\": 2, \"head_dim\": 24, \"rms_norm_eps\": 1e-5, "
                         "\"tie_word_embeddings\": true, \"rope_theta\": 5e5, \"bos_token_id\": 7, "
                         "\"eos_token_id\": [8, 9], \"rope_scaling\": null}"),
              "%s", error);
    cr_assert(c.kv_heads == 2 && c.head_dim == 24 && c.norm_eps == 1e-5 && c.tied && c.rope.theta == 5e5);
    cr_assert(c.begin == 7 && c.num_ends == 2 && c.ends[0] == 8 && c.ends[1] == 9);
}

// YaRN's attention factor: 0.1 ln(factor) + 1, unless given or said by two mscales.
Test(llm_config, gpt_oss_with_yarn_and_a_window) {
    cr_assert(load(GPT ", \"rope_parameters\": {\"rope_type\": \"yarn\", \"factor\": 32, \"truncate\": false, "
                       "\"original_max_position_embeddings\": 4096, \"rope_theta\": 150000}, \"eos_token_id\": 1}"),
              "%s", error);
    cr_assert(c.arch == LLM_GPT_OSS && c.experts == 8 && c.top_k == 4 && c.expert_width == 48 && c.dense_layers == 0);
    cr_assert(c.window == 16 && c.slides[0] && !c.slides[1] && c.slides[2] && !c.slides[3]);
    cr_assert(c.rope.yarn && !c.rope.truncate && c.rope.factor == 32 && c.rope.original_positions == 4096);
    cr_assert(c.rope.theta == 150000 && c.rope.beta_fast == 32 && c.rope.beta_slow == 1);
    cr_assert_float_eq(c.rope.attention_factor, 1.3465735902799727, 1e-15);
    cr_assert(c.swiglu_alpha == 1.702 && c.swiglu_limit == 7 && c.num_ends == 1 && c.ends[0] == 1);
    cr_assert(load(GPT ", \"layer_types\": [\"full_attention\", \"full_attention\", \"sliding_attention\", "
                       "\"full_attention\"]}"));
    cr_assert(!c.slides[0] && !c.slides[1] && c.slides[2] && !c.slides[3]);
    cr_assert(load(GPT ", \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 32, \"attention_factor\": 1.5}}"));
    cr_assert(c.rope.attention_factor == 1.5 && c.rope.truncate && c.rope.original_positions == 512);
}

Test(llm_config, deepseek_v3_with_latent_attention_and_groups) {
    cr_assert(load(SEEK ", \"q_lora_rank\": 20, \"first_k_dense_replace\": 1, \"n_shared_experts\": 2, \"n_group\": 4, "
                        "\"topk_group\": 2, \"routed_scaling_factor\": 2.5, \"norm_topk_prob\": false, "
                        "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 40, \"mscale\": 1.0, "
                        "\"mscale_all_dim\": 1.0}}"),
              "%s", error);
    cr_assert(c.arch == LLM_DEEPSEEK_V3 && c.q_rank == 20 && c.kv_rank == 24 && c.nope_dim == 32 && c.rope_dim == 16 &&
              c.v_dim == 40);
    cr_assert(c.dense_layers == 1 && c.dense_width == 128 && c.experts == 16 && c.top_k == 4 && c.expert_width == 32);
    cr_assert(c.shared_experts == 2 && c.groups == 4 && c.top_groups == 2 && c.routed_scale == 2.5 && !c.norm_top_k);
    cr_assert(c.rope_interleaved && c.rope.attention_factor == 1 && c.rope.mscale_all_dim == 1);
    cr_assert(load(SEEK ", \"rope_interleave\": false, \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 40, "
                        "\"mscale\": 0.5, \"mscale_all_dim\": 1.0}}"));
    cr_assert(c.q_rank == 0 && c.dense_layers == 0 && c.groups == 1 && c.top_groups == 1 && !c.rope_interleaved);
    cr_assert_float_eq(c.rope.attention_factor, (1 + 0.05 * log(40)) / (1 + 0.1 * log(40)), 1e-15);
}

// ---- refusals: one line with the file, the key and what was expected
static void refused(const char *text, const char *key, const char *want) {
    char both[256];
    snprintf(both, sizeof both, "config.json: %s: expected %s", key, want);
    cr_assert_not(load(text), "%s", text);
    cr_assert(strstr(error, both), "got \"%s\", expected \"%s\"", error, both);
    cr_assert_null(strchr(error, '\n'));
}

Test(llm_config, refuses_what_the_reference_does_not_have) {
    refused("{\"model_type\": \"mamba\", " SIZES "}", "model_type", "\"llama\", \"gpt_oss\" or \"deepseek_v3\"");
    refused("{" SIZES "}", "model_type", "\"llama\"");
    refused(LLAMA ", \"hidden_act\": \"gelu\"}", "hidden_act", "\"silu\"");
    refused(LLAMA ", \"mlp_bias\": true}", "mlp_bias", "false");
    refused(LLAMA ", \"quantization_config\": {}}", "quantization_config", "none");
    refused(LLAMA ", \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8}}", "rope_type", "\"default\" or");
    refused(SEEK ", \"attention_bias\": true}", "attention_bias", "false");
    refused(SEEK ", \"scoring_func\": \"softmax\"}", "scoring_func", "\"sigmoid\"");
    refused(SEEK ", \"topk_method\": \"greedy\"}", "topk_method", "\"noaux_tc\"");
    refused(SEEK ", \"moe_layer_freq\": 2}", "moe_layer_freq", "1");
    refused(GPT ", \"layer_types\": [\"a\", \"b\", \"c\", \"d\"]}", "layer_types", "\"sliding_attention\"");
}

Test(llm_config, refuses_sizes_that_cannot_be) {
    refused("{\"model_type\": \"llama\"}", "num_hidden_layers", "a whole number from 1");
    refused("{\"num_hidden_layers\": -1}", "num_hidden_layers", "a whole number");
    refused("{\"num_hidden_layers\": 1.5}", "num_hidden_layers", "a whole number");
    refused("{\"num_hidden_layers\": 257}", "num_hidden_layers", "at most 256");
    refused("{\"num_hidden_layers\": 99999999999}", "num_hidden_layers", "a whole number");
    refused(LLAMA ", \"num_key_value_heads\": 3}", "num_key_value_heads", "a divisor");
    refused(LLAMA ", \"num_key_value_heads\": 0}", "num_key_value_heads", "a divisor");
    refused(LLAMA ", \"head_dim\": 7}", "head_dim", "an even number");
    refused(LLAMA ", \"rms_norm_eps\": 0}", "rms_norm_eps", "a number above 0");
    refused(LLAMA ", \"tie_word_embeddings\": 1}", "tie_word_embeddings", "true or false");
    refused(LLAMA ", \"bos_token_id\": 300}", "bos_token_id", "a token below vocab_size");
    refused(LLAMA ", \"eos_token_id\": [1, -1]}", "eos_token_id", "a token below vocab_size");
    refused(LLAMA ", \"eos_token_id\": [1, 1, 1, 1, 1, 1, 1, 1, 1]}", "eos_token_id", "at most 8");
    refused(LLAMA ", \"rope_scaling\": {\"type\": \"yarn\"}}", "factor", "a number above 0");
    refused(GPT ", \"layer_types\": [\"full_attention\"]}", "layer_types", "one for each layer");
    refused(SEEK ", \"n_group\": 3}", "n_group", "a divisor of n_routed_experts");
    refused(SEEK ", \"n_group\": 16}", "n_group", "a divisor of n_routed_experts, two experts");
    refused(SEEK ", \"n_group\": 4, \"topk_group\": 5}", "topk_group", "1 to n_group");
    refused(SEEK ", \"n_group\": 8, \"topk_group\": 1}", "num_experts_per_tok", "at most the experts of topk_group");
    refused(SEEK ", \"first_k_dense_replace\": 5}", "first_k_dense_replace", "at most num_hidden_layers");
}

Test(llm_config, refuses_files_that_are_not_json) {
    checkpoint k;
    ck_begin(&k);
    cr_assert_not(llm_config_load(k.dir, &c, error));
    cr_assert(strstr(error, "config.json: expected a file that can be read"), "%s", error);
    ck_end(&k);
    cr_assert_not(load("{\n\"a\": 1,\n}"));
    cr_assert(strstr(error, "config.json:3: expected JSON"), "%s", error);
    cr_assert_not(load("{\"a\": 1, \"a\": 2}"));
    cr_assert_not(load("[]"));
}
