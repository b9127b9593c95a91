// Questions of a file, put to a model one after the other. Right is an answer where the greedy continuation of the
// prompt, as text, begins with it.
#ifndef LLM_LLM_SCORE_H
#define LLM_LLM_SCORE_H
#include "llm/llm.h"
#include "llm/tokenizer.h"

typedef struct llm_questions llm_questions;

// path: a question a line, prompt, tab, answer. NULL with one line in error: a file that cannot be read, no token that
// begins a text, no memory.
llm_questions *llm_questions_open(const llm *m, const tokenizer *words, const char *path, char error[LLM_ERROR]);
void llm_questions_close(llm_questions *q);

// The token that the model takes next, at a position: 0 begins a sequence, any other follows the one before. logits:
// [vocabulary] of the token before, NULL in front of the first. False at the end, or with q's error set: a line without
// one tab or without an answer, a question longer than the model's positions, no memory.
bool llm_questions_step(llm_questions *q, const float *logits, uint32_t *token, uint32_t *position);

typedef struct {
    uint32_t right, asked;
    const char *error; // one line, NULL: none
} llm_scored;
llm_scored llm_questions_score(const llm_questions *q);
#endif
