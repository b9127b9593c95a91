// Round-robin arbiter over up to 64 requests: twin of rtl/common/rr_arbiter.sv.
#ifndef COMMON_RR_ARBITER_H
#define COMMON_RR_ARBITER_H
#include <stdint.h>

typedef struct {
    uint8_t n, last;
} rr_arbiter;

// n: 1..64 inputs.
static inline void rr_arbiter_reset(rr_arbiter *s, int n) {
    s->n = (uint8_t)n;
    s->last = (uint8_t)(n - 1);
}

// Index of the granted request, -1 where req is 0. Priority moves only by rr_arbiter_take.
static inline int rr_arbiter_peek(const rr_arbiter *s, uint64_t req) {
    if (!req) return -1;
    uint64_t above = s->last >= 63 ? 0 : req >> (s->last + 1) << (s->last + 1);
    return __builtin_ctzll(above ? above : req);
}

static inline void rr_arbiter_take(rr_arbiter *s, int idx) {
    s->last = (uint8_t)idx;
}
#endif
