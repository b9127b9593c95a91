#include "numerics/num.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numerics/blocks.h"

enum { BLOCKS = 20000 };

// The oracle's process, records on its standard input; NULL where the oracle is not there.
static FILE *oracle_open(void) {
    const char *shared = getenv("POBLANO_SHARED");
    char path[512], command[1200];
    snprintf(path, sizeof path, "%s/oracle/mx_oracle.py", shared ? shared : "../shared");
    if (access(path, R_OK) != 0) return NULL;
    const char *python = access("build/venv/bin/python", X_OK) == 0 ? "build/venv/bin/python" : "python3";
    snprintf(command, sizeof command, "%s tests/numerics/oracle_check.py %s >&2", python, path);
    return popen(command, "w");
}

static void put(FILE *f, const void *data, size_t size) {
    cr_assert_eq(fwrite(data, 1, size, f), size, "the oracle's process ended early");
}

static void put_block(FILE *f, const block_case *c) {
    uint8_t head[5] = {0, (uint8_t)c->a_fmt, (uint8_t)c->w_fmt, (uint8_t)c->a_scale, (uint8_t)c->w_scale};
    uint32_t words[2] = {c->acc, reference(c)};
    put(f, head, sizeof head);
    put(f, c->a, sizeof c->a);
    put(f, c->w, sizeof c->w);
    put(f, &c->scale_a, 2);
    put(f, &c->scale_w, 2);
    put(f, words, sizeof words);
}

static void blocks_of(fmt_id a_fmt) {
    FILE *oracle = oracle_open();
    if (!oracle) cr_skip_test("the oracle is not in ../shared");
    rng_t rng = rng_new(10 + (uint64_t)a_fmt);
    for (int w_fmt = 0; w_fmt < NUM_FMTS; w_fmt++)
        for (int i = 0; i < BLOCKS; i++) {
            block_case c = random_block(&rng, a_fmt, (fmt_id)w_fmt, i);
            put_block(oracle, &c);
        }
    cr_assert_eq(pclose(oracle), 0, "the reference differs from the oracle");
}

Test(num, blocks_equal_the_oracle_e2m1) {
    blocks_of(FMT_E2M1);
}

Test(num, blocks_equal_the_oracle_int4) {
    blocks_of(FMT_INT4);
}

Test(num, blocks_equal_the_oracle_e4m3) {
    blocks_of(FMT_E4M3);
}

Test(num, blocks_equal_the_oracle_e5m2) {
    blocks_of(FMT_E5M2);
}

Test(num, blocks_equal_the_oracle_int8) {
    blocks_of(FMT_INT8);
}

Test(num, blocks_equal_the_oracle_bf16) {
    blocks_of(FMT_BF16);
}

