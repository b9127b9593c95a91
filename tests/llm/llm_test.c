// The functional reference against Hugging Face's own outputs, and, where those are not there, against what must hold
// of any weights: closed forms, equal forms, what a token cannot see.
#include "llm/llm.h"

#include "llm/llm_parts.h"
#include "llm/made_models.h"
#include "llm/safetensors.h"

static char error[LLM_ERROR];

static double relative(const float *got, const float *want, size_t n) {
    double off = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        off += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        all += (double)want[i] * want[i];
    }
    return sqrt(off / all);
}

// ---- against reference outputs
typedef struct {
    llm *m;
    st_checkpoint file;
    const float *logits;
    const int32_t *tokens;
    uint32_t rows, count; // of logits, of tokens
} known;

static void open_known(const char *name, fmt_id weights, known *k) {
    char path[512], file[600];
    if (strchr(name, '/')) // the project's own
        snprintf(path, sizeof path, "%s", name);
    else
        shared_model(name, path);
    cr_assert(k->m = llm_open(path, weights, error), "%s", error);
    snprintf(file, sizeof file, "%s/reference.safetensors", path);
    cr_assert(st_open(file, &k->file, error), "%s", error);
    const st_tensor *logits = st_find(&k->file, "logits"), *tokens = st_find(&k->file, "tokens");
    cr_assert(logits && tokens && logits->shape[1] == llm_config_of(k->m)->vocabulary);
    k->logits = (const float *)(const void *)logits->data;
    k->tokens = (const int32_t *)(const void *)tokens->data;
    k->rows = (uint32_t)logits->shape[0];
    k->count = (uint32_t)tokens->elements;
}

static void close_known(known *k) {
    llm_close(k->m);
    st_close(&k->file);
}

static void equals_reference(const char *name, llm_mla form) {
    known k;
    open_known(name, NUM_FMTS, &k);
    const llm_config *c = llm_config_of(k.m);
    size_t states = (size_t)(c->layers + 1) * c->hidden;
    float *logits = malloc((size_t)k.rows * c->vocabulary * sizeof *logits);
    float *hidden = malloc(k.rows * states * sizeof *hidden),
          *layer = malloc((size_t)k.rows * c->hidden * sizeof *layer);
    llm_run *run = llm_start(k.m, k.rows, form);
    for (uint32_t i = 0; i < k.rows; i++) {
        float *row = logits + (size_t)i * c->vocabulary;
        llm_step(run, (uint32_t)k.tokens[i], row, hidden + i * states);
        cr_assert_eq(llm_argmax(row, c->vocabulary), llm_argmax(k.logits + (size_t)i * c->vocabulary, c->vocabulary),
                     "%s, position %u", name, i);
    }
    double off = relative(logits, k.logits, (size_t)k.rows * c->vocabulary);
    cr_assert(off <= 1e-5, "%s, logits: relative error %g", name, off);
    for (uint32_t l = 0; l <= c->layers; l++) {
        char tensor[32];
        snprintf(tensor, sizeof tensor, "hidden%u", l);
        const st_tensor *want = st_find(&k.file, tensor);
        if (!want) continue;
        for (uint32_t i = 0; i < k.rows; i++)
            memcpy(layer + (size_t)i * c->hidden, hidden + i * states + (size_t)l * c->hidden,
                   c->hidden * sizeof *layer);
        off = relative(layer, (const float *)(const void *)want->data, (size_t)k.rows * c->hidden);
        cr_assert(off <= 1e-5, "%s, %s: relative error %g", name, tensor, off);
    }
    llm_end(run);
    free(logits);
    free(hidden);
    free(layer);
    close_known(&k);
}

Test(llm, gpt_oss_equals_its_reference) {
    equals_reference("gptoss-tiny", LLM_EXPANDED);
}
Test(llm, the_projects_own_model_equals_its_reference) {
    equals_reference("models/serrano-300k", LLM_EXPANDED);
}

Test(llm, deepseek_v3_equals_its_reference_in_both_forms) {
    equals_reference("dsv3-tiny", LLM_EXPANDED);
    equals_reference("dsv3-tiny", LLM_ABSORBED);
}
Test(llm, llama_equals_its_reference) {
    equals_reference("stories260k", LLM_EXPANDED);
}

// Mean surprise of the story's tokens.
static double surprise(fmt_id weights) {
    known k;
    open_known("stories260k", weights, &k);
    uint32_t vocabulary = llm_config_of(k.m)->vocabulary;
    float *logits = malloc(vocabulary * sizeof *logits);
    llm_run *run = llm_start(k.m, k.rows, LLM_EXPANDED);
    double sum = 0;
    for (uint32_t i = 0; i + 1 < k.count; i++) {
        llm_step(run, (uint32_t)k.tokens[i], logits, NULL);
        sum += llm_surprise(logits, vocabulary, (uint32_t)k.tokens[i + 1]);
    }
    llm_end(run);
    free(logits);
    uint32_t taken = k.count - 1;
    close_known(&k);
    return sum / taken;
}

