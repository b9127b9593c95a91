#include "llm/llm_score.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERED, WRONG, TOO_LONG, NO_MEMORY };

// Takes the prompt, then its own tokens, until their text is as long as the answer or differs from it.
static int ask(const llm *m, const tokenizer *words, llm_mla form, const char *prompt, const char *answer) {
    const llm_config *c = llm_config_of(m);
    size_t count, left = strlen(answer), size;
    uint32_t *ids = tok_encode(words, prompt, &count);
    float *logits = malloc(c->vocabulary * sizeof *logits);
    llm_run *run = ids && logits ? llm_start(m, c->positions, form) : NULL;
    int verdict = !run ? NO_MEMORY : count + 1 > c->positions ? TOO_LONG : ANSWERED;
    if (verdict == ANSWERED) {
        llm_step(run, c->begin, logits, NULL);
        for (size_t i = 0; i < count; i++) llm_step(run, ids[i], logits, NULL);
    }
    for (size_t at = count + 1; verdict == ANSWERED && left; at++) {
        uint32_t next = llm_argmax(logits, c->vocabulary);
        const char *bytes = tok_bytes(words, next, &size);
        size_t common = size < left ? size : left;
        if (size == 0 || memcmp(bytes, answer, common) != 0) verdict = WRONG;
        answer += common;
        left -= common;
        if (verdict == ANSWERED && left && at == c->positions) verdict = TOO_LONG;
        if (verdict == ANSWERED && left) llm_step(run, next, logits, NULL);
    }
    llm_end(run);
    free(logits);
    free(ids);
    return verdict;
}

static bool ask_line(const llm *m, const tokenizer *words, llm_mla form, char *line, llm_scored *out, const char *path,
                     char error[LLM_ERROR]) {
    static const char *const faults[] = {
        [TOO_LONG] = "a question within max_position_embeddings", [NO_MEMORY] = "memory for the question"};
    line[strcspn(line, "\n")] = '\0';
    char *tab = strchr(line, '\t');
    if (!tab || !tab[1] || strchr(tab + 1, '\t')) {
        snprintf(error, LLM_ERROR, "%.200s:%u: expected PROMPT, a tab, ANSWER, found \"%.60s\"", path, out->asked + 1,
                 line);
        return false;
    }
    *tab = '\0';
    int verdict = ask(m, words, form, line, tab + 1);
    out->asked++;
    out->right += verdict == ANSWERED;
    if (verdict <= WRONG) return true;
    snprintf(error, LLM_ERROR, "%.200s:%u: expected %s", path, out->asked, faults[verdict]);
    return false;
}

bool llm_score(const llm *m, const tokenizer *words, llm_mla form, const char *path, llm_scored *out,
               char error[LLM_ERROR]) {
    char *line = NULL;
    size_t room = 0;
    *out = (llm_scored){0};
    if (llm_config_of(m)->begin == LLM_NO_TOKEN) {
        snprintf(error, LLM_ERROR, "%.200s: expected a model with bos_token_id", path);
        return false;
    }
    FILE *f = fopen(path, "rb");
    bool ok = f != NULL;
    if (!ok) snprintf(error, LLM_ERROR, "%.200s: expected a file of questions: %s", path, strerror(errno));
    while (ok && getline(&line, &room, f) > 0) ok = ask_line(m, words, form, line, out, path, error);
    if (ok && (ferror(f) || !out->asked)) {
        snprintf(error, LLM_ERROR, "%.200s: expected a readable file with a question", path);
        ok = false;
    }
    free(line);
    if (f) fclose(f);
    return ok;
}
