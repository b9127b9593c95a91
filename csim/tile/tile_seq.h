// Sequencer of a tile: twin of rtl/tile/tile_seq.sv.
#ifndef TILE_TILE_SEQ_H
#define TILE_TILE_SEQ_H
#include "cfg.h"
#include "common/isa.h"
#include "events.h"

typedef struct {
    instr_t imem[CFG_IMEM_ROWS]; // not reset
    uint32_t pc;
    bool running, error;
} tile_seq;

void tile_seq_reset(tile_seq *s);
// Host: writes instruction `addr`; only while not running.
void tile_seq_load(tile_seq *s, int addr, const instr_t *instr);
// Engine (0..NUM_ENGINES - 1) that the current instruction is offered to, -1 for none; *instr is that instruction.
int tile_seq_peek(const tile_seq *s, const instr_t **instr);
// One clock; ready: whether the queue of the engine that tile_seq_peek names has room (false for none).
void tile_seq_step(tile_seq *s, bool start, bool ready, seq_events *ev);
#endif