// Every pair of codes of every pair of formats of up to 8 bits, alone in a block.
Test(num, every_pair_of_codes_equals_the_oracle) {
    FILE *oracle = oracle_open();
    if (!oracle) cr_skip_test("the oracle is not in ../shared");
    for (int a_fmt = 0; a_fmt < FMT_BF16; a_fmt++)
        for (int w_fmt = 0; w_fmt < FMT_BF16; w_fmt++)
            for (int a = 0; a < 1 << num_fmt_bits((fmt_id)a_fmt); a++)
                for (int w = 0; w < 1 << num_fmt_bits((fmt_id)w_fmt); w++) {
                    block_case c = {.a_fmt = (fmt_id)a_fmt, .w_fmt = (fmt_id)w_fmt};
                    c.a[(a + w) % NUM_BLOCK] = (uint16_t)a;
                    c.w[(a + w) % NUM_BLOCK] = (uint16_t)w;
                    put_block(oracle, &c);
                }
    cr_assert_eq(pclose(oracle), 0, "the reference differs from the oracle");
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

Test(num, quantisation_equals_the_oracle) {
    static const fmt_id fmts[] = {FMT_E2M1, FMT_E4M3, FMT_E5M2, FMT_INT8};
    FILE *oracle = oracle_open();
    if (!oracle) cr_skip_test("the oracle is not in ../shared");
    rng_t rng = rng_new(20);
    for (int i = 0; i < 4000; i++) {
        uint32_t x[NUM_BLOCK];
        uint8_t codes[NUM_BLOCK], head[5] = {1, (uint8_t)fmts[i % 4], 0, 0, 0};
        int class = i / 4 % 5;
        for (int k = 0; k < NUM_BLOCK; k++) {
            x[k] = (uint32_t)rng_next(&rng);
            if (class)
                x[k] = (x[k] & 0x807FFFFF) | (uint32_t)((class == 1   ? 0
                                                         : class == 2 ? 250
                                                                      : 120) +
                                                        rng_below(&rng, 5))
                                                 << 23;
            if (class == 4) x[k] &= 0xFFF80000; // ties
        }
        if (i % 100 == 0) memset(x, 0, sizeof x);
        uint8_t scale = num_quantize(fmts[i % 4], NUM_FLOOR, x, codes);
        put(oracle, head, sizeof head);
        put(oracle, x, sizeof x);
        put(oracle, codes, sizeof codes);
        put(oracle, &scale, 1);
    }
    cr_assert_eq(pclose(oracle), 0, "quantisation differs from the oracle");
}

// Largest magnitudes 1.5, 1.75 and 2 - ulp, times 2^n, by rule: where the scale exponent goes up.
Test(num, scale_rules_differ_where_they_should) {
    static const struct {
        fmt_id fmt;
        float largest;
        int floor, even, ceil;
    } want[] = {
        {FMT_E2M1, 1.5f, 125, 125, 126}, {FMT_E2M1, 1.75f, 125, 126, 126}, {FMT_E2M1, 1.9999999f, 125, 126, 126},
        {FMT_E4M3, 1.5f, 119, 119, 120}, {FMT_E4M3, 1.75f, 119, 119, 120}, {FMT_E4M3, 1.9999999f, 119, 120, 120},
        {FMT_E2M1, 2.0f, 126, 126, 126}, {FMT_E2M1, 2.7f, 126, 126, 127},  {FMT_E2M1, 5.5f, 127, 127, 128},
        {FMT_E2M1, 1.2f, 125, 125, 126}, {FMT_INT8, 1.5f, 127, 127, 128}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        for (int n = -100; n <= 100; n += 50) {
            uint32_t x[NUM_BLOCK] = {bits_of(0.0f), bits_of(want[i].largest) + (uint32_t)(n * (1 << 23))};
            uint8_t codes[NUM_BLOCK];
            cr_assert_eq(num_quantize(want[i].fmt, NUM_FLOOR, x, codes), want[i].floor + n, "floor, row %zu, n %d", i,
                         n);
            cr_assert_eq(num_quantize(want[i].fmt, NUM_EVEN, x, codes), want[i].even + n, "even, row %zu, n %d", i, n);
            cr_assert_eq(num_quantize(want[i].fmt, NUM_CEIL, x, codes), want[i].ceil + n, "ceil, row %zu, n %d", i, n);
        }
}

static uint8_t quantised(fmt_id fmt, float largest, float x, uint8_t *scale) {
    uint32_t block[NUM_BLOCK] = {bits_of(largest), bits_of(x)};
    uint8_t codes[NUM_BLOCK];
    *scale = num_quantize(fmt, NUM_FLOOR, block, codes);
    return codes[1];
}

// Ties and near ties of E2M1 at scale 1, saturation of E4M3 and E5M2.
Test(num, elements_round_to_nearest_even_and_saturate) {
    static const struct {
        float x;
        uint8_t code;
    } e2m1[] = {{0.25000006f, 1}, {0.25f, 0}, {0.75f, 2}, {1.25f, 2}, {1.75f, 4}, {2.5f, 4}, {3.5f, 6}, {5.0f, 6}};
    uint8_t scale;
    for (size_t i = 0; i < sizeof e2m1 / sizeof e2m1[0]; i++) {
        cr_assert_eq(quantised(FMT_E2M1, 4.0f, e2m1[i].x, &scale), e2m1[i].code, "%g", (double)e2m1[i].x);
        cr_assert_eq(scale, 127);
    }
    cr_assert_eq(quantised(FMT_E4M3, 256.0f, 464.0f, &scale), 0x7E);
    cr_assert_eq(quantised(FMT_E4M3, 256.0f, 464.00003f, &scale), 0x7E);
    cr_assert_eq(quantised(FMT_E5M2, 32768.0f, 61440.0f, &scale), 0x7B);
    cr_assert_eq(quantised(FMT_E5M2, 32768.0f, 58000.0f, &scale), 0x7B);
    cr_assert_eq(quantised(FMT_E4M3, 957.0f, 957.0f, &scale), 0x7E);
    cr_assert_eq(scale, 128);
}

Test(num, an_all_zero_block_dequantises_to_zeros) {
    uint32_t x[NUM_BLOCK] = {0, 0x80000000};
    uint8_t codes[NUM_BLOCK];
    cr_assert_eq(num_quantize(FMT_E4M3, NUM_FLOOR, x, codes), 0);
    cr_assert(codes[0] == 0 && codes[1] == 0x80);
}

// Addition equals the host's IEEE addition.
Test(num, fp32_add_equals_ieee) {
    rng_t rng = rng_new(30);
    for (int i = 0; i < 2000000; i++) {
        uint32_t a = (uint32_t)rng_next(&rng), b = (uint32_t)rng_next(&rng);
        if (i % 4 == 1) b = (a ^ 0x80000000) + (uint32_t)rng_below(&rng, 5);
        if (i % 4 == 2) b = (b & 0x807FFFFF) | ((a & 0x7F800000) + (uint32_t)(rng_below(&rng, 3) << 23));
        if (i % 4 == 3) a = edge_acc[rng_below(&rng, 15)], b = edge_acc[rng_below(&rng, 15)];
        float x, y;
        memcpy(&x, &a, 4);
        memcpy(&y, &b, 4);
        uint32_t want = x + y != x + y ? NUM_QNAN : bits_of(x + y);
        cr_assert_eq(num_fp32_add(a, b), want, "%08x + %08x: got %08x, want %08x", a, b, num_fp32_add(a, b), want);
    }
}

// E4M3 a = [448, thirty times 2^-9, -448], w = [448, thirty times 2^-9, 448]: no order of float32 sums gets this right.
Test(num, sums_have_no_order) {
    block_case c = {.a_fmt = FMT_E4M3, .w_fmt = FMT_E4M3, .a = {0x7E}, .w = {0x7E}};
    for (int k = 1; k < NUM_BLOCK - 1; k++) c.a[k] = c.w[k] = 0x01;
    c.a[31] = 0xFE;
    c.w[31] = 0x7E;
    cr_assert_eq(reference(&c), 0x38F00000, "got %08x", reference(&c));
}
