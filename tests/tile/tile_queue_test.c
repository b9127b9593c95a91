#include "tile/tile_queue.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"
#include "tile/tile_queue_dut.h"

static instr_t random_instr(rng_t *rng) {
    row_t row;
    for (int i = 0; i < ROW_WORDS; i++) row.w[i] = rng_next(rng);
    return isa_unpack(&row);
}

static void lock_step(uint32_t dut_seed) {
    rng_t rng = rng_new(11);
    tile_queue_dut *dut = tile_queue_dut_new(&(dut_options){.seed = dut_seed});
    tile_queue twin;
    tile_queue_reset(&twin);
    instr_t offer = random_instr(&rng);
    bool offered = false, pending = false;
    int full = 0, empty = 0;
    for (int cycle = 0; cycle < 10000; cycle++) {
        uint64_t phase = (uint64_t)cycle / 500 % 3; // fill, drain, mix
        if (!pending) {
            offered = rng_below(&rng, 4) > (phase == 1 ? 2 : 0);
            offer = random_instr(&rng);
        }
        bool pop = rng_below(&rng, 4) > (phase == 0 ? 2 : 0);
        tile_queue_dut_out out;
        tile_queue_dut_step(dut, &(tile_queue_dut_in){offered, pop, isa_pack(&offer)}, &out);
        cr_assert_eq(out.in_ready, tile_queue_ready(&twin), "ready: cycle %d", cycle);
        cr_assert_eq(out.out_valid, tile_queue_valid(&twin), "valid: cycle %d", cycle);
        if (out.out_valid) {
            row_t want = isa_pack(tile_queue_front(&twin));
            cr_assert_arr_eq(out.out_instr.w, want.w, sizeof want, "instr: cycle %d", cycle);
        }
        full += !tile_queue_ready(&twin);
        empty += !tile_queue_valid(&twin);
        pending = offered && !tile_queue_ready(&twin);
        tile_queue_step(&twin, offered ? &offer : NULL, pop);
    }
    cr_assert(full > 100 && empty > 100, "full in %d cycles, empty in %d", full, empty);
    cr_assert_eq(tile_queue_dut_errors(dut), 0);
    tile_queue_dut_free(dut);
}

Test(tile_queue, equals_its_twin) {
    for (uint32_t seed = 1; seed <= 3; seed++) lock_step(seed);
}

Test(tile_queue, keeps_order_at_one_a_cycle) {
    tile_queue_dut *dut = tile_queue_dut_new(&(dut_options){.seed = 1});
    tile_queue_dut_out out;
    for (int cycle = 0; cycle < 100; cycle++) {
        instr_t instr = {.rows = (uint16_t)cycle};
        tile_queue_dut_step(dut, &(tile_queue_dut_in){true, true, isa_pack(&instr)}, &out);
        cr_assert(out.in_ready, "cycle %d", cycle);
        if (cycle > 0) {
            cr_assert(out.out_valid, "cycle %d", cycle);
            cr_assert_eq(isa_unpack(&out.out_instr).rows, cycle - 1);
        }
    }
    tile_queue_dut_free(dut);
}

Test(tile_queue, offer_that_is_withdrawn_fires) {
    tile_queue_dut *dut = tile_queue_dut_new(&(dut_options){.seed = 1});
    tile_queue_dut_out out;
    for (int i = 0; i <= CFG_QUEUE_DEPTH; i++) tile_queue_dut_step(dut, &(tile_queue_dut_in){.in_valid = true}, &out);
    cr_assert_eq(tile_queue_dut_errors(dut), 0);
    tile_queue_dut_step(dut, &(tile_queue_dut_in){.in_valid = false}, &out);
    cr_assert_gt(tile_queue_dut_errors(dut), 0);
    tile_queue_dut_free(dut);
}

// Every field of an instruction survives, at its place: op in the top byte, 8 reserved bits at the bottom.
Test(tile_queue, instruction_layout) {
    instr_t instr = {.op = 0xA5, .engine = 5, .hbm_addr = 0x12345678, .root = {3, 17}};
    row_t row = isa_pack(&instr);
    cr_assert_eq(row.w[3] >> 56, 0xA5);
    cr_assert_eq(row.w[3] >> 53 & 7, 5);
    cr_assert_eq(row.w[0] & 0xff, 0);
    cr_assert_eq(row.w[0] >> 8 & 31, 17);
    cr_assert_eq(row.w[0] >> 13 & 31, 3);
    cr_assert_eq((row.w[0] >> 40 | row.w[1] << 24) & 0xffffffff, 0x12345678);
    instr_t back = isa_unpack(&row);
    row_t again = isa_pack(&back);
    cr_assert_arr_eq(again.w, row.w, sizeof row);
}
