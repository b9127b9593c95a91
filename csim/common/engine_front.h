// Front of an engine, which holds two instructions and runs WAIT and SIGNAL: twin of rtl/common/engine_front.sv.
#ifndef COMMON_ENGINE_FRONT_H
#define COMMON_ENGINE_FRONT_H
#include <stddef.h>

#include "common/isa.h"

typedef struct {
    bool cur_valid, nxt_valid;
    instr_t cur, nxt;
} engine_front;

static inline void engine_front_reset(engine_front *s) {
    s->cur_valid = s->nxt_valid = false;
}

static inline bool engine_front_ready(const engine_front *s) {
    return !s->nxt_valid;
}

static inline bool engine_front_waits(const engine_front *s) {
    return s->cur_valid && s->cur.op == OP_WAIT;
}

static inline bool engine_front_signals(const engine_front *s) {
    return s->cur_valid && s->cur.op == OP_SIGNAL;
}

// The instruction that the engine itself has to run, or NULL.
static inline const instr_t *engine_front_work(const engine_front *s) {
    return s->cur_valid && s->cur.op != OP_WAIT && s->cur.op != OP_SIGNAL ? &s->cur : NULL;
}

// One clock: advance: the instruction that runs ends; offer: the one offered, or NULL.
static inline void engine_front_step(engine_front *s, bool advance, const instr_t *offer) {
    bool accept = offer && !s->nxt_valid;
    if (!s->cur_valid || advance) {
        if (s->nxt_valid)
            s->cur = s->nxt;
        else if (accept)
            s->cur = *offer;
        s->cur_valid = s->nxt_valid || accept;
        s->nxt_valid = false;
    } else if (accept) {
        s->nxt = *offer;
        s->nxt_valid = true;
    }
}
#endif
