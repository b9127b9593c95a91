#include "counters/counters_narrow_dut.h"

#include "counters/counters_bench.h"

enum { MAX = (1 << NARROW_WIDTH) - 1 };

Test(counters_narrow, equals_its_twin_seed_1) {
    lock_step(1, NARROW_WIDTH, true);
}

Test(counters_narrow, equals_its_twin_seed_2) {
    lock_step(2, NARROW_WIDTH, true);
}

Test(counters_narrow, equals_its_twin_seed_3) {
    lock_step(3, NARROW_WIDTH, true);
}

// Up to the maximum exactly nothing is lost and no flag is set; one event more stays there with the flag; clear ends
// both.
Test(counters_narrow, saturates_and_says_so) {
    bench b;
    bench_init(&b, 4, NARROW_WIDTH);
    tile_events ev = {0}, one = {0}, none = {0};
    ev.matmul.mac_issued = UINT16_MAX;
    for (int i = 0; i < MAX / UINT16_MAX; i++) step(&b, &ev, false, false);
    ev.matmul.mac_issued = MAX % UINT16_MAX;
    step(&b, &ev, false, false);
    one.matmul.mac_issued = 1;
    step(&b, &one, true, false);
    counters_dut_out out = step(&b, &none, true, false);
    cr_assert(out.snap[EV_MATMUL_MAC_ISSUED] == MAX && !out.sticky[EV_MATMUL_MAC_ISSUED]);
    out = step(&b, &one, false, true);
    cr_assert(out.snap[EV_MATMUL_MAC_ISSUED] == MAX && out.sticky[EV_MATMUL_MAC_ISSUED]);
    for (int e = 0; e < NUM_EVENTS; e++) cr_assert(e == EV_MATMUL_MAC_ISSUED || (out.snap[e] == 0 && !out.sticky[e]));
    step(&b, &none, true, false);
    out = step(&b, &none, false, false);
    cr_assert(out.snap[EV_MATMUL_MAC_ISSUED] == 1 && !out.sticky[EV_MATMUL_MAC_ISSUED]);
    bench_done(&b);
}
