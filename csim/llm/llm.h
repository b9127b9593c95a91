// Functional reference: llama, gpt_oss and deepseek_v3 in float32, one token at a time, so that prefill and decode are
// the same sums. Sums run in double and are rounded once; held to Hugging Face's own outputs.
#ifndef LLM_LLM_H
#define LLM_LLM_H
#include "common/isa.h"
#include "llm/llm_config.h"

typedef struct llm llm;
typedef struct llm_run llm_run;

// Reads config.json and the safetensors of a Hugging Face directory. weights: the matrices of the layers are held
// in this format, in blocks of 32 along their input, and used at those values; router, embedding and head stay as
// stored, and with NUM_FMTS everything does.
// NULL with one line in error: a file that cannot be read, a tensor missing, of another shape or type, or one that the
// reference would not use.
llm *llm_open(const char *dir, fmt_id weights, char error[LLM_ERROR]);
void llm_close(llm *m);
const llm_config *llm_config_of(const llm *m);
uint64_t llm_parameters(const llm *m);

// How MLA's keys and values are kept: expanded to heads, or latent with the expansion absorbed into query and output.
typedef enum { LLM_EXPANDED, LLM_ABSORBED } llm_mla;

// A sequence of at most `positions` tokens. NULL where there is no memory.
llm_run *llm_start(const llm *m, uint32_t positions, llm_mla form);
void llm_end(llm_run *r);
// Takes the next token, below vocabulary; within positions. logits: [vocabulary]. hidden: NULL, or
// [layers + 1][hidden]: the embedding, then what each layer leaves, the last one behind the final norm.
void llm_step(llm_run *r, uint32_t token, float *logits, float *hidden);
// Index of the largest; the lowest of equals.
uint32_t llm_argmax(const float *x, uint32_t n);
// -log of the probability that softmax(logits) gives to the token.
double llm_surprise(const float *logits, uint32_t n, uint32_t token);
#endif
