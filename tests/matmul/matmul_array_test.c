// CONFIGS: tiny mini
#include "matmul/matmul_array.h"

#include <criterion/criterion.h>
#include <string.h>

#include "matmul/matmul_array_dut.h"
#include "numerics/blocks.h"

static void put(row_t *rows, int at, uint16_t code) {
    row_t *r = &rows[at / ROW_BITS];
    at %= ROW_BITS;
    r->w[at / 64] |= (uint64_t)code << (at % 64);
}

// RTL, twin and the untimed reference side by side.
typedef struct {
    matmul_array_dut *dut;
    matmul_array twin;
    uint32_t want[2][CFG_ROWS][CFG_COLS]; // reference accumulators
    int cycle;
} bench;

static void step(bench *b, const matmul_array_in *in) {
    matmul_array_out out;
    matmul_events got, want;
    int rd_bank = b->cycle & 1, rd_idx = b->cycle / 2 % CFG_ROWS;
    memset(&got, 0, sizeof got);
    memset(&want, 0, sizeof want);
    matmul_array_dut_step(b->dut, in, rd_bank, rd_idx, &out, &got);
    cr_assert_eq(out.busy, matmul_array_busy(&b->twin), "busy: cycle %d, got %d", b->cycle, out.busy);
    for (int k = 0; k < 2; k++)
        cr_assert_eq(out.acc_busy[k], matmul_array_acc_busy(&b->twin, k), "acc_busy[%d]: cycle %d", k, b->cycle);
    const uint32_t *read = matmul_array_read(&b->twin, rd_bank, rd_idx);
    for (int c = 0; c < CFG_COLS; c++)
        cr_assert_eq(out.read[c], read[c], "accumulator [%d][%d][%d]: cycle %d, got %08x, want %08x", rd_bank, rd_idx,
                     c, b->cycle, out.read[c], read[c]);
    matmul_array_step(&b->twin, in, &want);
    cr_assert_eq(memcmp(&got, &want, sizeof got), 0,
                 "events: cycle %d: got zeros %d a %d w %d acc %d gated %d, want %d %d %d %d %d", b->cycle,
                 got.zero_operands, got.a_toggles, got.w_toggles, got.acc_toggles, got.gated, want.zero_operands,
                 want.a_toggles, want.w_toggles, want.acc_toggles, want.gated);
    b->cycle++;
}

static void fill_accumulators(bench *b, rng_t *rng) {
    for (int bank = 0; bank < 2; bank++)
        for (int idx = 0; idx < CFG_ROWS; idx++)
            for (int part = 0; part < CFG_COLS / 8; part++) {
                matmul_array_in in = {
                    .ini_valid = true, .ini_bank = (uint8_t)bank, .ini_part = (uint8_t)part, .ini_idx = (uint16_t)idx};
                for (int c = 0; c < 8; c++) {
                    uint32_t x = rng_below(rng, 3) ? (uint32_t)rng_next(rng) : edge_acc[rng_below(rng, 15)];
                    b->want[bank][idx][8 * part + c] = x;
                    in.ini_data.w[c / 2] |= (uint64_t)x << (32 * (c & 1));
                }
                // the read port shows only rows that were written
                matmul_array_out out;
                matmul_events ev;
                matmul_array_dut_step(b->dut, &in, 0, 0, &out, &ev);
                memset(&ev, 0, sizeof ev);
                matmul_array_step(&b->twin, &in, &ev);
            }
}

