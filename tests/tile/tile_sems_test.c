#include "tile/tile_sems.h"

#include <criterion/criterion.h>

#include "common/seed.h"
#include "tile/tile_sems_dut.h"

typedef struct {
    tile_sems_dut *dut;
    tile_sems twin;
    int cycle;
} bench;

typedef struct {
    bool gnt[NUM_ENGINES];
    bool error;
} result;

static bench bench_new(uint32_t seed) {
    bench b = {.dut = tile_sems_dut_new(&(dut_options){.seed = seed})};
    tile_sems_reset(&b.twin);
    return b;
}

static void bench_done(bench *b, int errors) {
    cr_assert_eq(tile_sems_dut_errors(b->dut), errors, "CHK: %d fired, want %d", tile_sems_dut_errors(b->dut), errors);
    tile_sems_dut_free(b->dut);
}

// One cycle of both: grants and the error bit are equal.
static result step(bench *b, const tile_sems_in *in) {
    result got;
    bool want[NUM_ENGINES];
    tile_sems_dut_step(b->dut, in, got.gnt, &got.error);
    tile_sems_grant(&b->twin, in->wait, want);
    for (int e = 0; e < NUM_ENGINES; e++)
        cr_assert_eq(got.gnt[e], want[e], "cycle %d: engine %d: gnt %d, want %d", b->cycle, e, got.gnt[e], want[e]);
    cr_assert_eq(got.error, b->twin.error, "cycle %d: error %d, want %d", b->cycle, got.error, b->twin.error);
    tile_sems_step(&b->twin, in, want);
    b->cycle++;
    return got;
}

// Waits hold until granted. sems: how many semaphores are used. Signals are small, so that values stay below 256,
// unless `wild`, which also names semaphores that do not exist.
static void lock_step(uint32_t seed, uint64_t sems, bool wild) {
    rng_t rng = rng_new(seed);
    bench b = bench_new(seed);
    tile_sems_in in = {0};
    int granted = 0, waited = 0;
    bool error = false;
    for (int i = 0; i < 10000; i++) {
        for (int e = 0; e < NUM_ENGINES; e++) {
            if (!in.wait[e].valid)
                in.wait[e] =
                    (tile_sem_op){rng_below(&rng, 2) != 0, (uint8_t)rng_below(&rng, sems), (uint8_t)rng_below(&rng, 6)};
            in.signal[e] = (tile_sem_op){rng_below(&rng, 3) == 0, (uint8_t)rng_below(&rng, wild ? 32 : sems),
                                         (uint8_t)rng_below(&rng, wild ? 256 : 6)};
            if (!wild && b.twin.value[in.signal[e].sem] > 200) in.signal[e].valid = false;
        }
        result r = step(&b, &in);
        error |= r.error;
        for (int e = 0; e < NUM_ENGINES; e++) {
            granted += r.gnt[e];
            waited += in.wait[e].valid && !r.gnt[e];
            if (r.gnt[e]) in.wait[e].valid = false;
        }
    }
    cr_assert(granted > 1000 && waited > 1000, "stimulus: %d granted, %d waited", granted, waited);
    cr_assert_eq(error, wild);
    bench_done(&b, 0);
}

Test(tile_sems, equals_its_twin_seed_1) {
    lock_step(1, 3, false);
}

Test(tile_sems, equals_its_twin_seed_2) {
    lock_step(2, CFG_NUM_SEMS, false);
}

Test(tile_sems, equals_its_twin_seed_3) {
    lock_step(3, 2, true);
}

static tile_sems_in signals(int engine, uint8_t sem, uint8_t count) {
    tile_sems_in in = {0};
    in.signal[engine] = (tile_sem_op){true, sem, count};
    return in;
}

static tile_sems_in waits(int engine, uint8_t sem, uint8_t count) {
    tile_sems_in in = {0};
    in.wait[engine] = (tile_sem_op){true, sem, count};
    return in;
}

