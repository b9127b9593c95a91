// SentencePiece BPE from vocab.json: a list of {"piece", "score"} in order of token id. Text gets a space in front and
// falls into characters; of neighbours whose joint text is a piece, those of the highest score (of equals the leftmost)
// are joined, until none is left. What is no piece becomes its bytes, pieces <0x00> to <0xFF>.
#ifndef LLM_TOKENIZER_H
#define LLM_TOKENIZER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOK_ERROR = 512, TOK_CONTROL = 3, TOK_MAX_TEXT = 1 << 20 }; // the first ids: unknown, begin, end; never in text

typedef struct tokenizer tokenizer;

// DIR/vocab.json. NULL with one line in error: unreadable, not such a list, a piece met twice, a byte without a piece.
tokenizer *tok_open(const char *dir, char error[TOK_ERROR]);
void tok_close(tokenizer *t);
uint32_t tok_count(const tokenizer *t);

// Ids of the text, without the begin; *count of them, in memory that the caller frees. NULL where there is no memory or
// the text is over TOK_MAX_TEXT bytes.
uint32_t *tok_encode(const tokenizer *t, const char *text, size_t *count);
// Bytes of a token, id below tok_count: *size of them, not ended by zero. Those of a control token: none.
const char *tok_bytes(const tokenizer *t, uint32_t id, size_t *size);
#endif
