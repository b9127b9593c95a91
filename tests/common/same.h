// What the tests of engines and network share: RTL and twin side by side, flits compared, random flits.
#ifndef TESTS_COMMON_SAME_H
#define TESTS_COMMON_SAME_H
#include <criterion/criterion.h>
#include <string.h>

#include "common/flit.h"
#include "common/seed.h"

// got and want: structs of a twin's outputs in scope of the caller.
#define SAME(got, want, f, cycle)                                                                                      \
    cr_assert_eq((got).f, (want).f, #f ": cycle %llu: got %llx, want %llx", (unsigned long long)(cycle),               \
                 (unsigned long long)(got).f, (unsigned long long)(want).f)

static inline void same_flit(const flit_t *got, const flit_t *want, uint64_t cycle) {
    SAME(*got, *want, head, cycle);
    SAME(*got, *want, tail, cycle);
    SAME(*got, *want, len_m1, cycle);
    SAME(*got, *want, kind, cycle);
    SAME(*got, *want, to, cycle);
    SAME(*got, *want, rect.x0, cycle);
    SAME(*got, *want, rect.y0, cycle);
    SAME(*got, *want, rect.x1, cycle);
    SAME(*got, *want, rect.y1, cycle);
    SAME(*got, *want, root.x, cycle);
    SAME(*got, *want, root.y, cycle);
    SAME(*got, *want, src.x, cycle);
    SAME(*got, *want, src.y, cycle);
    SAME(*got, *want, tag, cycle);
    SAME(*got, *want, last, cycle);
    SAME(*got, *want, addr, cycle);
    for (int w = 0; w < ROW_WORDS; w++) SAME(*got, *want, data.w[w], cycle);
}

// Outputs that all engines have in common.
#define SAME_ENGINE(got, want, cycle)                                                                                  \
    do {                                                                                                               \
        SAME(got, want, instr_ready, cycle);                                                                           \
        SAME(got, want, busy, cycle);                                                                                  \
        SAME(got, want, error, cycle);                                                                                 \
        SAME(got, want, wait_valid, cycle);                                                                            \
        SAME(got, want, signal_valid, cycle);                                                                          \
        if ((want).wait_valid) SAME(got, want, wait_sem, cycle);                                                       \
        if ((want).wait_valid) SAME(got, want, wait_count, cycle);                                                     \
        if ((want).signal_valid) SAME(got, want, signal_sem, cycle);                                                   \
        if ((want).signal_valid) SAME(got, want, signal_count, cycle);                                                 \
    } while (0)
// One memory port, `req` or `req[i]`.
#define SAME_REQ(got, want, req, cycle)                                                                                \
    do {                                                                                                               \
        SAME(got, want, req.valid, cycle);                                                                             \
        if (!(want).req.valid) break;                                                                                  \
        SAME(got, want, req.we, cycle);                                                                                \
        SAME(got, want, req.addr, cycle);                                                                              \
        for (int w = 0; (want).req.we && w < ROW_WORDS; w++) SAME(got, want, req.wdata.w[w], cycle);                   \
    } while (0)

static inline void same_events(const uint16_t *got, const uint16_t *want, int n, uint64_t cycle) {
    for (int i = 0; i < n; i++)
        cr_assert_eq(got[i], want[i], "event %d: cycle %llu: got %u, want %u", i, (unsigned long long)cycle, got[i],
                     want[i]);
}

static inline row_t random_row(rng_t *rng) {
    return (row_t){{rng_next(rng), rng_next(rng), rng_next(rng), rng_next(rng)}};
}
#endif
