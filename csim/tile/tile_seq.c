#include "tile/tile_seq.h"

void tile_seq_reset(tile_seq *s) {
    s->pc = 0;
    s->running = s->error = false;
}

void tile_seq_load(tile_seq *s, int addr, const instr_t *instr) {
    s->imem[addr] = *instr;
}

int tile_seq_peek(const tile_seq *s, const instr_t **instr) {
    const instr_t *now = &s->imem[s->pc];
    *instr = now;
    if (!s->running || now->op == OP_END || now->engine >= NUM_ENGINES) return -1;
    return now->engine;
}

void tile_seq_step(tile_seq *s, bool start, bool ready, seq_events *ev) {
    bool was = s->running, taken = false;
    if (was) {
        const instr_t *now = &s->imem[s->pc];
        if (now->op == OP_END || now->engine >= NUM_ENGINES) {
            taken = true;
            s->running = false;
            s->error |= now->op != OP_END;
        } else if (ready) {
            taken = true;
            if (s->pc == CFG_IMEM_ROWS - 1) {
                s->running = false;
                s->error = true;
            }
        }
        if (taken) s->pc = (s->pc + 1) & (CFG_IMEM_ROWS - 1);
    }
    if (start) {
        s->running = true;
        s->pc = 0;
    }
    ev->busy = taken;
    ev->stall_queue = was && !taken;
    ev->idle = !was;
}
