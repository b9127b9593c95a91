#include "common/rr_arbiter.h"

#include <criterion/criterion.h>

#include "common/seed.h"
#include "common/rr_arbiter_dut.h"

Test(rr_arbiter, equals_its_twin) {
    rng_t rng = rng_new(1);
    rr_arbiter_dut *dut = rr_arbiter_dut_new(&(dut_options){.seed = 3});
    rr_arbiter twin;
    rr_arbiter_reset(&twin, 5);
    for (int cycle = 0; cycle < 10000; cycle++) {
        uint64_t req = rng_below(&rng, 32);
        bool take = rng_below(&rng, 4) != 0;
        int want = rr_arbiter_peek(&twin, req);
        int got = rr_arbiter_dut_step(dut, req, take);
        cr_assert_eq(got, want, "grant: cycle %d, req %llx: got %d, want %d", cycle, (unsigned long long)req, got,
                     want);
        if (want >= 0 && take) rr_arbiter_take(&twin, want);
    }
    cr_assert_eq(rr_arbiter_dut_errors(dut), 0);
    rr_arbiter_dut_free(dut);
}

// Requests 1011 held (an input between them idle): each of the three is granted once in any three cycles.
Test(rr_arbiter, is_fair_when_some_inputs_are_idle) {
    rr_arbiter s;
    rr_arbiter_reset(&s, 4);
    int last[4] = {-1, -1, -1, -1};
    for (int cycle = 0; cycle < 300; cycle++) {
        int idx = rr_arbiter_peek(&s, 0xB);
        rr_arbiter_take(&s, idx);
        cr_assert(last[idx] < 0 || cycle - last[idx] == 3, "input %d: cycle %d, last granted at %d", idx, cycle,
                  last[idx]);
        last[idx] = cycle;
    }
}