// Against figures computed elsewhere for the same weights in these formats.
Test(llm, weight_formats_cost_what_they_cost_elsewhere) {
    static const struct {
        fmt_id weights;
        double least, most;
    } figures[] = {{NUM_FMTS, 0.4565, 0.4575},
                   {FMT_BF16, 0.4565, 0.4575},
                   {FMT_E4M3, 0.4725, 0.4735},
                   {FMT_INT4, 0.525, 0.528},
                   {FMT_E2M1, 0.64, 0.66}};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        double got = surprise(figures[i].weights);
        cr_assert(got >= figures[i].least && got <= figures[i].most, "format %d: %.4f", figures[i].weights, got);
    }
}

// The frequencies that Hugging Face stores beside its weights.
Test(llm, rope_frequencies_equal_those_stored) {
    static const char *const names[] = {"gptoss-tiny", "dsv3-tiny"};
    for (int i = 0; i < 2; i++) {
        known k;
        st_checkpoint weights;
        char path[512];
        open_known(names[i], NUM_FMTS, &k);
        cr_assert(st_open(shared_model(names[i], path), &weights, error));
        const st_tensor *want = st_find(&weights, "model.rotary_emb.inv_freq");
        cr_assert(want && want->elements == 32);
        for (size_t f = 0; f < 32; f++) {
            float stored;
            memcpy(&stored, want->data + 4 * f, 4);
            cr_assert_float_eq(k.m->frequencies[f], stored, 4e-7 * stored, "%s, %zu: got %g, stored %g", names[i], f,
                               k.m->frequencies[f], stored);
        }
        st_close(&weights);
        close_known(&k);
    }
}

// ---- models of random weights
// The last row of logits after these tokens.
static void logits_after(const llm *m, const uint32_t *tokens, uint32_t count, llm_mla form, float logits[40]) {
    llm_run *run = llm_start(m, count, form);
    cr_assert_not_null(run);
    for (uint32_t i = 0; i < count; i++) llm_step(run, tokens[i], logits, NULL);
    llm_end(run);
}

static const uint32_t text[12] = {3, 17, 4, 4, 39, 0, 21, 8, 30, 11, 25, 2};

Test(llm, absorbed_and_expanded_forms_agree) {
    for (int ranked = 0; ranked < 2; ranked++) {
        checkpoint k;
        float expanded[40], absorbed[40];
        make_deepseek(&k, ranked, ranked ? ", \"rope_interleave\": false" : "");
        put_experts_as_one(&k);
        ck_write(&k, "model.safetensors", 0);
        llm *m = llm_open(k.dir, NUM_FMTS, error);
        cr_assert(m, "%s", error);
        for (uint32_t count = 1; count <= 12; count++) {
            logits_after(m, text, count, LLM_EXPANDED, expanded);
            logits_after(m, text, count, LLM_ABSORBED, absorbed);
            double off = relative(absorbed, expanded, 40);
            cr_assert(off < 1e-5, "%u tokens: %g", count, off);
        }
        llm_close(m);
        ck_end(&k);
    }
}

// One tensor for all experts is the same model as three for each.
Test(llm, experts_in_one_tensor_or_one_by_one) {
    checkpoint k, parted;
    float one[40], each[40];
    make_deepseek(&k, true, "");
    put_experts_as_one(&k);
    ck_write(&k, "model.safetensors", 0);
    llm *m = llm_open(k.dir, NUM_FMTS, error);
    cr_assert(m, "%s", error);
    logits_after(m, text, 12, LLM_EXPANDED, one);
    make_deepseek(&parted, true, "");
    for (int e = 0; e < 8; e++) {
        static const char *const names[] = {"gate_proj", "up_proj", "down_proj"};
        const llm_ffn *f = &m->layers[1].experts[e];
        const float *const values[] = {f->gate.w, f->up.w, f->down.w};
        for (int i = 0; i < 3; i++) {
            char name[96];
            snprintf(name, sizeof name, "model.layers.1.mlp.experts.%d.%s.weight", e, names[i]);
            ck_put_bytes(&parted, name, "F32", i < 2 ? "[10,24]" : "[24,10]", values[i], 960);
        }
    }
    ck_write(&parted, "model.safetensors", 0);
    llm *parts = llm_open(parted.dir, NUM_FMTS, error);
    cr_assert(parts, "%s", error);
    logits_after(parts, text, 12, LLM_EXPANDED, each);
    cr_assert_arr_eq(one, each, sizeof one);
    cr_assert_eq(llm_parameters(m), llm_parameters(parts));
    llm_close(m);
    llm_close(parts);
    ck_end(&k);
    ck_end(&parted);
}

