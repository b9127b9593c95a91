#include "counters/counters_bench.h"

Test(counters, equals_its_twin_seed_1) {
    lock_step(1, COUNTER_WIDTH, false);
}

Test(counters, equals_its_twin_seed_2) {
    lock_step(2, COUNTER_WIDTH, false);
}

Test(counters, equals_its_twin_seed_3) {
    lock_step(3, COUNTER_WIDTH, false);
}

// 65,537 cycles of 65,535 are FFFFFFFF; one event more and then idle cycles give exactly 1_00000000.
Test(counters, carry_into_the_high_half_is_there_at_once) {
    bench b;
    bench_init(&b, 4, COUNTER_WIDTH);
    tile_events ev = {0}, none = {0};
    ev.matmul.mac_issued = UINT16_MAX;
    for (int i = 0; i < 65537; i++) {
        counters_dut_step(b.dut, &ev, false, false, NULL);
        counters_step(&b.twin, &ev, false, false);
    }
    ev.matmul.mac_issued = 1;
    step(&b, &ev, true, false);
    counters_dut_out out = step(&b, &none, true, false);
    cr_assert_eq(out.snap[EV_MATMUL_MAC_ISSUED], 0xFFFFFFFFu, "before: got %llx",
                 (unsigned long long)out.snap[EV_MATMUL_MAC_ISSUED]);
    for (int i = 0; i < 10; i++) {
        out = step(&b, &none, true, false);
        cr_assert_eq(out.snap[EV_MATMUL_MAC_ISSUED], 0x100000000u, "idle cycle %d: got %llx", i,
                     (unsigned long long)out.snap[EV_MATMUL_MAC_ISSUED]);
    }
    step(&b, &ev, false, false); // the high half is still there for the next event
    step(&b, &none, true, false);
    cr_assert_eq(step(&b, &none, false, false).snap[EV_MATMUL_MAC_ISSUED], 0x100000001u);
    bench_done(&b);
}

// Windows cut by snapshot and clear in one cycle: their sums are the events sent, and each event of a snapshot's cycle
// is in the window behind it, not in the one before.
Test(counters, windows_lose_nothing_and_count_nothing_twice) {
    bench b;
    rng_t rng = rng_new(5);
    bench_init(&b, 5, COUNTER_WIDTH);
    uint64_t sent[NUM_EVENTS] = {0}, before[NUM_EVENTS] = {0}, got[NUM_EVENTS] = {0};
    bool cut = false;
    for (int i = 0; i < 4000; i++) {
        tile_events ev = random_events(&rng, 2);
        if (i >= 3990) memset(&ev, 0, sizeof ev);
        bool cuts = i == 3995 || rng_below(&rng, 16) == 0;
        counters_dut_out out = step(&b, &ev, cuts, cuts);
        for (int e = 0; e < NUM_EVENTS; e++) {
            if (cut) {
                got[e] += out.snap[e];
                cr_assert_eq(got[e], before[e], "cycle %d: event %d: windows hold %llu of %llu", i, e,
                             (unsigned long long)got[e], (unsigned long long)before[e]);
            }
            before[e] = sent[e]; // the events of the cycles before this one
            sent[e] += (&ev.matmul.busy)[e];
        }
        cut = cuts;
    }
    for (int e = 0; e < NUM_EVENTS; e++) cr_assert(got[e] == sent[e] && sent[e] > 0);
    bench_done(&b);
}

// A snapshot without a clear leaves the counters alone; a clear without one leaves the snapshot alone.
Test(counters, snapshot_and_clear_act_alone) {
    bench b;
    bench_init(&b, 6, COUNTER_WIDTH);
    tile_events ev = {0}, none = {0};
    ev.sram.reads = 3;
    step(&b, &ev, false, false);
    step(&b, &ev, true, false); // 3 before it
    cr_assert_eq(step(&b, &ev, false, false).snap[EV_SRAM_READS], 3);
    cr_assert_eq(step(&b, &ev, false, true).snap[EV_SRAM_READS], 3); // this cycle's 3 remain
    cr_assert_eq(step(&b, &none, true, false).snap[EV_SRAM_READS], 3);
    step(&b, &none, true, false);
    cr_assert_eq(step(&b, &none, false, true).snap[EV_SRAM_READS], 3);
    step(&b, &none, true, false);
    cr_assert_eq(step(&b, &none, false, false).snap[EV_SRAM_READS], 0);
    bench_done(&b);
}
