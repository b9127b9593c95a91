#include "sram/sram_bank.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/seed.h"
#include "sram/sram_bank_dut.h"

typedef struct {
    sram_bank_dut *dut;
    sram_bank *twin;
    int cycle;
} bench;

static bench bench_new(uint32_t seed) {
    bench b = {sram_bank_dut_new(&(dut_options){.seed = seed}), malloc(sizeof(sram_bank)), 0};
    sram_bank_reset(b.twin);
    return b;
}

static void bench_free(bench *b) {
    cr_assert_eq(sram_bank_dut_errors(b->dut), 0);
    sram_bank_dut_free(b->dut);
    free(b->twin);
}

// One cycle of both; every output and event is equal. Returns the outputs.
static sram_bank_out step(bench *b, const sram_bank_in *in) {
    sram_bank_out got, want;
    sram_bank_events got_ev, want_ev;
    sram_bank_peek(b->twin, &want);
    sram_bank_dut_step(b->dut, in, &got, &got_ev);
    sram_bank_step(b->twin, in, &want_ev);
    cr_assert(got.ready == want.ready && got.rvalid == want.rvalid && got.rerr == want.rerr,
              "cycle %d: ready, rvalid, rerr: got %d %d %d, want %d %d %d", b->cycle, got.ready, got.rvalid, got.rerr,
              want.ready, want.rvalid, want.rerr);
    cr_assert_eq(memcmp(&got.rdata, &want.rdata, sizeof got.rdata), 0, "cycle %d: rdata: got %llx, want %llx", b->cycle,
                 (unsigned long long)got.rdata.w[0], (unsigned long long)want.rdata.w[0]);
    cr_assert(got.corrected == want.corrected && got.uncorrectable == want.uncorrectable,
              "cycle %d: corrected, uncorrectable: got %d %d, want %d %d", b->cycle, got.corrected, got.uncorrectable,
              want.corrected, want.uncorrectable);
    cr_assert(got_ev.read_toggles == want_ev.read_toggles && got_ev.write_toggles == want_ev.write_toggles,
              "cycle %d: toggles: got %d %d, want %d %d", b->cycle, got_ev.read_toggles, got_ev.write_toggles,
              want_ev.read_toggles, want_ev.write_toggles);
    b->cycle++;
    return got;
}

static void write(bench *b, uint16_t row, uint32_t strb, row_t data, const sram_code *inject) {
    sram_bank_in in = {.valid = true, .we = true, .row = row, .strb = strb, .wdata = data};
    if (inject) in.inject = *inject;
    step(b, &in);
}

// Reads a row: waits until the bank is ready and gives the outputs of the cycle after.
static sram_bank_out read(bench *b, uint16_t row) {
    sram_bank_in in = {.valid = true, .row = row};
    while (!step(b, &in).ready) {
    }
    return step(b, &(sram_bank_in){0});
}

static void lock_step(uint32_t seed) {
    rng_t rng = rng_new(seed);
    bench b = bench_new(seed);
    for (int row = 0; row < 64; row++) write(&b, (uint16_t)row, UINT32_MAX, (row_t){{1, 2, 3, 4}}, NULL);
    for (int i = 0; i < 20000; i++) {
        sram_bank_in in = {
            .valid = rng_below(&rng, 4) != 0, .we = rng_below(&rng, 2) != 0, .row = (uint16_t)rng_below(&rng, 64)};
        in.strb = rng_below(&rng, 3) ? UINT32_MAX : (uint32_t)rng_next(&rng) & (uint32_t)rng_next(&rng);
        if (rng_below(&rng, 8) == 0) in.strb = 0;
        for (int w = 0; w < 4; w++) {
            in.wdata.w[w] = rng_next(&rng);
            if (rng_below(&rng, 16) == 0) in.inject.data[w] = 1ull << rng_below(&rng, 64);
            if (rng_below(&rng, 16) == 0) in.inject.check[w] = (uint8_t)(1 << rng_below(&rng, 8));
        }
        step(&b, &in);
    }
    bench_free(&b);
}

Test(sram_bank, equals_its_twin_seed_1) {
    lock_step(1);
}

Test(sram_bank, equals_its_twin_seed_2) {
    lock_step(2);
}

Test(sram_bank, equals_its_twin_seed_3) {
    lock_step(3);
}

static void flip(sram_code *code, int word, int bit) {
    if (bit < 64)
        code->data[word] ^= 1ull << bit;
    else
        code->check[word] ^= (uint8_t)(1 << (bit - 64));
}

