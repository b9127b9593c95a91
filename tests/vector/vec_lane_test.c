#include "vector/vec_lane.h"

#include <criterion/criterion.h>

#include "numerics/floats.h"
#include "numerics/num_fp32.h"
#include "vector/vec_lane_dut.h"

enum { OPERATIONS = 1000000 };

// RTL and twin with bubbles, every cycle's output; `op` NUM_LANE_OPS: any.
static void lock_step(uint32_t seed, int op) {
    rng_t rng = rng_new(seed);
    vec_lane_dut *dut = vec_lane_dut_new(&(dut_options){.seed = seed});
    vec_lane twin;
    vec_lane_reset(&twin);
    uint64_t done = 0;
    for (int cycle = 0; done < OPERATIONS; cycle++) {
        vec_lane_in in = {.valid = rng_below(&rng, 16) != 0};
        vec_lane_out got, want;
        in.op = (uint8_t)(op < NUM_LANE_OPS ? op : (int)rng_below(&rng, NUM_LANE_OPS));
        in.a = random_operand(&rng, 0x3F800000);
        in.b = random_operand(&rng, in.a);
        in.c = random_operand(&rng, in.op == LANE_FMA ? num_fp32_mul(in.a, in.b) : in.b);
        vec_lane_dut_step(dut, &in, &got);
        vec_lane_peek(&twin, &want);
        cr_assert_eq(got.valid, want.valid, "valid: cycle %d: got %d, want %d", cycle, got.valid, want.valid);
        if (want.valid)
            cr_assert_eq(got.result, want.result, "op %d, cycle %d: got %08x, want %08x", op, cycle, got.result,
                         want.result);
        done += want.valid;
        vec_lane_step(&twin, &in);
    }
    cr_assert_eq(vec_lane_dut_errors(dut), 0);
    vec_lane_dut_free(dut);
}

Test(vec_lane, equals_its_twin_any_operation) {
    lock_step(1, NUM_LANE_OPS);
}

Test(vec_lane, equals_its_twin_add) {
    lock_step(2, LANE_ADD);
}

Test(vec_lane, equals_its_twin_sub) {
    lock_step(3, LANE_SUB);
}

Test(vec_lane, equals_its_twin_mul) {
    lock_step(4, LANE_MUL);
}

Test(vec_lane, equals_its_twin_fma) {
    lock_step(5, LANE_FMA);
    lock_step(6, LANE_FMA);
}

Test(vec_lane, equals_its_twin_max_min) {
    lock_step(7, LANE_MAX);
    lock_step(8, LANE_MIN);
}

Test(vec_lane, equals_its_twin_exp2) {
    lock_step(9, LANE_EXP2);
}

Test(vec_lane, equals_its_twin_recip) {
    lock_step(10, LANE_RECIP);
}

Test(vec_lane, equals_its_twin_rsqrt) {
    lock_step(11, LANE_RSQRT);
}

// What the twin takes from no other room.
Test(vec_lane, selects_and_compares) {
    const uint32_t one = 0x3F800000, two = 0x40000000, minus_zero = 0x80000000;
    cr_assert_eq(vec_lane_result(LANE_SELECT, one, 5, 7), 5);
    cr_assert_eq(vec_lane_result(LANE_SELECT, 1, 5, 7), 5, "the least subnormal is not zero");
    cr_assert_eq(vec_lane_result(LANE_SELECT, minus_zero, 5, 7), 7);
    cr_assert_eq(vec_lane_result(LANE_LESS, one, two, 0), one);
    cr_assert_eq(vec_lane_result(LANE_LESS, two, one, 0), 0);
    cr_assert_eq(vec_lane_result(LANE_SUB, two, one, 0), one);
    cr_assert_eq(vec_lane_result(LANE_PASS, 0xFFFFFFFF, 0, 0), 0xFFFFFFFF);
}
