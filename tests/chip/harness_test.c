// The harness ends what is stuck, refuses what cannot run, and its windows add up.
#include "chip/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip/chip_dut.h"
#include "hbm/hbm.h"

static const instr_t wait_never = {.op = OP_WAIT, .engine = ENG_SEND, .sem = 5, .count = 2};

// A WAIT that nobody signals: both backends say DEADLOCK, with tile, unit and semaphore.
static void expect_deadlock(harness_backend backend) {
    harness_program program = {0};
    harness_job job = {.programs = &program, .num_programs = 1};
    static harness_result r;
    program.instrs[CHIP_TILES - 1] = &wait_never;
    program.num_instrs[CHIP_TILES - 1] = 1;
    harness_options options = {.backend = backend, .seed = 1, .stall_cycles = 1000, .max_cycles = 100000};
    cr_assert_eq(harness_run(&job, &options, &r), HARNESS_DEADLOCK, "%s", r.text);
    char tile[64];
    snprintf(tile, sizeof tile, "tile (%d,%d) send", CFG_TILES_X - 1, CFG_TILES_Y - 1);
    cr_assert(strstr(r.text, tile), "%s", r.text);
    cr_assert(strstr(r.text, "semaphore 5 >= 2"), "%s", r.text);
    cr_assert(strstr(r.text, "DEADLOCK"), "%s", r.text);
    cr_assert_leq(r.cycles, 1000 + 2 * CFG_WINDOW);
}

Test(harness, says_deadlock_and_who_waits) {
    expect_deadlock(HARNESS_TWIN);
    expect_deadlock(HARNESS_RTL);
    expect_deadlock(HARNESS_BOTH);
}

// Signals without end would be needed for a true endless run; a long COPY chain that outlasts the limit will do.
Test(harness, says_timeout_while_something_moves) {
    static instr_t copies[100];
    for (int i = 0; i < 100; i++)
        copies[i] = (instr_t){.op = OP_COPY, .engine = ENG_MOVE, .rows = 100, .addr_a = 0, .addr_c = CFG_BANK_ROWS};
    harness_program program = {.instrs = {copies}, .num_instrs = {100}};
    harness_job job = {.programs = &program, .num_programs = 1};
    static harness_result r;
    harness_options options = {.backend = HARNESS_TWIN, .stall_cycles = 1000, .max_cycles = 2000};
    cr_assert_eq(harness_run(&job, &options, &r), HARNESS_TIMEOUT, "%s", r.text);
}

Test(harness, refuses_what_cannot_run) {
    static harness_result r;
    static instr_t many[CFG_IMEM_ROWS]; // no room for an END behind them
    many[CFG_IMEM_ROWS - 1].op = OP_SIGNAL;
    harness_options options = {.backend = HARNESS_TWIN};
    harness_program program = {.instrs = {many}, .num_instrs = {CFG_IMEM_ROWS}};
    harness_job job = {.programs = &program, .num_programs = 1};
    cr_assert_eq(harness_run(&job, &options, &r), HARNESS_BAD_JOB);
    cr_assert(strstr(r.text, "tile (0,0)"), "%s", r.text);
    harness_region nowhere = {.port = CHIP_PORTS};

    program.num_instrs[0] = 1;
    job.results = &nowhere;
    job.num_results = 1;
    cr_assert_eq(harness_run(&job, &options, &r), HARNESS_BAD_JOB);
    cr_assert(strstr(r.text, "port"), "%s", r.text);
}

typedef struct {
    uint64_t next, sums[CHIP_TILES][NUM_EVENTS];
} windows_seen;

static void add_window(void *context, const harness_window *window, uint32_t milliwatt[CHIP_TILES]) {
    windows_seen *seen = context;
    cr_assert_eq(window->begin, seen->next);
    cr_assert(window->cycles <= CFG_WINDOW);
    seen->next += window->cycles;
    for (int t = 0; t < CHIP_TILES; t++)
        for (int e = 0; e < NUM_EVENTS; e++) seen->sums[t][e] += window->counts[t][e];
    milliwatt[0] = 1234;
}

