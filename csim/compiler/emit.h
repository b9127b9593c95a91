// Instructions of one tile in one chain: each waits for what precedes it where that runs in another engine.
#ifndef COMPILER_EMIT_H
#define COMPILER_EMIT_H
#include "compiler/parts.h"

typedef struct {
    const compiled *c;
    const tile_plan *t;
    program *out;
    int tile;
    engine_id last; // ENG_SEQ: nothing yet
    bool failed;
} emitter;

void emit(emitter *e, instr_t i);
// The end of the tile's program; false where anything before it had no memory.
bool emit_end(emitter *e);
// Everything emitted from here on waits for engine `from` alone.
void emit_goes_on_in(emitter *e, engine_id from);

// ---- vector instructions over `rows` rows that follow each other
typedef struct {
    uint16_t addr;
    bool constant; // one row for all
} rows_at;
static inline rows_at at(uint32_t addr) {
    return (rows_at){(uint16_t)addr, false};
}
static inline rows_at constant(uint32_t addr) {
    return (rows_at){(uint16_t)addr, true};
}
void emit_rows(emitter *e, op_id op, uint32_t to, rows_at a, rows_at b, uint32_t rows);
void emit_walk(emitter *e, op_id op, vec_args args);
// One row, the same in every lane: the sum (OP_VSUM) or the largest (OP_VLARGEST) of `rows` rows, up to 255.
void emit_reduce(emitter *e, op_id op, uint32_t from, uint32_t rows, uint32_t to);
static inline vec_operand strided(uint32_t addr, uint32_t line, uint32_t seg) {
    return (vec_operand){(uint16_t)addr, (uint16_t)line, (uint16_t)seg, true};
}
static inline vec_operand grouped(uint32_t addr, uint32_t line, uint32_t seg) {
    return (vec_operand){(uint16_t)addr, (uint16_t)line, (uint16_t)seg, false};
}

void emit_load(emitter *e, uint32_t to, uint32_t hbm_row, uint32_t rows);
void emit_store(emitter *e, uint32_t from, uint32_t hbm_row, uint32_t rows);
// Rows of this tile to row `to` of every tile, where `all` rows of all tiles arrive.
void emit_gather(emitter *e, uint32_t from, uint32_t rows, uint32_t to, uint32_t all, uint8_t tag);
// to = w a of m activation rows from row `a` on, in the layout of results. Where n is 0: nothing.
void emit_multiply(emitter *e, const placed *w, fmt_id fmt_a, uint32_t m, uint32_t a, uint32_t to);
// to = w a of one activation row, which is converted; in the layout of results. Its bias is added later, so that
// several products follow each other without a wait.
void emit_product(emitter *e, const placed *w, fmt_id fmt_a, uint32_t to);
void emit_bias(emitter *e, const placed *w, uint32_t to);
// The vector of `blocks` blocks of 32 float32, to rows.a (and rows.a_scales) in this format.
void emit_convert(emitter *e, uint32_t from, uint32_t blocks, fmt_id fmt);
// RMSNorm of `rows` rows; gain: times the square root of their elements, eps: a row of epsilon times their number.
void emit_rms_norm(emitter *e, uint32_t from, uint32_t rows, uint16_t gain, uint16_t eps, uint32_t to);
// That of rows.x to rows.normed, and converted.
void emit_norm(emitter *e, uint16_t gain, fmt_id fmt);

// ---- experts.c: the shares of the chosen experts, those of all others zero, to rows.shares; rows.normed in
void emit_route(emitter *e, const tile_layer *l);
// Rows of `gate` (the columns of this tile) times the share of their expert.
void emit_share(emitter *e, const tile_layer *l);
// Adds the experts' biases, each times its share, to this tile's columns of down.
void emit_down_bias(emitter *e, const tile_layer *l, uint32_t to);

// ---- attention.c
void emit_attention(emitter *e, const tile_layer *l, uint32_t layer, uint32_t position);
#endif
