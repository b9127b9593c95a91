// Queue of instructions in front of an engine: twin of rtl/tile/tile_queue.sv.
#ifndef TILE_TILE_QUEUE_H
#define TILE_TILE_QUEUE_H
#include "cfg.h"
#include "common/isa.h"

typedef struct {
    instr_t mem[CFG_QUEUE_DEPTH];
    uint8_t rd, wr, count;
} tile_queue;

static inline void tile_queue_reset(tile_queue *s) {
    s->rd = s->wr = s->count = 0;
}

// Room for one more.
static inline bool tile_queue_ready(const tile_queue *s) {
    return s->count != CFG_QUEUE_DEPTH;
}

static inline bool tile_queue_valid(const tile_queue *s) {
    return s->count != 0;
}

// The oldest instruction; meaningful while valid.
static inline const instr_t *tile_queue_front(const tile_queue *s) {
    return &s->mem[s->rd];
}

// One clock: push is the instruction offered or NULL, pop is the engine's ready.
static inline void tile_queue_step(tile_queue *s, const instr_t *push, bool pop) {
    bool room = tile_queue_ready(s);
    if (pop && s->count) {
        s->rd = s->rd == CFG_QUEUE_DEPTH - 1 ? 0 : (uint8_t)(s->rd + 1);
        s->count--;
    }
    if (push && room) {
        s->mem[s->wr] = *push;
        s->wr = s->wr == CFG_QUEUE_DEPTH - 1 ? 0 : (uint8_t)(s->wr + 1);
        s->count++;
    }
}
#endif