// All 72 single errors are corrected and counted; all 2,556 double ones poison the row and are reported.
Test(sram_bank, every_single_error_is_corrected_and_every_double_error_reported) {
    bench b = bench_new(4);
    row_t data = {{0x0123456789ABCDEF, 0, UINT64_MAX, 0xDEADBEEFCAFEF00D}};
    int singles = 0, doubles = 0;
    for (int i = 0; i < 72; i++)
        for (int j = i; j < 72; j++) {
            int word = (i + j) % 4;
            sram_code inject = {{0}, {0}};
            flip(&inject, word, i);
            if (j != i) flip(&inject, word, j);
            write(&b, 7, UINT32_MAX, data, &inject);
            sram_bank_out out = read(&b, 7);
            cr_assert_eq(out.rerr, j != i, "bits %d %d: rerr %d", i, j, out.rerr);
            cr_assert(out.corrected == (j == i) && out.uncorrectable == (j != i),
                      "bits %d %d: corrected %d uncorrectable %d", i, j, out.corrected, out.uncorrectable);
            for (int w = 0; w < 4; w++) cr_assert_eq(out.rdata.w[w], j == i ? data.w[w] : UINT64_MAX);
            if (j == i)
                singles++;
            else
                doubles++;
        }
    cr_assert(singles == 72 && doubles == 2556);
    bench_free(&b);
}

// Memory AABBCCDD, one byte 11 written, read at once: AABBCC11.
Test(sram_bank, part_of_a_word_written_then_read_at_once) {
    bench b = bench_new(5);
    write(&b, 3, UINT32_MAX, (row_t){{0xAABBCCDD, 5, 6, 7}}, NULL);
    write(&b, 3, 1, (row_t){{0x11, 0, 0, 0}}, NULL);
    sram_bank_out out = read(&b, 3);
    cr_assert(out.rdata.w[0] == 0xAABBCC11 && out.rdata.w[1] == 5 && out.rdata.w[3] == 7, "got %llx",
              (unsigned long long)out.rdata.w[0]);
    bench_free(&b);
}

// A double error met while part of its word is written is not encoded away; a whole write clears it.
Test(sram_bank, a_double_error_survives_a_partial_write) {
    bench b = bench_new(6);
    sram_code two = {{3, 0, 0, 0}, {0}};
    write(&b, 9, UINT32_MAX, (row_t){{1, 2, 3, 4}}, &two);
    write(&b, 9, 0x10, (row_t){{UINT64_MAX, 0, 0, 0}}, NULL);
    cr_assert(read(&b, 9).rerr);
    write(&b, 9, 0xFF, (row_t){{8, 0, 0, 0}}, NULL);
    sram_bank_out out = read(&b, 9);
    cr_assert(!out.rerr && out.rdata.w[0] == 8 && out.rdata.w[1] == 2);
    // the same where another word of the row is merged beside it
    write(&b, 9, UINT32_MAX, (row_t){{1, 2, 3, 4}}, &two);
    write(&b, 9, 0x1FF, (row_t){{8, 2, 0, 0}}, NULL);
    out = read(&b, 9);
    cr_assert(!out.rerr && out.rdata.w[0] == 8 && out.rdata.w[1] == 2);
    bench_free(&b);
}

Test(sram_bank, strobes_of_zero_change_nothing_and_never_hang) {
    bench b = bench_new(7);
    write(&b, 1, UINT32_MAX, (row_t){{1, 2, 3, 4}}, NULL);
    for (int i = 0; i < 10; i++) {
        sram_bank_in in = {.valid = true, .we = true, .row = 1, .wdata = {{9, 9, 9, 9}}};
        cr_assert(step(&b, &in).ready);
    }
    sram_bank_out out = read(&b, 1);
    cr_assert(out.rdata.w[0] == 1 && out.rdata.w[3] == 4);
    bench_free(&b);
}

// One access a cycle: reads back to back are answered back to back.
Test(sram_bank, one_access_a_cycle) {
    bench b = bench_new(8);
    for (int i = 0; i < 16; i++) write(&b, (uint16_t)i, UINT32_MAX, (row_t){{(uint64_t)i, 0, 0, 0}}, NULL);
    for (int i = 0; i <= 16; i++) {
        sram_bank_in in = {.valid = i < 16, .row = (uint16_t)(i % 16)};
        sram_bank_out out = step(&b, &in);
        cr_assert(out.ready && out.rvalid == (i > 0));
        if (i) cr_assert_eq(out.rdata.w[0], (uint64_t)i - 1);
    }
    bench_free(&b);
}
