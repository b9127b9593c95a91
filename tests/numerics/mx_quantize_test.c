#include "numerics/mx_quantize.h"

#include <criterion/criterion.h>

#include "numerics/floats.h"
#include "numerics/mx_quantize_dut.h"

// RTL and twin, block after block with bubbles; every cycle's outputs.
static void lock_step(uint32_t seed) {
    rng_t rng = rng_new(seed);
    mx_quantize_dut *dut = mx_quantize_dut_new(&(dut_options){.seed = seed});
    mx_quantize twin;
    mx_quantize_reset(&twin);
    for (int cycle = 0; cycle < 20000; cycle++) {
        mx_quantize_in in = {.valid = rng_below(&rng, 5) != 0,
                             .fmt = (uint8_t)mx_formats[rng_below(&rng, 4)],
                             .rule = (uint8_t)rng_below(&rng, 3)};
        mx_quantize_out got, want;
        random_floats(&rng, (int)rng_below(&rng, 9), in.x);
        mx_quantize_dut_step(dut, &in, &got);
        mx_quantize_peek(&twin, &want);
        cr_assert_eq(got.valid, want.valid, "valid: cycle %d: got %d, want %d", cycle, got.valid, want.valid);
        if (want.valid) {
            cr_assert_eq(got.scale, want.scale, "scale: cycle %d: got %d, want %d", cycle, got.scale, want.scale);
            for (int k = 0; k < NUM_BLOCK; k++)
                cr_assert_eq(got.codes[k], want.codes[k], "code %d: cycle %d: got %02x, want %02x", k, cycle,
                             got.codes[k], want.codes[k]);
        }
        mx_quantize_step(&twin, &in);
    }
    cr_assert_eq(mx_quantize_dut_errors(dut), 0);
    mx_quantize_dut_free(dut);
}

Test(mx_quantize, equals_its_twin_seed_1) {
    lock_step(1);
}

Test(mx_quantize, equals_its_twin_seed_2) {
    lock_step(2);
}

Test(mx_quantize, equals_its_twin_seed_3) {
    lock_step(3);
}

// The head's claim: 1,000 blocks in 1,002 cycles.
Test(mx_quantize, takes_a_block_every_cycle) {
    mx_quantize_dut *dut = mx_quantize_dut_new(&(dut_options){.seed = 1});
    int blocks = 0;
    for (int cycle = 0; cycle < 1002; cycle++) {
        mx_quantize_in in = {.valid = cycle < 1000, .fmt = FMT_E4M3, .x = {bits_of((float)(cycle + 1))}};
        mx_quantize_out out;
        mx_quantize_dut_step(dut, &in, &out);
        if (!out.valid) continue;
        uint8_t codes[NUM_BLOCK],
            scale = num_quantize(FMT_E4M3, NUM_FLOOR, (uint32_t[NUM_BLOCK]){bits_of((float)(blocks + 1))}, codes);
        cr_assert(out.scale == scale && out.codes[0] == codes[0], "block %d came out of order", blocks);
        blocks++;
    }
    cr_assert_eq(blocks, 1000, "got %d blocks", blocks);
    mx_quantize_dut_free(dut);
}

static int errors_of(uint8_t fmt, uint8_t rule, bool valid) {
    mx_quantize_dut *dut = mx_quantize_dut_new(&(dut_options){.seed = 1});
    mx_quantize_out out;
    mx_quantize_dut_step(dut, &(mx_quantize_in){.valid = valid, .fmt = fmt, .rule = rule}, &out);
    int errors = mx_quantize_dut_errors(dut);
    mx_quantize_dut_free(dut);
    return errors;
}

Test(mx_quantize, fires_on_a_format_without_blocks_and_an_unknown_rule) {
    cr_assert_eq(errors_of(FMT_E5M2, NUM_CEIL, true), 0);
    cr_assert_eq(errors_of(FMT_INT4, NUM_FLOOR, true), 1);
    cr_assert_eq(errors_of(FMT_BF16, NUM_FLOOR, true), 1);
    cr_assert_eq(errors_of(FMT_E2M1, 3, true), 1);
    cr_assert_eq(errors_of(FMT_BF16, 3, false), 0);
}
