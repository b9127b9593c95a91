#include "numerics/num.h"
#include "numerics/num_fp32.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "numerics/blocks.h"
#include "numerics/floats.h"

enum { BLOCKS = 20000 };

// The oracle's process, records on its standard input; NULL where the oracle or its numpy is not there.
static FILE *oracle_open(void) {
    const char *shared = getenv("POBLANO_SHARED");
    char path[512], command[1200];
    snprintf(path, sizeof path, "%s/oracle/mx_oracle.py", shared ? shared : "../shared");
    if (access(path, R_OK) != 0) return NULL;
    const char *python = access("build/venv/bin/python", X_OK) == 0 ? "build/venv/bin/python" : "python3";
    snprintf(command, sizeof command, "%s -c 'import numpy' 2>/dev/null", python);
    if (system(command) != 0) return NULL;
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
    if (!oracle) cr_skip_test("the oracle is not in ../shared, or numpy is missing");
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
    if (!oracle) cr_skip_test("the oracle is not in ../shared, or numpy is missing");
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

Test(num, quantisation_equals_the_oracle) {
    FILE *oracle = oracle_open();
    if (!oracle) cr_skip_test("the oracle is not in ../shared, or numpy is missing");
    rng_t rng = rng_new(20);
    for (int i = 0; i < 4 * 9 * 120; i++) {
        uint32_t x[NUM_BLOCK];
        uint8_t codes[NUM_BLOCK], head[5] = {1, (uint8_t)mx_formats[i % 4], 0, 0, 0};
        random_floats(&rng, i / 4, x);
        uint8_t scale = num_quantize(mx_formats[i % 4], NUM_FLOOR, x, codes);
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
    cr_assert_eq(quantised(FMT_E5M2, 32768.0f, 61439.996f, &scale), 0x7B);
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

static double value_of(num_elem e) {
    return ldexp(e.sign ? -(double)e.mag : e.mag, e.exp);
}

// Exponent of the scale as each rule defines it, in doubles, which hold all of it exactly.
static int defined_scale(fmt_id fmt, num_scale_rule rule, double largest) {
    static const int man_bits[NUM_FMTS] = {[FMT_E2M1] = 1, [FMT_E4M3] = 3, [FMT_E5M2] = 2, [FMT_INT8] = 6};
    static const int max_exp[NUM_FMTS] = {[FMT_E2M1] = 2, [FMT_E4M3] = 8, [FMT_E5M2] = 15, [FMT_INT8] = 0};
    int exp, unused;
    if (largest == 0) return 0;
    frexp(largest, &exp); // largest < 2^exp
    exp--;
    if (rule == NUM_CEIL && largest > ldexp(1, exp)) exp++;
    if (rule == NUM_EVEN) {
        double unit = ldexp(1, exp - man_bits[fmt]);
        frexp(floor(largest / unit + 0.5) * unit, &unused);
        exp = unused - 1;
    }
    exp -= max_exp[fmt];
    return (exp < -127 ? -127 : exp > 127 ? 127 : exp) + 127;
}

// No code lies nearer to x than the one chosen; of two at the same distance, the even one.
static void check_nearest(fmt_id fmt, uint8_t code, double x) {
    double mine = fabs(value_of(num_decode(fmt, code)) - x);
    for (int other = 0; other < 1 << num_fmt_bits(fmt); other++) {
        num_elem e = num_decode(fmt, (uint16_t)other);
        if (e.nan || e.inf || (fmt == FMT_INT8 && other == 0x80)) continue;
        double theirs = fabs(value_of(e) - x);
        cr_assert(mine < theirs || (mine == theirs && (!(code & 1) || value_of(e) == value_of(num_decode(fmt, code)))),
                  "%s: %a became %02x, nearer is %02x", num_fmt_name(fmt), x, code, other);
    }
}

// Every rule against its definition, every element by search over all codes.
Test(num, quantisation_equals_its_definition) {
    rng_t rng = rng_new(40);
    for (int i = 0; i < 4 * 3 * 9 * 100; i++) {
        fmt_id fmt = mx_formats[i % 4];
        num_scale_rule rule = (num_scale_rule)(i / 4 % 3);
        uint32_t x[NUM_BLOCK];
        uint8_t codes[NUM_BLOCK];
        double value[NUM_BLOCK], largest = 0;
        random_floats(&rng, i / 12, x);
        if (i / 12 % 9 == 8) continue; // NaN and infinity: the oracle
        for (int k = 0; k < NUM_BLOCK; k++) {
            float f;
            memcpy(&f, &x[k], 4);
            value[k] = (double)f;
            largest = fmax(largest, fabs(value[k]));
        }
        uint8_t scale = num_quantize(fmt, rule, x, codes);
        cr_assert_eq(scale, defined_scale(fmt, rule, largest), "%s, rule %d, largest %a: got %d, want %d",
                     num_fmt_name(fmt), rule, largest, scale, defined_scale(fmt, rule, largest));
        for (int k = 0; k < NUM_BLOCK; k++) check_nearest(fmt, codes[k], ldexp(value[k], 127 - scale));
    }
}

// Every finite code of every MX format comes back. (The quantiser is symmetric: INT8 80 is no code of it.)
Test(num, finite_codes_round_trip) {
    static const float full[NUM_FMTS] = {
        [FMT_E2M1] = 4.0f, [FMT_E4M3] = 256.0f, [FMT_E5M2] = 32768.0f, [FMT_INT8] = 1.0f};
    for (int f = 0; f < 4; f++)
        for (int code = 0; code < 1 << num_fmt_bits(mx_formats[f]); code++) {
            fmt_id fmt = mx_formats[f];
            num_elem e = num_decode(fmt, (uint16_t)code);
            if (e.nan || e.inf || (fmt == FMT_INT8 && code == 0x80)) continue;
            float x = e.mag == 0 && e.sign ? -0.0f : (float)value_of(e);
            uint8_t scale, back = quantised(fmt, full[fmt], x, &scale);
            cr_assert(back == code && scale == 127, "%s %02x: got %02x, scale %d", num_fmt_name(fmt), code, back,
                      scale);
        }
}

// Codes 1..7 of E4M3 as float32.
Test(num, e4m3_subnormals) {
    static const uint32_t want[] = {0x3B000000, 0x3B800000, 0x3BC00000, 0x3C000000, 0x3C200000, 0x3C400000, 0x3C600000};
    for (uint16_t code = 1; code <= 7; code++) {
        block_case c = {.a_fmt = FMT_E4M3, .w_fmt = FMT_E4M3, .a = {code}, .w = {0x38}};
        cr_assert_eq(reference(&c), want[code - 1], "code %d: got %08x", code, reference(&c));
    }
}

// E8M0: 134 is 128, 255 is NaN; 0, 1 and 254 times every nibble of E2M1 are exact (or overflow to infinity).
Test(num, scales_at_their_ends) {
    static const uint16_t scales[] = {0, 1, 134, 254, 255};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
        for (uint16_t nibble = 0; nibble < 16; nibble++) {
            block_case c = {.a_fmt = FMT_E2M1,
                            .w_fmt = FMT_E2M1,
                            .a_scale = SCALE_E8M0,
                            .scale_a = scales[s],
                            .a = {nibble},
                            .w = {2}};
            static const float e2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
            double value = (double)e2m1[nibble & 7] * (nibble & 8 && nibble != 8 ? -1 : 1);
            uint32_t want = scales[s] == 255 ? NUM_QNAN : bits_of((float)ldexp(value, scales[s] - 127));
            cr_assert_eq(reference(&c), want, "scale %d, nibble %d: got %08x, want %08x", scales[s], nibble,
                         reference(&c), want);
        }
}

// 4 x (100 x 100) in INT8 is 40000, times 2^-12 for the implied 2^-6 of both sides; and the whole block at its largest.
Test(num, int8_keeps_full_range_sums) {
    block_case c = {.a_fmt = FMT_INT8, .w_fmt = FMT_INT8, .a = {100, 100, 100, 100}, .w = {100, 100, 100, 100}};
    cr_assert_eq(reference(&c), bits_of(40000.0f / 4096));
    for (int k = 0; k < NUM_BLOCK; k++) c.a[k] = c.w[k] = 0x80;
    cr_assert_eq(reference(&c), bits_of(128.0f)); // 32 x 2 x 2
}

// A result just below the least normal number rounds up to it; minus zeros added to +0 give +0.
Test(num, underflow_and_the_sign_of_zero) {
    num_elem one = num_decode_scale(SCALE_NONE, 0);
    num_dot below = {.mag = 0xFFFFFF, .exp = -126 - 24};
    cr_assert_eq(num_accumulate(0, below, one, one), 0x00800000);
    below.mag = 0xFFFFFE; // 0x7FFFFF * 2^-149, a subnormal
    cr_assert_eq(num_accumulate(0, below, one, one), 0x007FFFFF);
    block_case c = {.a_fmt = FMT_E4M3, .w_fmt = FMT_E4M3};
    for (int k = 0; k < NUM_BLOCK; k++) c.a[k] = 0x80, c.w[k] = 0x38;
    cr_assert_eq(reference(&c), 0);
    cr_assert_eq(num_fp32_add(0, 0x80000000), 0);
    cr_assert_eq(num_fp32_add(0x80000000, 0x80000000), 0x80000000);
}
