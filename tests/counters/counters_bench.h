// What the tests of both widths share: RTL and twin side by side.
#ifndef TESTS_COUNTERS_BENCH_H
#define TESTS_COUNTERS_BENCH_H
#include "counters/counters.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"
#include "counters/counters_dut.h"

typedef struct {
    counters_dut *dut;
    counters twin;
    int cycle;
} bench;

static const int event_width[NUM_EVENTS] = {
#define WIDTH(unit, event, width, energy, meaning) width,
    EVENTS_TABLE(WIDTH)
#undef WIDTH
};

static inline void bench_init(bench *b, uint32_t seed, int width) {
    *b = (bench){.dut = counters_dut_new(&(dut_options){.seed = seed})};
    counters_reset(&b->twin, width);
}

static inline void bench_done(bench *b) {
    cr_assert_eq(counters_dut_errors(b->dut), 0);
    counters_dut_free(b->dut);
}

// One cycle of both: the snapshot that stands at the ports is equal. Returns it.
static inline counters_dut_out step(bench *b, const tile_events *ev, bool snapshot, bool clear) {
    counters_dut_out got;
    counters_dut_step(b->dut, ev, snapshot, clear, &got);
    for (int e = 0; e < NUM_EVENTS; e++)
        cr_assert(got.snap[e] == b->twin.snap[e] && got.sticky[e] == b->twin.snap_sticky[e],
                  "cycle %d: event %d: got %llx, sticky %d, want %llx, sticky %d", b->cycle, e,
                  (unsigned long long)got.snap[e], got.sticky[e], (unsigned long long)b->twin.snap[e],
                  b->twin.snap_sticky[e]);
    counters_step(&b->twin, ev, snapshot, clear);
    b->cycle++;
    return got;
}

// Increments: `idle` of 8 events are zero, the others anything that their field holds, often its maximum.
static inline tile_events random_events(rng_t *rng, uint64_t idle) {
    tile_events ev;
    uint16_t *inc = &ev.matmul.busy;
    for (int e = 0; e < NUM_EVENTS; e++) {
        uint64_t most = (1ull << event_width[e]) - 1;
        inc[e] = (uint16_t)(rng_below(rng, 8) < idle ? 0 : rng_below(rng, 4) ? rng_next(rng) & most : most);
    }
    return ev;
}

// Random events, snapshots and clears. wants_full: some counter has to saturate.
static inline void lock_step(uint32_t seed, int width, bool wants_full) {
    bench b;
    rng_t rng = rng_new(seed);
    bench_init(&b, seed, width);
    bool full = false;
    for (int i = 0; i < 10000; i++) {
        tile_events ev = random_events(&rng, (uint64_t)i / 100 % 9);
        counters_dut_out out = step(&b, &ev, rng_below(&rng, 8) == 0, rng_below(&rng, 200) == 0);
        for (int e = 0; e < NUM_EVENTS; e++) full |= out.sticky[e];
    }
    cr_assert_eq(full, wants_full);
    bench_done(&b);
}
#endif
