#include "tile/tile_seq.h"

#include <criterion/criterion.h>

#include "common/seed.h"
#include "tile/tile_seq_dut.h"

enum { ALL_READY = (1 << NUM_ENGINES) - 1 };

// Loads the program into both; rows are written over several cycles of the RTL.
static void load(tile_seq_dut *dut, tile_seq *twin, const instr_t *program, int count) {
    tile_seq_dut_out out;
    for (int i = 0; i < count; i++) {
        tile_seq_dut_step(dut, &(tile_seq_dut_in){true, false, (uint32_t)i, isa_pack(&program[i]), 0}, &out);
        tile_seq_load(twin, i, &program[i]);
    }
}

// One cycle of both; compares every port. Returns whether the sequencer runs.
static bool step(tile_seq_dut *dut, tile_seq *twin, bool start, uint8_t ready, int cycle) {
    tile_seq_dut_out out;
    tile_seq_dut_step(dut, &(tile_seq_dut_in){.start = start, .ready = ready}, &out);
    const instr_t *instr;
    int engine = tile_seq_peek(twin, &instr);
    cr_assert_eq(out.running, twin->running, "running: cycle %d, got %d", cycle, out.running);
    cr_assert_eq(out.error, twin->error, "error: cycle %d, got %d", cycle, out.error);
    cr_assert_eq(out.valid, engine < 0 ? 0 : 1 << engine, "valid: cycle %d, got %x, engine %d", cycle, out.valid,
                 engine);
    if (engine >= 0) {
        row_t want = isa_pack(instr);
        cr_assert_arr_eq(out.instr.w, want.w, sizeof want, "instr: cycle %d", cycle);
    }
    seq_events ev;
    tile_seq_step(twin, start, engine >= 0 && (ready >> engine & 1), &ev);
    cr_assert(out.events.busy == ev.busy && out.events.stall_queue == ev.stall_queue && out.events.idle == ev.idle,
              "events: cycle %d", cycle);
    cr_assert_eq(ev.busy + ev.stall_queue + ev.idle, 1);
    return out.running;
}

static int random_program(rng_t *rng, instr_t *program) {
    int count = 1 + (int)rng_below(rng, 60);
    for (int i = 0; i < count; i++) {
        row_t row;
        for (int w = 0; w < ROW_WORDS; w++) row.w[w] = rng_next(rng);
        program[i] = isa_unpack(&row);
        program[i].op = (uint8_t)(1 + rng_below(rng, NUM_OPS - 1));
        program[i].engine = (uint8_t)(rng_below(rng, 100) == 0 ? rng_below(rng, 8) : rng_below(rng, NUM_ENGINES));
    }
    program[count - 1].op = OP_END;
    program[count - 1].engine = ENG_SEQ;
    return count;
}

static void lock_step(uint32_t dut_seed) {
    rng_t rng = rng_new(12);
    tile_seq_dut *dut = tile_seq_dut_new(&(dut_options){.seed = dut_seed});
    static tile_seq twin;
    tile_seq_reset(&twin);
    instr_t program[64];
    for (int run = 0, cycle = 0; cycle < 10000; run++) {
        load(dut, &twin, program, random_program(&rng, program));
        step(dut, &twin, true, 0, cycle++);
        while (step(dut, &twin, false, (uint8_t)((rng_next(&rng) | (run % 2 ? ALL_READY : 0)) & ALL_READY), cycle))
            cycle++;
    }
    cr_assert_eq(tile_seq_dut_errors(dut), 0);
    tile_seq_dut_free(dut);
}

Test(tile_seq, equals_its_twin) {
    for (uint32_t seed = 1; seed <= 3; seed++) lock_step(seed);
}

Test(tile_seq, dispatches_one_a_cycle) {
    tile_seq_dut *dut = tile_seq_dut_new(&(dut_options){.seed = 5});
    static tile_seq twin;
    tile_seq_reset(&twin);
    instr_t program[33];
    for (int i = 0; i < 32; i++) program[i] = (instr_t){.op = OP_SIGNAL, .engine = (uint8_t)(i % NUM_ENGINES)};
    program[32] = (instr_t){.op = OP_END, .engine = ENG_SEQ};
    load(dut, &twin, program, 33);
    step(dut, &twin, true, ALL_READY, 0);
    int cycles = 0;
    while (step(dut, &twin, false, ALL_READY, cycles)) cycles++;
    cr_assert_eq(cycles, 33); // 32 instructions and END
    tile_seq_dut_free(dut);
}

Test(tile_seq, program_without_end_stops_with_an_error) {
    tile_seq_dut *dut = tile_seq_dut_new(&(dut_options){.seed = 5});
    static tile_seq twin;
    static instr_t program[CFG_IMEM_ROWS];
    tile_seq_reset(&twin);
    for (int i = 0; i < CFG_IMEM_ROWS; i++) program[i] = (instr_t){.op = OP_SIGNAL};
    load(dut, &twin, program, CFG_IMEM_ROWS);
    step(dut, &twin, true, ALL_READY, 0);
    int cycles = 0;
    while (twin.pc < CFG_IMEM_ROWS - 1) step(dut, &twin, false, ALL_READY, cycles++);
    for (int i = 0; i < 3; i++) cr_assert(step(dut, &twin, false, 0, CFG_IMEM_ROWS + i), "the last row waits too");
    while (step(dut, &twin, false, ALL_READY, cycles)) cycles++;
    cr_assert_eq(cycles, CFG_IMEM_ROWS);
    cr_assert(twin.error);
    tile_seq_dut_free(dut);
}

Test(tile_seq, start_and_write_while_running_fire) {
    tile_seq_dut *dut = tile_seq_dut_new(&(dut_options){.seed = 5});
    tile_seq_dut_out out;
    instr_t end = {.op = OP_SIGNAL};
    tile_seq_dut_step(dut, &(tile_seq_dut_in){true, false, 0, isa_pack(&end), 0}, &out);
    tile_seq_dut_step(dut, &(tile_seq_dut_in){.start = true}, &out);
    cr_assert_eq(tile_seq_dut_errors(dut), 0);
    tile_seq_dut_step(dut, &(tile_seq_dut_in){.start = true}, &out);
    int after_start = tile_seq_dut_errors(dut);
    cr_assert_gt(after_start, 0);
    tile_seq_dut_step(dut, &(tile_seq_dut_in){.imem_we = true}, &out);
    cr_assert_gt(tile_seq_dut_errors(dut), after_start);
    tile_seq_dut_free(dut);
}
