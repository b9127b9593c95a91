#include "llm/llm_score.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct llm_questions {
    const llm_config *c;
    const tokenizer *words;
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    uint32_t *ids; // of the question under way
    size_t count;
    uint32_t at;        // position of the next token
    const char *answer; // what of it is still to come
    size_t left;
    uint32_t right, asked;
    char error[LLM_ERROR];
};

llm_questions *llm_questions_open(const llm *m, const tokenizer *words, const char *path, char error[LLM_ERROR]) {
    if (llm_config_of(m)->begin == LLM_NO_TOKEN) {
        snprintf(error, LLM_ERROR, "%.200s: expected a model with bos_token_id", path);
        return NULL;
    }
    llm_questions *q = calloc(1, sizeof *q);
    if (!q) {
        snprintf(error, LLM_ERROR, "no memory");
        return NULL;
    }
    q->c = llm_config_of(m);
    q->words = words;
    q->path = path;
    if ((q->file = fopen(path, "rb"))) return q;
    snprintf(error, LLM_ERROR, "%.200s: expected a file of questions: %s", path, strerror(errno));
    llm_questions_close(q);
    return NULL;
}

void llm_questions_close(llm_questions *q) {
    if (!q) return;
    if (q->file) fclose(q->file);
    free(q->line);
    free(q->ids);
    free(q);
}

static bool fail(llm_questions *q, const char *want) {
    snprintf(q->error, LLM_ERROR, "%.200s:%u: expected %.200s", q->path, q->asked + 1, want);
    return false;
}

// The next line; false at the end or with an error.
static bool next_question(llm_questions *q) {
    free(q->ids);
    q->ids = NULL;
    q->at = 0;
    if (getline(&q->line, &q->room, q->file) <= 0)
        return q->asked && !ferror(q->file) ? false : fail(q, "a readable file with a question");
    q->line[strcspn(q->line, "\n")] = '\0';
    char *tab = strchr(q->line, '\t');
    if (!tab || !tab[1] || strchr(tab + 1, '\t')) {
        char want[128];
        snprintf(want, sizeof want, "PROMPT, a tab, ANSWER, found \"%.60s\"", q->line);
        return fail(q, want);
    }
    *tab = '\0';
    q->answer = tab + 1;
    q->left = strlen(q->answer);
    if (!(q->ids = tok_encode(q->words, q->line, &q->count))) return fail(q, "memory for the question");
    return true;
}

// Whether the question goes on behind this token of the model.
static bool hear(llm_questions *q, uint32_t token) {
    size_t size;
    const char *bytes = tok_bytes(q->words, token, &size);
    size_t common = size < q->left ? size : q->left;
    bool wrong = size == 0 || memcmp(bytes, q->answer, common) != 0;
    q->answer += common;
    q->left -= common;
    if (!wrong && q->left) return true;
    q->asked++;
    q->right += !wrong;
    return false;
}

bool llm_questions_step(llm_questions *q, const float *logits, uint32_t *token, uint32_t *position) {
    bool goes_on = q->ids != NULL;
    if (goes_on && q->at > q->count) {
        *token = llm_argmax(logits, q->c->vocabulary);
        goes_on = hear(q, *token);
    } else if (goes_on)
        *token = q->ids[q->at - 1];
    if (!goes_on) {
        if (!next_question(q)) return false;
        *token = q->c->begin;
    }
    *position = q->at++;
    return *position < q->c->positions || fail(q, "a question within max_position_embeddings");
}

llm_scored llm_questions_score(const llm_questions *q) {
    return (llm_scored){q->right, q->asked, q->error[0] ? q->error : NULL};
}