// In one layer a token sees `window` keys, itself included, and no more.
Test(llm, window_counts_the_token_itself) {
    checkpoint k;
    make_gpt_oss(&k, 3);
    ck_write(&k, "model.safetensors", 0);
    llm *m = llm_open(k.dir, NUM_FMTS, error);
    cr_assert(m, "%s", error);
    uint32_t changed[12];
    float want[40], got[40];
    logits_after(m, text, 12, LLM_EXPANDED, want);
    for (int i = 0; i < 12; i++) {
        memcpy(changed, text, sizeof text);
        changed[i] = (text[i] + 1) % 40;
        logits_after(m, changed, 12, LLM_EXPANDED, got);
        cr_assert_eq(memcmp(want, got, sizeof want) != 0, i >= 9, "token %d", i);
    }
    llm_close(m);
    ck_end(&k);
}

// Equal keys: attention is the mean of the values, less the sink's share, whatever the rotation; so one token's layer
// can be computed by hand.
Test(llm, the_first_token_by_hand) {
    checkpoint k;
    float hidden[48], logits[40];
    make_gpt_oss(&k, 3);
    ck_write(&k, "model.safetensors", 0);
    llm *m = llm_open(k.dir, NUM_FMTS, error);
    cr_assert(m, "%s", error);
    const llm_layer *l = &m->layers[0];
    double x[24], n[24], q[24], key[12], v[12], heads[24], y[24], square = 0;
    for (int i = 0; i < 24; i++) square += pow(x[i] = m->embedding[7 * 24 + i], 2);
    for (int i = 0; i < 24; i++) n[i] = x[i] / sqrt(square / 24 + 1e-6) * l->norm_in[i];
#define PROJECT(out, count, p, in, width)                                                                              \
    for (int o = 0; o < (count); o++) {                                                                                \
        out[o] = (p).bias[o];                                                                                          \
        for (int i = 0; i < (width); i++) out[o] += (double)(p).w[o * (width) + i] * in[i];                            \
    }
    PROJECT(q, 24, l->q, n, 24)
    PROJECT(key, 12, l->k, n, 24)
    PROJECT(v, 12, l->v, n, 24)
    for (int h = 0; h < 4; h++) {
        double score = 0;
        for (int i = 0; i < 6; i++) score += q[6 * h + i] * key[6 * (h / 2) + i];
        double share = 1 / (1 + exp(l->sinks[h] - score / sqrt(6)));
        for (int i = 0; i < 6; i++) heads[6 * h + i] = share * v[6 * (h / 2) + i];
    }
    PROJECT(y, 24, l->o, heads, 24)
    square = 0;
    for (int i = 0; i < 24; i++) square += pow(x[i] += y[i], 2);
    for (int i = 0; i < 24; i++) n[i] = x[i] / sqrt(square / 24 + 1e-6) * l->norm_post[i];
    double route[4], g[10], u[10], sum = 0;
    PROJECT(route, 4, l->router, n, 24)
    int best = 0, second;
    for (int e = 1; e < 4; e++) best = route[e] > route[best] ? e : best;
    second = best == 0;
    for (int e = 0; e < 4; e++) second = e != best && route[e] > route[second] ? e : second;
    sum = exp(route[best]) + exp(route[second]);
    for (int pick = 0; pick < 2; pick++) {
        const llm_ffn *f = &l->experts[pick ? second : best];
        PROJECT(g, 10, f->gate, n, 24)
        PROJECT(u, 10, f->up, n, 24)
        for (int i = 0; i < 10; i++) {
            double gate = fmin(g[i], 7), up = fmax(-7, fmin(u[i], 7));
            g[i] = (up + 1) * gate / (1 + exp(-1.702 * gate));
        }
        PROJECT(y, 24, f->down, g, 10)
        for (int i = 0; i < 24; i++) x[i] += exp(route[pick ? second : best]) / sum * y[i];
    }
    llm_run *run = llm_start(m, 1, LLM_EXPANDED);
    llm_step(run, 7, logits, hidden);
    square = 0;
    for (int i = 0; i < 24; i++) square += x[i] * x[i];
    for (int i = 0; i < 24; i++) {
        double want = x[i] / sqrt(square / 24 + 1e-6) * m->norm[i];
        cr_assert_float_eq(hidden[24 + i], want, 1e-5, "%d: got %g, want %g", i, hidden[24 + i], want);
        cr_assert_eq(hidden[i], m->embedding[7 * 24 + i]);
    }
    llm_end(run);
    llm_close(m);
    ck_end(&k);
}

