// Inside the matmul twin: what the parts decide in a cycle and how each of them steps. For csim/matmul only.
#ifndef MATMUL_MATMUL_STEPS_H
#define MATMUL_MATMUL_STEPS_H
#include "matmul/matmul.h"

// Why a row enters the array in this cycle, or why none does.
typedef enum { MM_NOTHING, MM_ROW, MM_NO_WEIGHTS, MM_NO_SCALE, MM_NO_OPERAND, MM_NO_BANK } mm_why;

// What happens in a cycle, from the state and the grants.
typedef struct {
    mm_why why;
    bool row_last, row_close, as_pop;
    bool push;                  // a block begins
    bool a_gnt, w_gnt, s_gnt, c_gnt;
    bool s_valid, choose_as;    // the request on port S is for activation scales
    uint16_t s_addr;
    bool signal;
    bool row_bank;              // of the row that enters
} mm_now;

mm_why mm_issue_why(const matmul *s);
// Given why: the row that enters is its block's last; it takes the last scale of a scale row.
bool mm_issue_last(const matmul *s, mm_why why);
bool mm_scale_pop(const matmul *s, mm_why why);
void mm_issue_row(const matmul *s, matmul_array_in *a);
bool mm_a_valid(const mm_stream *t);
uint16_t mm_a_addr(const matmul *s);
bool mm_w_valid(const matmul *s, bool row_last);
bool mm_s_valid(const matmul *s, bool as_pop, bool *choose_as, uint16_t *addr);
bool mm_c_valid(const mm_drain *d);
void mm_front_accept(mm_front *f, const instr_t *instr);
void mm_decide(const matmul *s, const matmul_in *in, mm_now *now);
// Each step changes its own part and reads the others' state of before the edge; so the order is drain, scale, stream,
// front.
void mm_drain_step(matmul *s, const matmul_in *in, const mm_now *now);
void mm_scale_step(matmul *s, const matmul_in *in, const mm_now *now);
void mm_stream_step(matmul *s, const matmul_in *in, const mm_now *now);
void mm_front_step(matmul *s, const matmul_in *in, const mm_now *now);

static inline void mm_walk(mm_walker *w, bool push, bool pass) {
    w->n = (uint8_t)(w->n + push - pass);
    w->half ^= pass;
}
#endif
