// CONFIGS: mini
// Language models compiled for the chip, against the functional reference: every program passes the checker, logits
// stay as close as the formats allow, RTL and twin are equal.
#include "chip/speaker.h"

#include "llm/made_models.h"
#include "llm/safetensors.h"

static char error[LLM_ERROR];

typedef struct {
    const llm *m;
    llm_run *reference;
    float *logits; // of the reference
    const uint32_t *ids;
    uint32_t count, taken;
    double each[512];                              // relative error of a position's logits
    double off, all, surprise, surprise_reference; // sums of squares; of -log p of the next token
} listener;

static bool step(void *context, const float *logits, speaker_step *next) {
    listener *l = context;
    uint32_t n = llm_config_of(l->m)->vocabulary;
    double apart = 0, all = 0;
    for (uint32_t i = 0; logits && i < n; i++) {
        apart += ((double)logits[i] - l->logits[i]) * ((double)logits[i] - l->logits[i]);
        all += (double)l->logits[i] * l->logits[i];
    }
    if (logits) l->each[l->taken - 1] = sqrt(apart / all);
    l->off += apart;
    l->all += all;
    if (logits && l->taken < l->count) {
        l->surprise += llm_surprise(logits, n, l->ids[l->taken]);
        l->surprise_reference += llm_surprise(l->logits, n, l->ids[l->taken]);
    }
    if (l->taken == l->count) return false;
    *next = (speaker_step){l->ids[l->taken], l->taken};
    llm_step(l->reference, l->ids[l->taken++], l->logits, NULL);
    return true;
}

