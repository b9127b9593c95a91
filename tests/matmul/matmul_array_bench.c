// How fast the MAC array simulates on one core: `make bench-array`. Prints, by formats, the best of 20 windows of 50 ms
// in thousands of cycles a second: rows only, rows with a weight row in every cycle, and idle. Figures, no verdict.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/seed.h"
#include "matmul/matmul_array_dut.h"

enum { ROWS_READY = 64, WINDOWS = 20 };

typedef struct {
    matmul_array_dut *dut;
    matmul_array_in row[ROWS_READY], both[ROWS_READY], idle;
} bench;

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void step(bench *b, const matmul_array_in *in) {
    matmul_array_out out;
    matmul_events ev;
    matmul_array_dut_step(b->dut, in, 0, 0, &out, &ev);
}

// Random codes without NaN or infinity.
static row_t finite_row(rng_t *rng) {
    row_t r;
    for (int i = 0; i < ROW_WORDS; i++) r.w[i] = rng_next(rng) & 0xB7B7B7B7B7B7B7B7u;
    return r;
}

static void prepare(bench *b, fmt_id a_fmt, fmt_id w_fmt) {
    rng_t rng = rng_new(1);
    int load_rows = CFG_COLS * num_fmt_bits(w_fmt) / 8;
    memset(b, 0, sizeof *b);
    b->dut = matmul_array_dut_new(&(dut_options){.seed = 1});
    for (int i = 0; i < ROWS_READY; i++) {
        matmul_array_in *in = &b->row[i];
        in->row_valid = true;
        in->row_fmt = (uint8_t)a_fmt;
        in->row_scale_fmt = SCALE_E8M0;
        in->row_scale = 125;
        in->row_idx = (uint16_t)(i % CFG_ROWS);
        in->row_first = i < CFG_ROWS && rng_below(&rng, 8) == 0;
        in->row_data[0] = finite_row(&rng);
        if (a_fmt == FMT_BF16) in->row_data[1] = finite_row(&rng);
        b->both[i] = *in;
        b->both[i].wl_valid = true;
        b->both[i].wl_bank = 1;
        b->both[i].wl_fmt = (uint8_t)w_fmt;
        b->both[i].wl_row = (uint16_t)(i % load_rows);
        b->both[i].wl_data = finite_row(&rng);
    }
    for (int r = 0; r < load_rows; r++) {
        matmul_array_in in = {.wl_valid = true, .wl_fmt = (uint8_t)w_fmt, .wl_row = (uint16_t)r, .ws_valid = r == 0};
        in.wl_data = finite_row(&rng);
        step(b, &in);
    }
    for (int i = 0; i < CFG_ROWS; i++) { // every accumulator starts from 0
        matmul_array_in in = b->row[i % ROWS_READY];
        in.row_idx = (uint16_t)i;
        in.row_first = true;
        step(b, &in);
    }
}

// Thousands of cycles a second; in: count inputs in turn.
static double measure(bench *b, const matmul_array_in *in, int count) {
    double best = 0;
    for (int w = 0; w < WINDOWS; w++) {
        double start = cpu_seconds(), spent;
        long cycles = 0;
        do {
            for (int i = 0; i < 1000; i++) step(b, &in[i % count]);
            cycles += 1000;
            spent = cpu_seconds() - start;
        } while (spent < 0.05);
        if ((double)cycles / spent > best) best = (double)cycles / spent;
    }
    return best / 1e3;
}

int main(void) {
    static const fmt_id pairs[][2] = {
        {FMT_E4M3, FMT_E2M1}, {FMT_E4M3, FMT_E4M3}, {FMT_INT8, FMT_INT8}, {FMT_E5M2, FMT_E4M3}, {FMT_BF16, FMT_BF16}};
    static bench b;
    printf("%d columns; best of %d windows\n%-14s %10s %10s %16s %10s\n", CFG_COLS, WINDOWS, "formats", "rows kHz",
           "M MAC/s", "with loads kHz", "idle kHz");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        prepare(&b, pairs[i][0], pairs[i][1]);
        double rows = measure(&b, b.row, ROWS_READY), both = measure(&b, b.both, ROWS_READY),
               idle = measure(&b, &b.idle, 1);
        printf("%-4s x %-7s %10.1f %10.1f %16.1f %10.1f\n", num_fmt_name(pairs[i][0]), num_fmt_name(pairs[i][1]), rows,
               rows * NUM_BLOCK * CFG_COLS / 1e3, both, idle);
        matmul_array_dut_free(b.dut);
    }
    return 0;
}
