#include "llm/llm_score.h"

#include "llm/checkpoint.h"

static const char MODEL[] = "models/serrano-300k";
static char error[LLM_ERROR];

// asked: 0 where the file was refused.
static llm_scored score(const char *file, fmt_id weights) {
    llm *m = llm_open(MODEL, weights, error);
    tokenizer *words = tok_open(MODEL, error);
    cr_assert(m && words, "%s", error);
    llm_questions *q = llm_questions_open(m, words, file, error);
    llm_scored got = {0};
    llm_run *run = NULL;
    float logits[320];
    uint32_t token, position;
    for (bool first = true; q && llm_questions_step(q, first ? NULL : logits, &token, &position); first = false) {
        if (position == 0) {
            llm_end(run);
            run = llm_start(m, llm_config_of(m)->positions, LLM_EXPANDED);
        }
        llm_step(run, token, logits, NULL);
    }
    if (q) got = llm_questions_score(q);
    if (got.error) snprintf(error, LLM_ERROR, "%s", got.error);
    if (got.error) got.asked = 0;
    llm_end(run);
    llm_questions_close(q);
    tok_close(words);
    llm_close(m);
    return got;
}

static llm_scored score_text(const char *text, fmt_id weights) {
    checkpoint k;
    char path[128];
    ck_begin(&k);
    ck_write_text(&k, "questions", text);
    snprintf(path, sizeof path, "%s/questions", k.dir);
    llm_scored got = score(path, weights);
    ck_end(&k);
    return got;
}

// The project's own end-to-end figure: sums that the training never showed.
Test(llm_score, own_model_adds_in_every_weight_format) {
    static const fmt_id formats[] = {NUM_FMTS, FMT_BF16, FMT_INT8, FMT_E4M3, FMT_E5M2, FMT_INT4, FMT_E2M1};
    static const uint32_t right[] = {500, 500, 500, 499, 499, 497, 499};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        llm_scored got = score("models/serrano-300k/sums.tsv", formats[i]);
        cr_expect_eq(got.asked, 500);
        cr_expect_eq(got.right, right[i], "format %d: %u right", formats[i], got.right);
    }
}

Test(llm_score, counts_what_begins_with_the_answer) {
    llm_scored got = score_text("70 + 60 =\t 130.\n70 + 60 =\t 13\n70 + 60 =\t 131.\n70 + 60 =\t 130. \n", NUM_FMTS);
    cr_assert_eq(got.asked, 4);
    cr_assert_eq(got.right, 2); // the last one: the model ends its line instead
}

static void refuses(const char *text, const char *want) {
    cr_assert_eq(score_text(text, NUM_FMTS).asked, 0, "%s", text);
    cr_assert(strstr(error, want), "%s", error);
}

Test(llm_score, bad_files_are_refused_in_one_line) {
    refuses("1 + 1 =\t 2.\n1 + 1 = 2.\n", "questions:2: expected PROMPT, a tab, ANSWER, found \"1 + 1 = 2.\"");
    refuses("1 + 1 =\t\n", ":1: expected PROMPT, a tab, ANSWER");
    refuses("1\t2\t3\n", ":1: expected PROMPT, a tab, ANSWER");
    refuses("", "expected a readable file with a question");
    char text[1024] = "";
    for (int i = 0; i < 100; i++) strcat(text, "123 + ");
    strcat(text, "\t1\n");
    refuses(text, ":1: expected a question within max_position_embeddings");
    cr_assert_eq(score("models/serrano-300k/none.tsv", NUM_FMTS).asked, 0);
    cr_assert(strstr(error, "none.tsv: expected a file of questions"), "%s", error);
}