Test(harness, windows_add_up_to_the_run) {
    static instr_t copies[10];
    for (int i = 0; i < 10; i++)
        copies[i] = (instr_t){.op = OP_COPY, .engine = ENG_MOVE, .rows = 50, .addr_a = 0, .addr_c = CFG_BANK_ROWS};
    harness_program program = {.instrs = {copies}, .num_instrs = {10}};
    harness_job job = {.programs = &program, .num_programs = 1};
    static harness_result r;
    static windows_seen seen;
    harness_options options = {.backend = HARNESS_TWIN, .on_window = add_window, .context = &seen};
    cr_assert_eq(harness_run(&job, &options, &r), HARNESS_OK, "%s", r.text);
    cr_assert_eq(seen.next, r.cycles);
    cr_assert_arr_eq(seen.sums, r.counters, sizeof r.counters);
    cr_assert_eq(r.counters[0][EV_MOVE_ROWS_COPIED], 500);
}

// An FST is whole although the run ended in a deadlock: it starts and ends as GTKWave expects.
Test(harness, wave_is_closed_after_a_failure) {
    const char *path = "build/harness_test.fst";
    harness_program program = {.instrs = {&wait_never}, .num_instrs = {1}};
    harness_job job = {.programs = &program, .num_programs = 1};
    static harness_result r;
    harness_options options = {.backend = HARNESS_RTL, .wave = path, .stall_cycles = 300};
    cr_assert_eq(harness_run(&job, &options, &r), HARNESS_DEADLOCK);
    FILE *f = fopen(path, "rb");
    cr_assert(f);
    int first = fgetc(f);
    cr_assert_eq(first, 0, "first block of a closed FST is its header (0), got %d", first);
    uint8_t header[24];
    cr_assert_eq(fread(header, 1, sizeof header, f), sizeof header);
    uint64_t end = 0;
    for (int i = 16; i < 24; i++) end = end << 8 | header[i]; // section length, start time, end time
    cr_assert_gt(end, 300);
    fclose(f);
}

// Two jobs on one chip without a reset between them: RTL and twin stay equal, and the second takes as long as the first.
Test(harness, jobs_follow_each_other_without_reset) {
    chip_dut *dut = chip_dut_new(&(dut_options){.seed = 9});
    chip *twin = chip_new();
    static hbm mem[2];
    const instr_t program[] = {{.op = OP_LOAD, .engine = ENG_MOVE, .to = TO_WEST, .rows = 20, .addr_c = 0},
                               {.op = OP_SIGNAL, .engine = ENG_MOVE, .sem = 1, .count = 1},
                               {.op = OP_WAIT, .engine = ENG_SEND, .sem = 1, .count = 1},
                               {.op = OP_SEND, .engine = ENG_SEND, .rows = 20, .addr_c = 300, .tag = 2},
                               {.op = OP_RECEIVE, .engine = ENG_RECV, .rows = 20, .tag = 2},
                               {.op = OP_END, .engine = ENG_SEQ}};
    const instr_t end = {.op = OP_END, .engine = ENG_SEQ};
    int took[3];
    for (int i = 0; i < 2; i++) {
        hbm_init(&mem[i]);
        cr_assert(hbm_rows(&mem[i], 0, 0, 64));
    }
    for (int job = 0; job < 3; job++) {
        for (int t = 0; t < CHIP_TILES; t++)
            for (int i = 0; i < 6; i++) {
                row_t row = isa_pack(t ? &end : &program[i]);
                chip_dut_load(dut, t, i, &row);
                chip_load(twin, t, i, &row);
            }
        chip_out out[2];
        for (int cycle = 0;; cycle++) {
            chip_dut_peek(dut, &out[0]);
            chip_peek(twin, &out[1]);
            cr_assert_eq(out[0].done, out[1].done, "job %d, cycle %d", job, cycle);
            took[job] = cycle;
            if (cycle && out[0].done) break;
            cr_assert_lt(cycle, 2000);
            for (int i = 0; i < 2; i++) {
                chip_in in = {.start = cycle == 0};
                for (int p = 0; p < CHIP_PORTS; p++) hbm_peek(&mem[i], p, &in.link[p], &in.credit[p]);
                if (i == 0) chip_dut_step(dut, &in);
                else chip_step(twin, &in);
                hbm_step(&mem[i], out[i].link, out[i].credit);
            }
        }
    }
    cr_assert_eq(took[1], took[0]);
    cr_assert_eq(took[2], took[0]);
    for (int i = 0; i < 2; i++) hbm_free(&mem[i]);
    chip_dut_free(dut);
    chip_free(twin);
}
