#include "llm/llm_config.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *path;
    const json_t *root;
    char *error;
    bool failed;
} reader;

static void fail(reader *r, const char *key, const char *want) {
    if (!r->failed) snprintf(r->error, LLM_ERROR, "%.256s: %s: expected %s", r->path, key, want);
    r->failed = true;
}

// ---- values: absent and null take the default
static const json_t *value_of(const json_t *o, const char *key) {
    const json_t *v = json_object_get(o, key);
    return json_is_null(v) ? NULL : v;
}

static uint32_t number_or(reader *r, const char *key, uint32_t absent) {
    const json_t *v = value_of(r->root, key);
    if (!v) return absent;
    if (json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= 1 << 24)
        return (uint32_t)json_integer_value(v);
    fail(r, key, "a whole number from 0 to 2^24");
    return 0;
}

static uint32_t positive(reader *r, const char *key) {
    uint32_t v = number_or(r, key, 0);
    if (v == 0) fail(r, key, "a whole number from 1 to 2^24");
    return v;
}

static bool truth_or(reader *r, const json_t *o, const char *key, bool absent) {
    const json_t *v = value_of(o, key);
    if (v && !json_is_boolean(v)) fail(r, key, "true or false");
    return v ? json_is_true(v) : absent;
}

// Above zero.
static double real_or(reader *r, const json_t *o, const char *key, double absent) {
    const json_t *v = value_of(o, key);
    double x = v ? json_number_value(v) : absent;
    if (!(x > 0) || !isfinite(x)) fail(r, key, "a number above 0");
    return x;
}

static const char *text_or(const json_t *o, const char *key, const char *absent) {
    const char *text = json_string_value(value_of(o, key));
    return text ? text : absent;
}

// ---- rope
static double yarn_scale(double factor, double mscale) {
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static void read_rope(reader *r, llm_config *c) {
    const json_t *o = value_of(r->root, "rope_parameters");
    if (!o) o = value_of(r->root, "rope_scaling"); // the older name, theta beside it
    c->rope.theta = real_or(r, value_of(o, "rope_theta") ? o : r->root, "rope_theta", 10000);
    const char *type = text_or(o, "rope_type", text_or(o, "type", "default"));
    c->rope.attention_factor = 1;
    if (!strcmp(type, "default")) return;
    if (strcmp(type, "yarn")) {
        fail(r, "rope_type", "\"default\" or \"yarn\"");
        return;
    }
    c->rope.yarn = true;
    c->rope.factor = real_or(r, o, "factor", 0);
    c->rope.beta_fast = real_or(r, o, "beta_fast", 32);
    c->rope.beta_slow = real_or(r, o, "beta_slow", 1);
    c->rope.original_positions = real_or(r, o, "original_max_position_embeddings", c->positions);
    c->rope.truncate = truth_or(r, o, "truncate", true);
    if (value_of(o, "mscale_all_dim")) c->rope.mscale_all_dim = real_or(r, o, "mscale_all_dim", 0);
    bool both = value_of(o, "mscale") && value_of(o, "mscale_all_dim");
    double absent = both ? yarn_scale(c->rope.factor, real_or(r, o, "mscale", 0)) /
                               yarn_scale(c->rope.factor, c->rope.mscale_all_dim)
                         : yarn_scale(c->rope.factor, 1);
    c->rope.attention_factor = real_or(r, o, "attention_factor", absent);
}

// ---- attention
static void read_heads(reader *r, llm_config *c) {
    c->heads = positive(r, "num_attention_heads");
    c->kv_heads = number_or(r, "num_key_value_heads", c->heads);
    c->head_dim = number_or(r, "head_dim", c->heads ? c->hidden / c->heads : 0);
    if (!c->kv_heads || c->heads % c->kv_heads) fail(r, "num_key_value_heads", "a divisor of num_attention_heads");
    if (!c->head_dim || c->head_dim % 2) fail(r, "head_dim", "an even number");
    c->attention_bias = truth_or(r, r->root, "attention_bias", false);
}

static void read_latent(reader *r, llm_config *c) {
    c->heads = positive(r, "num_attention_heads");
    c->q_rank = number_or(r, "q_lora_rank", 0);
    c->kv_rank = positive(r, "kv_lora_rank");
    c->nope_dim = positive(r, "qk_nope_head_dim");
    c->rope_dim = positive(r, "qk_rope_head_dim");
    c->v_dim = positive(r, "v_head_dim");
    if (c->rope_dim % 2) fail(r, "qk_rope_head_dim", "an even number");
    c->rope_interleaved = truth_or(r, r->root, "rope_interleave", true);
    if (truth_or(r, r->root, "attention_bias", false)) fail(r, "attention_bias", "false");
}

static void read_window(reader *r, llm_config *c) {
    const json_t *types = value_of(r->root, "layer_types");
    c->window = positive(r, "sliding_window");
    if (types && json_array_size(types) != c->layers) fail(r, "layer_types", "one for each layer");
    for (uint32_t i = 0; i < c->layers && !r->failed; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        c->slides[i] = type ? !strcmp(type, "sliding_attention") : i % 2 == 0;
        if (types && (!type || (!c->slides[i] && strcmp(type, "full_attention"))))
            fail(r, "layer_types", "\"sliding_attention\" or \"full_attention\"");
    }
}

// ---- experts
static void read_groups(reader *r, llm_config *c) {
    c->shared_experts = number_or(r, "n_shared_experts", 0);
    c->groups = number_or(r, "n_group", 1);
    c->top_groups = number_or(r, "topk_group", 1);
    c->norm_top_k = truth_or(r, r->root, "norm_topk_prob", true);
    c->routed_scale = real_or(r, r->root, "routed_scaling_factor", 1);
    if (!c->groups || c->experts % c->groups || c->experts / c->groups < 2)
        fail(r, "n_group", "a divisor of n_routed_experts, two experts or more in a group");
    if (!c->top_groups || c->top_groups > c->groups) fail(r, "topk_group", "1 to n_group");
    if (!r->failed && c->top_k > c->experts / c->groups * c->top_groups)
        fail(r, "num_experts_per_tok", "at most the experts of topk_group groups");
    const char *scoring = text_or(r->root, "scoring_func", "sigmoid");
    const char *method = text_or(r->root, "topk_method", "noaux_tc");
    if (strcmp(scoring, "sigmoid")) fail(r, "scoring_func", "\"sigmoid\"");
    if (strcmp(method, "noaux_tc")) fail(r, "topk_method", "\"noaux_tc\"");
}

static void read_experts(reader *r, llm_config *c, const char *count, const char *width) {
    c->experts = positive(r, count);
    c->top_k = positive(r, "num_experts_per_tok");
    c->expert_width = positive(r, width);
    if (c->top_k > c->experts) fail(r, "num_experts_per_tok", "at most the experts");
}

static void read_arch(reader *r, llm_config *c) {
    const char *type = text_or(r->root, "model_type", "");
    if (!strcmp(type, "llama")) {
        c->arch = LLM_LLAMA;
        read_heads(r, c);
        c->dense_layers = c->layers;
        c->dense_width = positive(r, "intermediate_size");
        if (truth_or(r, r->root, "mlp_bias", false)) fail(r, "mlp_bias", "false");
    } else if (!strcmp(type, "gpt_oss")) {
        c->arch = LLM_GPT_OSS;
        read_heads(r, c);
        read_window(r, c);
        read_experts(r, c, "num_local_experts", "intermediate_size");
        c->swiglu_alpha = real_or(r, r->root, "swiglu_alpha", 1.702);
        c->swiglu_limit = real_or(r, r->root, "swiglu_limit", 7);
    } else if (!strcmp(type, "deepseek_v3")) {
        c->arch = LLM_DEEPSEEK_V3;
        read_latent(r, c);
        read_experts(r, c, "n_routed_experts", "moe_intermediate_size");
        read_groups(r, c);
        c->dense_layers = number_or(r, "first_k_dense_replace", 0);
        if (c->dense_layers) c->dense_width = positive(r, "intermediate_size");
        if (c->dense_layers > c->layers) fail(r, "first_k_dense_replace", "at most num_hidden_layers");
        if (number_or(r, "moe_layer_freq", 1) != 1) fail(r, "moe_layer_freq", "1");
    } else
        fail(r, "model_type", "\"llama\", \"gpt_oss\" or \"deepseek_v3\"");
}

static uint32_t token(reader *r, const char *key, const json_t *v, uint32_t vocabulary) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= vocabulary) {
        fail(r, key, "a token below vocab_size");
        return LLM_NO_TOKEN;
    }
    return (uint32_t)json_integer_value(v);
}

