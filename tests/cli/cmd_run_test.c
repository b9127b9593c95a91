#include "cli/cli.h"
#include "cli/run_line.h"
#include "llm/llm.h"
#include "llm/made_models.h"
#include "npy/npy.h"

static char error[LLM_ERROR];

static void command(char line[1024], const checkpoint *k, const char *rest) {
    snprintf(line, 1024, "run %s %s", k->dir, rest);
}

static void runs(const checkpoint *k, const char *rest, const char *want) {
    char line[1024], got[2048];
    static FILE *out;
    if (!out) cr_redirect_stdout();
    if (!out) out = cr_get_redirected_stdout();
    command(line, k, rest);
    cr_assert_eq(run_line(cmd_run, line), 0, "%s", line);
    fflush(stdout);
    size_t n = fread(got, 1, sizeof got - 1, out);
    got[n] = '\0';
    cr_assert_str_eq(got, want, "%s", rest);
}

// Greedy continuation and all logits by the reference itself.
static uint32_t continues(const checkpoint *k, fmt_id weights, llm_mla form, uint32_t *ids, uint32_t prompt,
                          uint32_t count, float *logits) {
    llm *m = llm_open(k->dir, weights, error);
    cr_assert(m, "%s", error);
    const llm_config *c = llm_config_of(m);
    llm_run *r = llm_start(m, count, form);
    for (uint32_t i = 0; i + 1 < count; i++) {
        llm_step(r, ids[i], logits + (size_t)i * c->vocabulary, NULL);
        if (i + 1 >= prompt) ids[i + 1] = llm_argmax(logits + (size_t)i * c->vocabulary, c->vocabulary);
        if (i + 1 >= prompt && c->num_ends && ids[i + 1] == c->ends[0]) count = i + 2;
    }
    llm_end(r);
    llm_close(m);
    return count;
}

Test(cmd_run, continues_tokens_and_saves_their_logits) {
    checkpoint k;
    uint32_t ids[9] = {5, 39, 0};
    float want[8 * 40];
    char text[256] = "", rest[256], path[128];
    npy_matrix m;
    make_gpt_oss(&k, 3);
    ck_write(&k, "model.safetensors", 0);
    cr_redirect_stderr();
    continues(&k, NUM_FMTS, LLM_EXPANDED, ids, 3, 9, want);
    for (int i = 0; i < 9; i++) snprintf(text + strlen(text), 16, "%s%u", i ? " " : "", ids[i]);
    strcat(text, "\n");
    snprintf(path, sizeof path, "%s/logits.npy", k.dir);
    snprintf(rest, sizeof rest, "--prompt-ids 5,39,0 --tokens 6 --logits %s", path);
    runs(&k, rest, text);
    cr_assert(npy_load(path, &m, error), "%s", error);
    cr_assert(m.type == NPY_F32 && m.rows == 8 && m.cols == 40);
    cr_assert_arr_eq(m.data, want, sizeof want);
    npy_free(&m);
    snprintf(rest, sizeof rest, "--prompt-ids 5,39,0 --tokens 0 --logits %s", path);
    runs(&k, rest, "5 39 0\n");
    cr_assert(npy_load(path, &m, error), "%s", error);
    cr_assert(m.rows == 3);
    cr_assert_arr_eq(m.data, want, 3 * 40 * sizeof(float));
    npy_free(&m);
    continues(&k, FMT_E2M1, LLM_EXPANDED, ids, 3, 9, want);
    snprintf(rest, sizeof rest, "--prompt-ids 5,39,0 --tokens 1 --weights e2m1 --logits %s", path);
    snprintf(text, sizeof text, "5 39 0 %u\n", ids[3]);
    runs(&k, rest, text);
    cr_assert(npy_load(path, &m, error), "%s", error);
    cr_assert_arr_eq(m.data, want, 3 * 40 * sizeof(float));
    npy_free(&m);
    ck_end(&k);
}

// Text begins with the begin; its pieces are printed without the first space; the model's end ends it, unseen.
Test(cmd_run, continues_a_text) {
    checkpoint k;
    uint32_t ids[32] = {1, 259, 260, 261};
    float logits[32 * 262];
    char text[64] = "ab";
    size_t at = 2;
    make_llama(&k);
    cr_redirect_stderr();
    uint32_t count = continues(&k, NUM_FMTS, LLM_EXPANDED, ids, 4, 20, logits);
    for (uint32_t i = 4; i < count; i++)
        if (ids[i] >= 3) text[at++] = ids[i] >= 259 ? " ab"[ids[i] - 259] : (char)(ids[i] - 3);
    cr_assert_eq(memchr(text, 0, at), NULL);
    text[at++] = '\n';
    runs(&k, "--prompt ab --tokens 16", text);
    runs(&k, "--prompt-ids 1,259,260,261 --tokens 16", text);
    runs(&k, "--prompt-ids 1,260,259,261,259 --tokens 0", "a b \n");
    fflush(stderr);
    char report[1024];
    FILE *f = cr_get_redirected_stderr();
    report[fread(report, 1, sizeof report - 1, f)] = '\0';
    double surprise = 0;
    for (int i = 0; i < 3; i++) surprise += llm_surprise(logits + (size_t)i * 262, 262, ids[i + 1]) / 3;
    char want[128];
    snprintf(want, sizeof want, "4 tokens of prompt (negative log-likelihood %.4f each), %u of answer; 2664 parameters",
             surprise, count - 4);
    cr_assert(strstr(report, want), "got \"%s\", expected \"%s\"", report, want);
    ck_end(&k);
}

