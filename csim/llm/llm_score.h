// How many of a file's questions a model answers.
#ifndef LLM_LLM_SCORE_H
#define LLM_LLM_SCORE_H
#include "llm/llm.h"
#include "llm/tokenizer.h"

typedef struct {
    uint32_t right, asked;
} llm_scored;

// path: a question a line, prompt, tab, answer. Right where the greedy continuation, as text, begins with the answer.
// False with one line in error: a file that cannot be read, a line without one tab or without an answer, a question
// longer than the model's positions, no token that begins a text, no memory.
bool llm_score(const llm *m, const tokenizer *words, llm_mla form, const char *path, llm_scored *out,
               char error[LLM_ERROR]);
#endif