// Takes these tokens; fills in the listener's sums.
static speaker_result *listen(const char *dir, const compiler_options *o, harness_backend backend, const uint32_t *ids,
                              uint32_t count, listener *l) {
    char why[COMPILER_ERROR];
    llm *m = llm_open(dir, NUM_FMTS, error);
    cr_assert(m, "%s", error);
    compiled *c = compile(m, o, why);
    cr_assert(c, "%s", why);
    llm *rounded = llm_open(dir, o->weights, error); // the same weights as on the chip, so that only activations differ
    cr_assert(rounded, "%s", error);
    uint32_t vocabulary = llm_config_of(m)->vocabulary;
    *l = (listener){.m = m, .ids = ids, .count = count};
    l->reference = llm_start(rounded, count, LLM_EXPANDED);
    l->logits = malloc(vocabulary * sizeof *l->logits);
    speaker_options options = {.chip = {.backend = backend, .seed = 3}, .step = step, .context = l};
    speaker_result *r = malloc(sizeof *r);
    cr_assert_eq(speaker_run(c, vocabulary, &options, r), HARNESS_OK, "%s", r->run.text);
    cr_assert_eq(r->steps, count);
    free(l->logits);
    llm_end(l->reference);
    compiled_free(c);
    llm_close(rounded);
    llm_close(m);
    return r;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Relative error of the middle position: rounding may turn a choice of experts at some, a fault shows at most.
static double median(listener *l) {
    qsort(l->each, l->count, sizeof *l->each, ascending);
    return l->each[l->count / 2];
}

// ---- made models
typedef struct {
    unsigned layers, heads, kv_heads, head_dim, width, vocabulary;
} shape;
enum { HIDDEN = 64 };

static void make(checkpoint *k, const shape *s) {
    char config[512];
    ck_begin(k);
    snprintf(
        config, sizeof config,
        "{\"model_type\": \"llama\", \"num_hidden_layers\": %u, \"hidden_size\": %d, \"vocab_size\": %u, "
        "\"max_position_embeddings\": 128, \"num_attention_heads\": %u, \"num_key_value_heads\": %u, \"head_dim\": "
        "%u, \"intermediate_size\": %u, \"tie_word_embeddings\": true, \"bos_token_id\": 1, \"eos_token_id\": 2}",
        s->layers, HIDDEN, s->vocabulary, s->heads, s->kv_heads, s->head_dim, s->width);
    ck_write_text(k, "config.json", config);
    ck_put(k, "model.embed_tokens.weight", s->vocabulary, HIDDEN, 0, 0, 1);
    ck_put(k, "model.norm.weight", HIDDEN, 0, 0, 1, 0.2f);
    unsigned q = s->heads * s->head_dim, kv = s->kv_heads * s->head_dim;
    for (unsigned l = 0; l < s->layers; l++) {
        put_layer(k, (int)l, "input_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
        put_layer(k, (int)l, "post_attention_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
        put_layer(k, (int)l, "self_attn.q_proj.weight", q, HIDDEN, 0, 0, 0.4f);
        put_layer(k, (int)l, "self_attn.k_proj.weight", kv, HIDDEN, 0, 0, 0.4f);
        put_layer(k, (int)l, "self_attn.v_proj.weight", kv, HIDDEN, 0, 0, 0.4f);
        put_layer(k, (int)l, "self_attn.o_proj.weight", HIDDEN, q, 0, 0, 0.4f);
        put_layer(k, (int)l, "mlp.gate_proj.weight", s->width, HIDDEN, 0, 0, 0.4f);
        put_layer(k, (int)l, "mlp.up_proj.weight", s->width, HIDDEN, 0, 0, 0.4f);
        put_layer(k, (int)l, "mlp.down_proj.weight", HIDDEN, s->width, 0, 0, 0.4f);
    }
    ck_write(k, "model.safetensors", 0);
}

// Random tokens through a made model, which is removed; fills in the listener's sums.
static void hear(checkpoint *k, const compiler_options *o, uint32_t vocabulary, harness_backend backend, uint32_t count,
                 listener *l) {
    uint32_t ids[128];
    for (uint32_t i = 0; i < count; i++) ids[i] = (uint32_t)rng_below(&k->rng, vocabulary);
    speaker_result *r = listen(k->dir, o, backend, ids, count, l);
    cr_assert_eq(r->run.mismatches, 0);
    if (backend == HARNESS_BOTH) cr_assert_gt(r->run.rows_compared, count * vocabulary / 8);
    free(r);
    ck_end(k);
}

// Relative L2 error of all logits over `count` positions.
static double off(const shape *s, fmt_id weights, fmt_id activations, harness_backend backend, uint32_t count) {
    checkpoint k;
    listener l;
    make(&k, s);
    hear(&k, &(compiler_options){weights, activations, 128}, s->vocabulary, backend, count, &l);
    return sqrt(l.off / l.all);
}

static const shape shapes[] = {{2, 4, 2, 16, 44, 70}, {1, 8, 4, 8, 100, 64}, {1, 2, 1, 32, 33, 17},
                               {1, 6, 2, 8, 16, 300}, {1, 4, 4, 64, 64, 40}, {1, 3, 1, 48, 20, 33}};

// Over two borders of blocks of positions.
static void follows(int number) {
    double got = off(&shapes[number], FMT_BF16, FMT_BF16, HARNESS_TWIN, 70);
    cr_assert_lt(got, 0.03, "shape %d: %g", number, got);
}
Test(speaker, follows_the_reference_0) {
    follows(0);
}
Test(speaker, follows_the_reference_1) {
    follows(1);
}
Test(speaker, follows_the_reference_2) {
    follows(2);
}
Test(speaker, follows_the_reference_3) {
    follows(3);
}
Test(speaker, follows_the_reference_4) {
    follows(4);
}
Test(speaker, follows_the_reference_5) {
    follows(5);
}

Test(speaker, every_format_of_weights) {
    static const fmt_id formats[] = {FMT_INT8, FMT_E4M3, FMT_E5M2, FMT_INT4, FMT_E2M1};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        double got = off(&shapes[0], formats[i], FMT_BF16, HARNESS_TWIN, 12);
        cr_expect_lt(got, 0.03, "format %d: %g", formats[i], got);
    }
}

Test(speaker, every_format_of_activations) {
    static const fmt_id formats[] = {FMT_BF16, FMT_INT8, FMT_E4M3, FMT_E5M2};
    static const double most[] = {0.03, 0.08, 0.15, 0.3};
    double before = 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        double got = off(&shapes[0], FMT_BF16, formats[i], HARNESS_TWIN, 12);
        cr_expect(got > before && got < most[i], "format %d: %g", formats[i], got);
        before = got;
    }
}

Test(speaker, rtl_equals_its_twin) {
    cr_assert_lt(off(&shapes[0], FMT_E4M3, FMT_INT8, HARNESS_BOTH, 3), 0.08);
    cr_assert_lt(off(&shapes[3], FMT_INT4, FMT_E4M3, HARNESS_BOTH, 2), 0.15);
}

// ---- gpt_oss: experts, sinks, sliding windows, biases, clamped SwiGLU
// head_dim 16; experts of 32, the router's logits far apart: a choice that rounding turns would hide all else.
static void make_experts(checkpoint *k, unsigned experts, unsigned top_k, unsigned window) {
    enum { WIDTH = 32, HEADS = 4, KV_HEADS = 2, HEAD = 16, VOCABULARY_ = 50 };
    char config[1024];
    ck_begin(k);
    snprintf(
        config, sizeof config,
        "{\"model_type\": \"gpt_oss\", \"num_hidden_layers\": 2, \"hidden_size\": %d, \"vocab_size\": %d, "
        "\"max_position_embeddings\": 128, \"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"head_dim\": "
        "%d, \"intermediate_size\": %d, \"num_local_experts\": %u, \"num_experts_per_tok\": %u, \"sliding_window\": "
        "%u, \"layer_types\": [\"sliding_attention\", \"full_attention\"], \"attention_bias\": true, "
        "\"tie_word_embeddings\": false, \"rms_norm_eps\": 1e-5, \"swiglu_limit\": 1.5, \"rope_parameters\": "
        "{\"rope_type\": \"default\", \"rope_theta\": 10000.0}}",
        HIDDEN, VOCABULARY_, HEADS, KV_HEADS, HEAD, WIDTH, experts, top_k, window);
    ck_write_text(k, "config.json", config);
    ck_put(k, "model.embed_tokens.weight", VOCABULARY_, HIDDEN, 0, 0, 1);
    ck_put(k, "lm_head.weight", VOCABULARY_, HIDDEN, 0, 0, 1);
    ck_put(k, "model.norm.weight", HIDDEN, 0, 0, 1, 0.2f);
    for (int l = 0; l < 2; l++) {
        static const char *const names[] = {"q", "k", "v"};
        static const unsigned outs[] = {HEADS * HEAD, KV_HEADS * HEAD, KV_HEADS * HEAD};
        put_layer(k, l, "input_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
        put_layer(k, l, "post_attention_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
        for (int i = 0; i < 3; i++) {
            char name[64];
            snprintf(name, sizeof name, "self_attn.%s_proj.weight", names[i]);
            put_layer(k, l, name, outs[i], HIDDEN, 0, 0, 0.4f);
            snprintf(name, sizeof name, "self_attn.%s_proj.bias", names[i]);
            put_layer(k, l, name, outs[i], 0, 0, 0, 1);
        }
        put_layer(k, l, "self_attn.o_proj.weight", HIDDEN, HEADS * HEAD, 0, 0, 0.4f);
        put_layer(k, l, "self_attn.o_proj.bias", HIDDEN, 0, 0, 0, 1);
        put_layer(k, l, "self_attn.sinks", HEADS, 0, 0, 0, 4);
        put_layer(k, l, "mlp.router.weight", experts, HIDDEN, 0, 0, 4);
        put_layer(k, l, "mlp.router.bias", experts, 0, 0, 0, 1);
        put_layer(k, l, "mlp.experts.gate_up_proj", experts, HIDDEN, 2 * WIDTH, 0, 0.4f);
        put_layer(k, l, "mlp.experts.gate_up_proj_bias", experts, 2 * WIDTH, 0, 0, 1);
        put_layer(k, l, "mlp.experts.down_proj", experts, WIDTH, HIDDEN, 0, 0.4f);
        put_layer(k, l, "mlp.experts.down_proj_bias", experts, HIDDEN, 0, 0, 1);
    }
    ck_write(k, "model.safetensors", 0);
}

static double off_experts(unsigned experts, unsigned top_k, unsigned window, harness_backend backend, uint32_t count) {
    checkpoint k;
    listener l;
    make_experts(&k, experts, top_k, window);
    hear(&k, &(compiler_options){FMT_BF16, FMT_BF16, 128}, 50, backend, count, &l);
    return median(&l);
}

Test(speaker, experts_sinks_and_windows) {
    static const unsigned cases[][3] = {{3, 2, 20}, {6, 3, 32}, {17, 5, 33}};
    for (int i = 0; i < 3; i++) {
        double got = off_experts(cases[i][0], cases[i][1], cases[i][2], HARNESS_TWIN, 70);
        cr_expect_lt(got, 0.03, "case %d: %g", i, got);
    }
}

Test(speaker, experts_in_rtl) {
    cr_assert_lt(off_experts(3, 2, 20, HARNESS_BOTH, 3), 0.04);
}

// ---- deepseek_v3: latent attention, a dense layer, then experts in groups and shared ones
typedef struct {
    unsigned heads, q_rank, experts, groups, top_groups, top_k;
} latent_shape;

static void make_latent(checkpoint *k, const latent_shape *s) {
    enum { PLAIN = 24, TURN = 16, KEY = PLAIN + TURN, VALUE = 40, RANK = 40, WIDTH = 32, WORDS = 50 };
    char config[1024], rank[16] = "null";
    if (s->q_rank) snprintf(rank, sizeof rank, "%u", s->q_rank);
    ck_begin(k);
    snprintf(config, sizeof config,
             "{\"model_type\": \"deepseek_v3\", \"num_hidden_layers\": 2, \"hidden_size\": %d, \"vocab_size\": %d, "
             "\"max_position_embeddings\": 128, \"num_attention_heads\": %u, \"intermediate_size\": 64, "
             "\"moe_intermediate_size\": %d, \"q_lora_rank\": %s, \"kv_lora_rank\": %d, \"qk_nope_head_dim\": %d, "
             "\"qk_rope_head_dim\": %d, \"v_head_dim\": %d, \"n_routed_experts\": %u, \"num_experts_per_tok\": %u, "
             "\"n_group\": %u, \"topk_group\": %u, \"n_shared_experts\": 1, \"first_k_dense_replace\": 1, "
             "\"norm_topk_prob\": true, \"routed_scaling_factor\": 2.5}",
             HIDDEN, WORDS, s->heads, WIDTH, rank, RANK, PLAIN, TURN, VALUE, s->experts, s->top_k, s->groups,
             s->top_groups);
    ck_write_text(k, "config.json", config);
    ck_put(k, "model.embed_tokens.weight", WORDS, HIDDEN, 0, 0, 1);
    ck_put(k, "lm_head.weight", WORDS, HIDDEN, 0, 0, 1);
    ck_put(k, "model.norm.weight", HIDDEN, 0, 0, 1, 0.2f);
    for (int l = 0; l < 2; l++) {
        put_layer(k, l, "input_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
        put_layer(k, l, "post_attention_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
        if (s->q_rank) {
            put_layer(k, l, "self_attn.q_a_proj.weight", s->q_rank, HIDDEN, 0, 0, 0.4f);
            put_layer(k, l, "self_attn.q_a_layernorm.weight", s->q_rank, 0, 0, 1, 0.2f);
            put_layer(k, l, "self_attn.q_b_proj.weight", s->heads * KEY, s->q_rank, 0, 0, 0.4f);
        } else
            put_layer(k, l, "self_attn.q_proj.weight", s->heads * KEY, HIDDEN, 0, 0, 0.4f);
        put_layer(k, l, "self_attn.kv_a_proj_with_mqa.weight", RANK + TURN, HIDDEN, 0, 0, 0.4f);
        put_layer(k, l, "self_attn.kv_a_layernorm.weight", RANK, 0, 0, 1, 0.2f);
        put_layer(k, l, "self_attn.kv_b_proj.weight", s->heads * (PLAIN + VALUE), RANK, 0, 0, 0.4f);
        put_layer(k, l, "self_attn.o_proj.weight", HIDDEN, s->heads * VALUE, 0, 0, 0.4f);
    }
    put_layer(k, 0, "mlp.gate_proj.weight", 64, HIDDEN, 0, 0, 0.4f);
    put_layer(k, 0, "mlp.up_proj.weight", 64, HIDDEN, 0, 0, 0.4f);
    put_layer(k, 0, "mlp.down_proj.weight", HIDDEN, 64, 0, 0, 0.4f);
    put_layer(k, 1, "mlp.gate.weight", s->experts, HIDDEN, 0, 0, 1);
    put_layer(k, 1, "mlp.gate.e_score_correction_bias", s->experts, 0, 0, 0, 0.5f);
    put_layer(k, 1, "mlp.shared_experts.gate_proj.weight", WIDTH, HIDDEN, 0, 0, 0.4f);
    put_layer(k, 1, "mlp.shared_experts.up_proj.weight", WIDTH, HIDDEN, 0, 0, 0.4f);
    put_layer(k, 1, "mlp.shared_experts.down_proj.weight", HIDDEN, WIDTH, 0, 0, 0.4f);
    put_layer(k, 1, "mlp.experts.gate_up_proj", s->experts, 2 * WIDTH, HIDDEN, 0, 0.4f);
    put_layer(k, 1, "mlp.experts.down_proj", s->experts, HIDDEN, WIDTH, 0, 0.4f);
    ck_write(k, "model.safetensors", 0);
}

static double off_latent(const latent_shape *s, harness_backend backend, uint32_t count) {
    checkpoint k;
    listener l;
    make_latent(&k, s);
    hear(&k, &(compiler_options){FMT_BF16, FMT_BF16, 128}, 50, backend, count, &l);
    return median(&l);
}

Test(speaker, latents_and_groups_of_experts) {
    static const latent_shape shapes_[] = {{4, 24, 8, 4, 2, 3}, {3, 0, 18, 3, 1, 4}, {4, 24, 5, 1, 1, 2}};
    for (int i = 0; i < 3; i++) {
        double got = off_latent(&shapes_[i], HARNESS_TWIN, 40);
        cr_expect_lt(got, 0.04, "shape %d: %g", i, got);
    }
}

Test(speaker, latents_in_rtl) {
    cr_assert_lt(off_latent(&(latent_shape){4, 24, 8, 4, 2, 3}, HARNESS_BOTH, 2), 0.06);
}

// ---- models beside the project, 8 tokens in RTL
static void in_rtl(const char *name) {
    char path[512];
    listener l;
    static const uint32_t ids[8] = {3, 14, 15, 92, 65, 35, 89, 79};
    shared_model(name, path);
    compiler_options o = {FMT_BF16, FMT_BF16, 32};
    speaker_result *r = listen(path, &o, HARNESS_BOTH, ids, 8, &l);
    cr_assert(r->run.mismatches == 0 && r->run.rows_compared >= 8 * 256 / 8);
    cr_assert_lt(sqrt(l.off / l.all), 0.1);
    free(r);
}
Test(speaker, gpt_oss_in_rtl) {
    in_rtl("gptoss-tiny");
}
Test(speaker, deepseek_v3_in_rtl) {
    in_rtl("dsv3-tiny");
}
Test(speaker, llama_in_rtl) {
    in_rtl("stories260k");
}

// The project's own model, as trained: a sum.
Test(speaker, own_model_adds) {
    listener l;
    static const uint32_t ids[] = {1, 305, 7, 8, 9};
    compiler_options o = {FMT_BF16, FMT_BF16, 64};
    free(listen("models/serrano-300k", &o, HARNESS_TWIN, ids, 5, &l));
    cr_assert_lt(sqrt(l.off / l.all), 0.02);
}

// ---- a trained model: the story of its reference, -log p of each next token
static double tells(fmt_id weights, fmt_id activations, uint32_t most) {
    char path[512], file[600];
    st_checkpoint reference;
    listener l;
    static uint32_t ids[512];
    shared_model("stories260k", path);
    snprintf(file, sizeof file, "%s/reference.safetensors", path);
    cr_assert(st_open(file, &reference, error), "%s", error);
    const st_tensor *tokens = st_find(&reference, "tokens");
    uint32_t count = (uint32_t)tokens->elements < most ? (uint32_t)tokens->elements : most;
    memcpy(ids, tokens->data, count * sizeof *ids);
    st_close(&reference);
    compiler_options o = {weights, activations, count};
    free(listen(path, &o, HARNESS_TWIN, ids, count, &l));
    return l.surprise / (count - 1);
}

Test(speaker, story_with_bf16) {
    cr_assert_lt(tells(FMT_BF16, FMT_BF16, 512), 0.47);
}
Test(speaker, story_with_e4m3) {
    cr_assert_lt(tells(FMT_E4M3, FMT_E4M3, 512), 0.49);
}
Test(speaker, story_with_int4) {
    cr_assert_lt(tells(FMT_INT4, FMT_E4M3, 512), 0.55);
}
Test(speaker, story_with_e2m1) {
    cr_assert_lt(tells(FMT_E2M1, FMT_E4M3, 512), 0.70);
}

// ---- what is refused
static void refuses(const shape *s, uint32_t positions, const char *want) {
    checkpoint k;
    char why[COMPILER_ERROR] = "";
    make(&k, s);
    llm *m = llm_open(k.dir, NUM_FMTS, error);
    cr_assert(m, "%s", error);
    cr_assert_null(compile(m, &(compiler_options){FMT_BF16, FMT_BF16, positions}, why));
    cr_assert(strstr(why, want), "%s", why);
    llm_close(m);
    ck_end(&k);
}

Test(speaker, refuses_what_is_not_there_and_what_does_not_fit) {
    refuses(&(shape){1, 2, 1, 4, 16, 20}, 32, "expected head_dim 8 or a multiple of 16 up to ROWS, got 4");
    refuses(&(shape){1, 2, 1, 24, 16, 20}, 32, "expected head_dim 8 or a multiple of 16");
    refuses(&(shape){1, 2, 1, 128, 16, 20}, 32, "expected head_dim 8 or a multiple of 16");
    refuses(&shapes[0], 5000, "expected at most 4064 positions, got 5000");
    refuses(&(shape){4, 4, 4, 64, 16, 20}, 2000, "rows of SRAM (weights");
}