// Loads COLS cases as the columns of one block, then streams random rows.
static void run_block(bench *b, rng_t *rng, fmt_id a_fmt, fmt_id w_fmt, int number) {
    int bank = number & 1, w_bits = num_fmt_bits(w_fmt), a_bits = num_fmt_bits(a_fmt);
    block_case cases[CFG_COLS];
    row_t weights[2 * CFG_COLS];
    memset(weights, 0, sizeof weights);
    matmul_array_in in = {.ws_bank = (uint8_t)bank, .ws_valid = true};
    for (int c = 0; c < CFG_COLS; c++) {
        cases[c] = random_block(rng, a_fmt, w_fmt, number + 3 * c);
        cases[c].w_scale = cases[0].w_scale;
        for (int k = 0; k < NUM_BLOCK; k++) put(weights, (c * NUM_BLOCK + k) * w_bits, cases[c].w[k]);
        in.ws_data[c] = cases[c].scale_w;
    }
    in.ws_fmt = (uint8_t)cases[0].w_scale;
    for (int r = 0; r < CFG_COLS * w_bits / 8; r++) {
        in.wl_valid = true;
        in.wl_bank = (uint8_t)bank;
        in.wl_fmt = (uint8_t)w_fmt;
        in.wl_row = (uint16_t)r;
        in.wl_data = weights[r];
        step(b, &in);
        in.ws_valid = false;
    }
    int rows = 1 + (int)rng_below(rng, 6);
    for (int m = 0; m < rows; m++) {
        memset(&in, 0, sizeof in);
        if (rng_below(rng, 4) == 0) step(b, &in); // a bubble
        block_case act = random_block(rng, a_fmt, w_fmt, number + m);
        in.row_valid = true;
        in.row_wbank = (uint8_t)bank;
        in.row_fmt = (uint8_t)a_fmt;
        in.row_scale_fmt = (uint8_t)act.a_scale;
        in.row_scale = (uint8_t)act.scale_a;
        in.row_acc_bank = rng_below(rng, 2) & 1;
        in.row_idx = (uint16_t)rng_below(rng, 3); // often the same row again, back to back
        in.row_first = rng_below(rng, 4) == 0;
        for (int k = 0; k < NUM_BLOCK; k++) put(in.row_data, k * a_bits, act.a[k]);
        for (int c = 0; c < CFG_COLS; c++) {
            uint32_t *acc = &b->want[in.row_acc_bank][in.row_idx][c];
            *acc = num_accumulate(in.row_first ? 0 : *acc, num_block_dot(a_fmt, act.a, w_fmt, cases[c].w),
                                  num_decode_scale(act.a_scale, act.scale_a),
                                  num_decode_scale(cases[c].w_scale, cases[c].scale_w));
        }
        step(b, &in);
    }
}

static void lock_step(uint32_t seed, int blocks) {
    rng_t rng = rng_new(seed);
    bench *b = calloc(1, sizeof *b);
    b->dut = matmul_array_dut_new(&(dut_options){.seed = seed});
    matmul_array_reset(&b->twin);
    fill_accumulators(b, &rng);
    for (int i = 0; i < blocks; i++) {
        run_block(b, &rng, (fmt_id)(i % NUM_FMTS), (fmt_id)(i / NUM_FMTS % NUM_FMTS), i);
        if (i % 50) continue;
        matmul_array_in idle = {0};
        for (int k = 0; k < 6; k++) step(b, &idle);
        for (int bank = 0; bank < 2; bank++)
            for (int idx = 0; idx < 3; idx++)
                for (int c = 0; c < CFG_COLS; c++)
                    cr_assert_eq(b->twin.acc[bank][idx][c], b->want[bank][idx][c],
                                 "block %d, accumulator [%d][%d][%d]: got %08x, want %08x", i, bank, idx, c,
                                 b->twin.acc[bank][idx][c], b->want[bank][idx][c]);
    }
    cr_assert_eq(matmul_array_dut_errors(b->dut), 0);
    matmul_array_dut_free(b->dut);
    free(b);
}

Test(matmul_array, equals_twin_and_reference_seed_1) {
    lock_step(1, 1800);
}

Test(matmul_array, equals_twin_and_reference_seed_2) {
    lock_step(2, 1800);
}

Test(matmul_array, equals_twin_and_reference_seed_3) {
    lock_step(3, 1800);
}

// Twin against the reference over the random and edge blocks of every pair of formats.
Test(matmul_array, twin_equals_the_reference_on_every_pair_of_formats) {
    matmul_array *s = calloc(1, sizeof *s);
    for (int pair = 0; pair < NUM_FMTS * NUM_FMTS; pair++) {
        fmt_id a_fmt = (fmt_id)(pair / NUM_FMTS), w_fmt = (fmt_id)(pair % NUM_FMTS);
        rng_t rng = rng_new(100 + (uint64_t)pair);
        matmul_array_reset(s);
        for (int i = 0; i < 20000; i++) {
            block_case c = random_block(&rng, a_fmt, w_fmt, i);
            matmul_array_in in = {0};
            matmul_events ev;
            int bits = num_fmt_bits(w_fmt);
            row_t column[2] = {{{0}}};
            for (int k = 0; k < NUM_BLOCK; k++) put(column, k * bits, c.w[k]);
            for (int r = 0; r < (bits == 16 ? 2 : 1); r++) {
                in = (matmul_array_in){
                    .wl_valid = true, .wl_fmt = (uint8_t)w_fmt, .wl_row = (uint16_t)r, .wl_data = column[r]};
                matmul_array_step(s, &in, &ev);
            }
            in = (matmul_array_in){
                .ws_valid = true, .ws_fmt = (uint8_t)c.w_scale, .ws_data = {c.scale_w}, .ini_valid = true};
            in.ini_data.w[0] = c.acc;
            in.row_valid = true;
            in.row_fmt = (uint8_t)a_fmt;
            in.row_scale_fmt = (uint8_t)c.a_scale;
            in.row_scale = (uint8_t)c.scale_a;
            for (int k = 0; k < NUM_BLOCK; k++) put(in.row_data, k * num_fmt_bits(a_fmt), c.a[k]);
            for (int k = 0; k < 4; k++) {
                matmul_array_step(s, &in, &ev);
                in = (matmul_array_in){0};
            }
            cr_assert_eq(s->acc[0][0][0], reference(&c), "%s x %s, case %d: got %08x, want %08x", num_fmt_name(a_fmt),
                         num_fmt_name(w_fmt), i, s->acc[0][0][0], reference(&c));
        }
    }
    free(s);
}