Test(cmd_run, stops_at_the_models_end) {
    checkpoint k;
    uint32_t ids[3] = {1, 260};
    float logits[3 * 262];
    char config[512];
    make_llama(&k);
    continues(&k, NUM_FMTS, LLM_EXPANDED, ids, 2, 3, logits);
    snprintf(config, sizeof config,
             "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 8, \"vocab_size\": 262, "
             "\"max_position_embeddings\": 32, \"num_attention_heads\": 2, \"intermediate_size\": 12, "
             "\"tie_word_embeddings\": true, \"eos_token_id\": [0, %u]}",
             ids[2]);
    ck_write_text(&k, "config.json", config);
    cr_redirect_stderr();
    runs(&k, "--prompt-ids 1,260 --tokens 9", "a\n");
    ck_end(&k);
}

Test(cmd_run, absorbed_form) {
    checkpoint k;
    uint32_t ids[8] = {5, 39};
    float logits[8 * 40];
    char text[64] = "";
    make_deepseek(&k, true, "");
    put_experts_as_one(&k);
    ck_write(&k, "model.safetensors", 0);
    cr_redirect_stderr();
    continues(&k, FMT_BF16, LLM_ABSORBED, ids, 2, 8, logits);
    for (int i = 0; i < 8; i++) snprintf(text + strlen(text), 16, "%s%u", i ? " " : "", ids[i]);
    strcat(text, "\n");
    runs(&k, "--prompt-ids 5,39 --tokens 6 --mla absorbed --weights bf16 --backend ref", text);
    ck_end(&k);
}

// ---- refusals
static void refuse(const char *rest, const char *because) {
    checkpoint k;
    char line[1024];
    make_llama(&k);
    command(line, &k, rest);
    cr_redirect_stderr();
    refuse_line(cmd_run, line, because);
    ck_end(&k);
}
#define REFUSES(name, rest, because)                                                                                   \
    Test(cmd_run, name) {                                                                                              \
        refuse(rest, because);                                                                                         \
    }

REFUSES(refuses_no_prompt, "", "--prompt, --prompt-ids, --score: expected one of them, got none")
REFUSES(refuses_two_prompts, "--prompt a --prompt-ids 1", "expected one of them, got several")
REFUSES(refuses_logits_of_questions, "--score q --logits l.npy", "--logits: expected no --score beside it")
REFUSES(refuses_questions_that_are_not_there, "--score /no/questions", "/no/questions: expected a file of questions")
REFUSES(refuses_a_token_beyond_the_vocabulary, "--prompt-ids 1,262", "tokens below 262")
REFUSES(refuses_a_negative_token, "--prompt-ids -1", "tokens below 262")
REFUSES(refuses_an_empty_token, "--prompt-ids 1,,2", "tokens below 262")
REFUSES(refuses_a_list_that_goes_on, "--prompt-ids 1,", "tokens below 262")
REFUSES(refuses_a_token_of_text, "--prompt-ids 1;2", "tokens below 262")
REFUSES(refuses_a_huge_token, "--prompt-ids 99999999999999999999999", "tokens below 262")
REFUSES(refuses_more_than_the_positions, "--prompt-ids 1 --tokens 32", "expected at most 32 (max_position_embeddings)")
REFUSES(refuses_text_for_tokens, "--prompt a --tokens ten", "--tokens: expected a whole number")
REFUSES(refuses_an_unknown_backend, "--prompt a --backend fpga", "--backend: expected ref, twin, rtl or all")
REFUSES(refuses_a_chip_of_other_columns, "--prompt a --tokens 4 --backend rtl",
        "not on the chip yet: expected a chip of 16 columns, got 8")
REFUSES(refuses_activations_of_int4, "--prompt a --activations int4",
        "--activations: expected bf16, e4m3, e5m2 or int8")
REFUSES(refuses_an_unknown_format, "--prompt a --weights e3m2", "--weights: expected f32")
REFUSES(refuses_an_unknown_form, "--prompt a --mla folded", "--mla: expected expanded or absorbed")
REFUSES(refuses_an_unknown_option, "--prompt a --logins x", "--logins")
REFUSES(refuses_an_option_without_value, "--prompt", "expected a value behind the option")
REFUSES(refuses_another_directory, "more --prompt a", "one MODEL_DIR")
REFUSES(refuses_a_path_that_cannot_be_written, "--prompt a --logits /proc/no/logits.npy", "/proc/no")

Test(cmd_run, refuses_no_directory) {
    cr_redirect_stderr();
    refuse_line(cmd_run, "run --prompt a", "MODEL_DIR: expected a directory");
}

Test(cmd_run, refuses_a_directory_without_a_model) {
    cr_redirect_stderr();
    refuse_line(cmd_run, "run /proc/no --prompt a", "/proc/no/config.json: expected a file that can be read");
}

Test(cmd_run, refuses_text_for_a_model_without_words) {
    checkpoint k;
    char line[1024];
    make_gpt_oss(&k, 3);
    ck_write(&k, "model.safetensors", 0);
    command(line, &k, "--prompt a");
    cr_redirect_stderr();
    refuse_line(cmd_run, line, "vocab.json: expected a file that can be read");
    ck_end(&k);
}

Test(cmd_run, refuses_words_of_another_model) {
    checkpoint k, other;
    char line[1024];
    make_llama(&other);
    make_gpt_oss(&k, 3);
    ck_write(&k, "model.safetensors", 0);
    snprintf(line, sizeof line, "cp %s/vocab.json %s", other.dir, k.dir);
    cr_assert_eq(system(line), 0);
    command(line, &k, "--prompt a");
    cr_redirect_stderr();
    refuse_line(cmd_run, line, "expected 40 pieces (vocab_size), got 262");
    ck_end(&other);
    ck_end(&k);
}