Test(tile_sems, a_signal_is_seen_in_the_next_cycle) {
    bench b = bench_new(4);
    tile_sems_in in = waits(1, 5, 2);
    in.signal[2] = (tile_sem_op){true, 5, 2};
    cr_assert(!step(&b, &in).gnt[1]);
    in.signal[2].valid = false;
    cr_assert(step(&b, &in).gnt[1]);
    cr_assert(!step(&b, &in).gnt[1]); // the count was taken
    bench_done(&b, 0);
}

// Two engines at one semaphore: the lowest alone is considered, even where the other asks for less.
Test(tile_sems, the_lowest_engine_goes_first) {
    bench b = bench_new(5);
    tile_sems_in in = signals(0, 1, 3);
    step(&b, &in);
    in = waits(1, 1, 4);
    in.wait[3] = (tile_sem_op){true, 1, 1};
    in.wait[2] = (tile_sem_op){true, 2, 0}; // another semaphore; a count of 0 is always there
    result r = step(&b, &in);
    cr_assert(!r.gnt[1] && r.gnt[2] && !r.gnt[3]);
    in.wait[2].valid = false;
    in.signal[0] = (tile_sem_op){true, 1, 2};
    step(&b, &in);
    in.signal[0].valid = false;
    r = step(&b, &in);
    cr_assert(r.gnt[1] && !r.gnt[3]);
    in.wait[1].valid = false;
    cr_assert(step(&b, &in).gnt[3]); // 3 + 2 - 4
    in.wait[3].valid = false;
    in = waits(3, 1, 1);
    cr_assert(!step(&b, &in).gnt[3]);
    bench_done(&b, 0);
}

// 255 is held, also where a wait takes off in the cycle of the signal; more is an error that stays, and 255 remains.
Test(tile_sems, more_than_255_is_a_sticky_error) {
    bench b = bench_new(6);
    tile_sems_in in = signals(0, 0, 200), none = {0};
    in.signal[3] = (tile_sem_op){true, 0, 55};
    step(&b, &in);
    cr_assert(!step(&b, &none).error);
    in = waits(1, 0, 1);
    in.signal[2] = (tile_sem_op){true, 0, 1};
    cr_assert(step(&b, &in).gnt[1]);
    cr_assert(!step(&b, &none).error);
    in = signals(2, 0, 1);
    cr_assert(!step(&b, &in).error);
    in = waits(0, 0, 255);
    result r = step(&b, &in);
    cr_assert(r.error && r.gnt[0]);
    for (int i = 0; i < 5; i++) cr_assert(step(&b, &none).error);
    bench_done(&b, 0);
}

Test(tile_sems, a_semaphore_that_does_not_exist_is_an_error) {
    if (CFG_NUM_SEMS == 32) return;
    for (int what = 0; what < 2; what++) {
        bench b = bench_new(7);
        tile_sems_in in = what ? waits(0, CFG_NUM_SEMS, 0) : signals(0, CFG_NUM_SEMS, 1);
        cr_assert(!step(&b, &in).gnt[0]);
        result r = step(&b, &in);
        cr_assert(r.error && !r.gnt[0]);
        bench_done(&b, 0);
    }
}

// Four waits for four semaphores and four signals in one cycle, every cycle.
Test(tile_sems, every_engine_waits_and_signals_in_each_cycle) {
    bench b = bench_new(8);
    tile_sems_in in = {0};
    for (int e = 0; e < NUM_ENGINES; e++) in.signal[e] = (tile_sem_op){true, (uint8_t)(3 * e), 7};
    step(&b, &in);
    for (int e = 0; e < NUM_ENGINES; e++) in.wait[e] = in.signal[e];
    for (int i = 0; i < 100; i++) {
        result r = step(&b, &in);
        for (int e = 0; e < NUM_ENGINES; e++) cr_assert(r.gnt[e], "cycle %d: engine %d", i, e);
    }
    bench_done(&b, 0);
}

Test(tile_sems, checks_fire) {
    bench b = bench_new(9);
    tile_sems_in in = waits(0, 0, 1);
    step(&b, &in);
    in.wait[0].count = 2;
    step(&b, &in);
    cr_assert_eq(tile_sems_dut_errors(b.dut), 1);
    in.wait[0].valid = false;
    step(&b, &in);
    bench_done(&b, 2);
}