static int errors_of(const matmul_array_in *in) {
    matmul_array_dut *dut = matmul_array_dut_new(&(dut_options){.seed = 1});
    matmul_array_out out;
    matmul_events ev;
    matmul_array_dut_step(dut, in, 0, 0, &out, &ev);
    int errors = matmul_array_dut_errors(dut);
    matmul_array_dut_free(dut);
    return errors;
}

Test(matmul_array, fires_on_inputs_outside_the_contract) {
    matmul_array_in in = {.wl_valid = true, .wl_fmt = FMT_E2M1, .wl_row = CFG_COLS / 2 - 1};
    cr_assert_eq(errors_of(&in), 0);
    in.wl_row++;
    cr_assert_eq(errors_of(&in), 1, "a row beyond a 4-bit block");
    in.wl_fmt = FMT_E4M3;
    cr_assert_eq(errors_of(&in), 0);
    in.wl_row = CFG_COLS;
    cr_assert_eq(errors_of(&in), 1, "a row beyond an 8-bit block");
    in.wl_fmt = FMT_BF16;
    cr_assert_eq(errors_of(&in), 0);
    in = (matmul_array_in){.row_valid = true, .row_fmt = FMT_BF16 + 1};
    cr_assert_eq(errors_of(&in), 1, "a format that does not exist");
    in = (matmul_array_in){.row_valid = true, .row_scale_fmt = SCALE_BF16};
    cr_assert_eq(errors_of(&in), 1, "a BF16 scale of activations");
}

// A row comes out of the pipeline three cycles after it was taken; an initial value in that cycle to it is refused.
Test(matmul_array, fires_when_an_initial_value_meets_a_result) {
    matmul_array_dut *dut = matmul_array_dut_new(&(dut_options){.seed = 1});
    for (int cycle = 0; cycle < 5; cycle++) {
        matmul_array_in in = {.row_valid = cycle == 0, .row_first = true, .ini_valid = true, .ini_idx = cycle == 3};
        in.row_idx = 1;
        matmul_array_out out;
        matmul_events ev;
        matmul_array_dut_step(dut, &in, 0, 0, &out, &ev);
        cr_assert_eq(matmul_array_dut_errors(dut), cycle >= 3, "cycle %d", cycle);
    }
    matmul_array_dut_free(dut);
}

// The head's claim: a row and a weight row every cycle, one accumulator row back to back; 100 rows are final in the
// cycle after 103.
Test(matmul_array, takes_a_row_and_a_weight_row_every_cycle) {
    matmul_array_dut *dut = matmul_array_dut_new(&(dut_options){.seed = 1});
    matmul_array_out out = {0};
    matmul_events ev;
    for (int row = 0; row < CFG_COLS; row++) { // every element of every column 1.0
        matmul_array_in in = {.wl_valid = true, .wl_fmt = FMT_E4M3, .wl_row = (uint16_t)row, .ws_valid = true};
        memset(in.wl_data.w, 0x38, sizeof in.wl_data.w);
        matmul_array_dut_step(dut, &in, 0, 0, &out, &ev);
    }
    for (int cycle = 0; cycle < 104; cycle++) {
        matmul_array_in in = {.row_valid = cycle < 100, .row_fmt = FMT_E4M3, .row_first = cycle == 0};
        in.wl_valid = true;
        in.wl_bank = 1;
        in.wl_fmt = FMT_E4M3;
        in.wl_row = (uint16_t)(cycle % CFG_COLS);
        memset(in.row_data[0].w, 0x38, sizeof in.row_data[0].w);
        matmul_array_dut_step(dut, &in, 0, 0, &out, &ev);
        cr_assert_eq(out.busy, cycle > 0 && cycle < 103, "busy: cycle %d: got %d", cycle, out.busy);
    }
    for (int c = 0; c < CFG_COLS; c++)
        cr_assert_eq(out.read[c], 0x45480000, "column %d: got %08x, want 3200.0", c, out.read[c]);
    cr_assert_eq(matmul_array_dut_errors(dut), 0);
    matmul_array_dut_free(dut);
}
