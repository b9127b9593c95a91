// Compiles a language model for the chip: what lies where in every tile's SRAM and in HBM, and the programs that place
// it and take one token. README.md has the plan.
#ifndef COMPILER_COMPILER_H
#define COMPILER_COMPILER_H
#include "llm/llm.h"
#include "program/program.h"

enum { COMPILER_ERROR = 256, COMPILER_PORTS = 2 * CFG_TILES_Y };

typedef struct {
    fmt_id weights;     // of the layers' matrices; head and router stay BF16
    fmt_id activations; // BF16, E4M3, E5M2 or INT8, in front of every product but those of attention, which are BF16
    uint32_t positions; // tokens that the KV cache holds
} compiler_options;

// Rows of an HBM port from row 0 on.
typedef struct {
    const row_t *rows;
    uint32_t count;
} compiler_image;

typedef struct compiled compiled;

// m as stored (llm_open without a format), kept until compiled_free. NULL with one line in error: a feature that is not
// there by its name, or what does not fit with what would be needed.
compiled *compile(const llm *m, const compiler_options *options, char error[COMPILER_ERROR]);
void compiled_free(compiled *c);

// HBM before the first program; rows beyond the image up to hbm_rows are the programs' to write.
compiler_image compiled_image(const compiled *c, int port);

// The program that places everything, then the one of the token at each position in turn, into an empty program.
// False where there is no memory.
bool compiled_place(const compiled *c, program *out);
bool compiled_token(const compiled *c, uint32_t token, uint32_t position, program *out);

// Where a token's program leaves its logits: of tile t the float32 of `count` tokens from `first` on, in row order from
// HBM row `row` of a port on.
typedef struct {
    uint32_t first, count, row, rows;
    int port;
} compiled_logits;
compiled_logits compiled_logits_of(const compiled *c, int tile);

// One line a tile: SRAM rows of weights, constants, KV cache and buffers.
void compiled_describe(const compiled *c, FILE *out);
#endif