// Weights at E2M1: what llm_open leaves is what that format holds, and router, embedding and head are untouched.
Test(llm, formats_touch_the_matrices_of_the_layers_alone) {
    checkpoint k;
    make_gpt_oss(&k, 3);
    ck_write(&k, "model.safetensors", 0);
    llm *m = llm_open(k.dir, NUM_FMTS, error), *narrow = llm_open(k.dir, FMT_E2M1, error);
    cr_assert(m && narrow, "%s", error);
    const llm_layer *a = &m->layers[0], *b = &narrow->layers[0];
    cr_assert_arr_eq(m->embedding, narrow->embedding, 40 * 24 * sizeof(float));
    cr_assert_arr_eq(m->head.w, narrow->head.w, 40 * 24 * sizeof(float));
    cr_assert_arr_eq(a->router.w, b->router.w, 4 * 24 * sizeof(float));
    cr_assert_arr_eq(a->q.bias, b->q.bias, 24 * sizeof(float));
    const llm_linear *const before[] = {&a->q, &a->o, &a->experts[3].gate, &a->experts[0].down};
    const llm_linear *const after[] = {&b->q, &b->o, &b->experts[3].gate, &b->experts[0].down};
    for (int i = 0; i < 4; i++)
        for (uint32_t row = 0; row < before[i]->out; row++) { // a row is one block: at most 24 wide
            const float *x = before[i]->w + row * before[i]->in, *y = after[i]->w + row * after[i]->in;
            float most = 0;
            for (uint32_t j = 0; j < before[i]->in; j++) most = fmaxf(most, fabsf(x[j]));
            float scale = exp2f(floorf(log2f(most)) - 2);
            for (uint32_t j = 0; j < before[i]->in; j++) {
                float code = fabsf(y[j] / scale);
                cr_assert(code == 0 || code == 0.5f || code == 1 || code == 1.5f || code == 2 || code == 3 ||
                              code == 4 || code == 6,
                          "matrix %d [%u][%u]: %g", i, row, j, code);
                cr_assert(fabsf(y[j] - x[j]) <= 2 * scale);
            }
        }
    llm_close(m);
    llm_close(narrow);
    ck_end(&k);
}

// ---- checkpoints that are not the model's
static void refused(checkpoint *k, const char *because) {
    ck_write(k, "model.safetensors", 0);
    cr_assert_null(llm_open(k->dir, NUM_FMTS, error));
    cr_assert(strstr(error, because) && strstr(error, k->dir) && !strchr(error, '\n'), "got \"%s\"", error);
    ck_end(k);
}

Test(llm, refuses_checkpoints_that_are_not_the_models) {
    checkpoint k;
    make_deepseek(&k, true, "");
    refused(&k, "no tensor model.layers.1.mlp.experts.0.gate_proj.weight");
    make_deepseek(&k, true, "");
    put_experts_as_one(&k);
    put_layer(&k, 1, "mlp.experts.gate_up_proj_bias", 8, 20, 0, 0, 1);
    refused(&k, "tensor model.layers.1.mlp.experts.gate_up_proj_bias: expected none of that name");
    make_deepseek(&k, true, "");
    put_layer(&k, 1, "mlp.experts.gate_up_proj", 8, 24, 20, 0, 1);
    put_layer(&k, 1, "mlp.experts.down_proj", 8, 24, 10, 0, 1);
    refused(&k, "gate_up_proj: expected shape [8, 20, 24], got [8, 24, 20]");
    ck_begin(&k);
    ck_write_text(&k, "config.json",
                  "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 2, \"vocab_size\": 2, "
                  "\"max_position_embeddings\": 4, \"num_attention_heads\": 1, \"intermediate_size\": 2}");
    ck_put_bytes(&k, "model.embed_tokens.weight", "I32", "[2,2]", "0123456789abcdef", 16);
    refused(&k, "model.embed_tokens.weight: expected F32, BF16 or F16, got I32");
    ck_begin(&k);
    refused(&k, "config.json: expected a file that can be read");
}

// Layers that predict further tokens, tables of frequencies: not the model's, but no fault.
Test(llm, passes_over_what_holds_nothing_of_its_own) {
    checkpoint k;
    make_deepseek(&k, true, "");
    put_experts_as_one(&k);
    put_layer(&k, 2, "eh_proj.weight", 24, 48, 0, 0, 1);
    ck_put(&k, "model.rotary_emb.inv_freq", 2, 0, 0, 0, 1);
    ck_write(&k, "model.safetensors", 0);
    llm *m = llm_open(k.dir, NUM_FMTS, error);
    cr_assert(m, "%s", error);
    llm_close(m);
    ck_end(&k);
}