static void read_ends(reader *r, llm_config *c) {
    const json_t *begin = value_of(r->root, "bos_token_id"), *end = value_of(r->root, "eos_token_id");
    c->begin = begin ? token(r, "bos_token_id", begin, c->vocabulary) : LLM_NO_TOKEN;
    bool list = json_is_array(end);
    if (list && json_array_size(end) > LLM_MAX_ENDS) fail(r, "eos_token_id", "at most 8 tokens");
    size_t count = r->failed || !end ? 0 : list ? json_array_size(end) : 1;
    for (size_t i = 0; i < count; i++)
        c->ends[c->num_ends++] = token(r, "eos_token_id", list ? json_array_get(end, i) : end, c->vocabulary);
}

static void read_config(reader *r, llm_config *c) {
    c->layers = positive(r, "num_hidden_layers");
    if (c->layers > LLM_MAX_LAYERS) fail(r, "num_hidden_layers", "at most 256");
    c->hidden = positive(r, "hidden_size");
    c->vocabulary = positive(r, "vocab_size");
    c->positions = positive(r, "max_position_embeddings");
    c->norm_eps = real_or(r, r->root, "rms_norm_eps", 1e-6);
    c->tied = truth_or(r, r->root, "tie_word_embeddings", false);
    if (strcmp(text_or(r->root, "hidden_act", "silu"), "silu")) fail(r, "hidden_act", "\"silu\"");
    if (value_of(r->root, "quantization_config")) fail(r, "quantization_config", "none: F32, BF16 or F16 weights");
    if (!r->failed) read_ends(r, c);
    if (!r->failed) read_arch(r, c);
    if (!r->failed) read_rope(r, c);
}

bool llm_config_load(const char *dir, llm_config *out, char error[LLM_ERROR]) {
    char path[4096];
    json_error_t at;
    memset(out, 0, sizeof *out);
    snprintf(path, sizeof path, "%.4000s/config.json", dir);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
    if (!root) {
        if (at.line < 1)
            snprintf(error, LLM_ERROR, "%.300s: expected a file that can be read", path);
        else
            snprintf(error, LLM_ERROR, "%.300s:%d: expected JSON, %.120s", path, at.line, at.text);
        return false;
    }
    reader r = {.path = path, .root = root, .error = error};
    read_config(&r, out);
    json_decref(root);
    return !r.failed;
}
