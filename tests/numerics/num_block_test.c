#include "numerics/num_block.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "common/seed.h"

static const fmt_id all[] = {FMT_E2M1, FMT_INT4, FMT_E4M3, FMT_E5M2, FMT_INT8, FMT_BF16};

// Largest magnitude of a format in elements, its spacing there, and how fine it gets: what MX and IEEE tables say.
static const struct {
    fmt_id fmt;
    int largest_exp, mantissa, least_exp; // least_exp: of the least normal
    double largest;
} tables[] = {
    {FMT_E2M1, 2, 1, 0, 6}, {FMT_E4M3, 8, 3, -6, 448}, {FMT_E5M2, 15, 2, -14, 57344}, {FMT_INT8, 0, 6, 0, 127.0 / 64}};

// Nearest value of the element grid, ties to even.
static double nearest(double x, int t) {
    int exp = 0;
    frexp(x, &exp);
    if (exp - 1 < tables[t].least_exp || x == 0) exp = tables[t].least_exp + 1;
    double step = ldexp(1, exp - 1 - tables[t].mantissa), y = nearbyint(x / step) * step;
    return fabs(y) > tables[t].largest ? copysign(tables[t].largest, x) : y;
}

static void random_block(rng_t *rng, float x[NUM_BLOCK]) {
    int spread = 1 + (int)rng_below(rng, 12), middle = (int)rng_below(rng, 60) - 30;
    for (int i = 0; i < NUM_BLOCK; i++) {
        double mag =
            ldexp(1 + (double)rng_below(rng, 1 << 20) / (1 << 20), middle - (int)rng_below(rng, (uint64_t)spread));
        x[i] = (float)(rng_below(rng, 2) ? mag : -mag);
        if (rng_below(rng, 9) == 0) x[i] = 0;
    }
}

// MX with the floor rule: scale 2^(floor(log2 max) - largest exponent), elements the nearest of the format.
Test(num_block, values_are_the_nearest_of_the_format) {
    rng_t rng = rng_new(11);
    for (int n = 0; n < 4000; n++) {
        float x[NUM_BLOCK], y[NUM_BLOCK];
        uint16_t codes[NUM_BLOCK];
        int t = n % 4;
        uint32_t count = 1 + (uint32_t)rng_below(&rng, NUM_BLOCK);
        double most = 0;
        random_block(&rng, x);
        for (uint32_t i = 0; i < count; i++) most = fmax(most, fabsf(x[i]));
        if (most == 0) continue;
        uint16_t scale = num_block_quantize(tables[t].fmt, x, count, codes);
        num_block_values(tables[t].fmt, codes, count, scale, y);
        double unit = exp2(floor(log2(most)) - tables[t].largest_exp);
        cr_assert_eq(scale, 127 + (int)log2(unit));
        for (uint32_t i = 0; i < count; i++) {
            double want = nearest(x[i] / unit, t) * unit;
            cr_assert_eq(y[i], want, "format %d, %a in units of %a: got %a, want %a", tables[t].fmt, x[i], unit, y[i],
                         want);
        }
    }
}

// INT4: scale max / 7 as BF16, codes the nearest of -7 to 7.
Test(num_block, int4_spans_minus_seven_to_seven) {
    rng_t rng = rng_new(12);
    for (int n = 0; n < 2000; n++) {
        float x[NUM_BLOCK], y[NUM_BLOCK], most = 0;
        uint16_t codes[NUM_BLOCK];
        random_block(&rng, x);
        for (int i = 0; i < NUM_BLOCK; i++) most = fmaxf(most, fabsf(x[i]));
        uint16_t code = num_block_quantize(FMT_INT4, x, NUM_BLOCK, codes);
        uint32_t bits = (uint32_t)code << 16;
        float scale;
        memcpy(&scale, &bits, 4);
        if (most > 0) cr_assert(fabsf(scale - most / 7) <= most / 7 / 256, "scale %g of %g", scale, most);
        num_block_values(FMT_INT4, codes, NUM_BLOCK, code, y);
        for (int i = 0; i < NUM_BLOCK; i++) {
            int q = codes[i] < 8 ? codes[i] : codes[i] - 16;
            cr_assert(codes[i] < 16 && q >= -7 && q <= 7 && y[i] == (float)q * scale);
            cr_assert(fabsf(y[i] - x[i]) <= scale * 0.5f + most / 256, "%g became %g, scale %g", x[i], y[i], scale);
            if (fabsf(x[i]) == most && most > 0) cr_assert_eq(abs(q), 7);
        }
    }
}

Test(num_block, bf16_rounds_to_even) {
    static const struct {
        float x, y;
    } cases[] = {{1, 1},
                 {1 + 0x1p-8f, 1},
                 {1 + 0x3p-8f, 1 + 0x4p-8f},
                 {1 + 0x1.8p-8f, 1 + 0x2p-8f},
                 {-3.1415926f, -3.140625f},
                 {0x1.FFp0f, 2},
                 {0x1p-133f, 0x1p-133f},
                 {0x1p-134f, 0},
                 {-0.0f, -0.0f}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint16_t code;
        float y;
        uint16_t scale = num_block_quantize(FMT_BF16, &cases[i].x, 1, &code);
        num_block_values(FMT_BF16, &code, 1, scale, &y);
        cr_assert(y == cases[i].y && signbit(y) == signbit(cases[i].y), "%a: got %a, want %a", cases[i].x, y,
                  cases[i].y);
    }
}

// What a format holds, it holds: quantised once more, nothing moves. Zeros stay zeros.
Test(num_block, values_stay_where_they_are) {
    rng_t rng = rng_new(13);
    for (int n = 0; n < 3000; n++) {
        fmt_id fmt = all[n % 6];
        float x[NUM_BLOCK], y[NUM_BLOCK], z[NUM_BLOCK];
        uint16_t codes[NUM_BLOCK];
        random_block(&rng, x);
        if (n < 6) memset(x, 0, sizeof x);
        num_block_values(fmt, codes, NUM_BLOCK, num_block_quantize(fmt, x, NUM_BLOCK, codes), y);
        num_block_values(fmt, codes, NUM_BLOCK, num_block_quantize(fmt, y, NUM_BLOCK, codes), z);
        if (n < 6) cr_assert_arr_eq(x, y, sizeof x);
        if (fmt != FMT_INT4) cr_assert_arr_eq(y, z, sizeof y, "format %d", fmt); // 7 / 7 of a rounded scale may differ
    }
}

Test(num_block, scales_by_format) {
    cr_assert_eq(num_block_scale(FMT_INT4), SCALE_BF16);
    cr_assert_eq(num_block_scale(FMT_BF16), SCALE_NONE);
    cr_assert_eq(num_block_scale(FMT_E2M1), SCALE_E8M0);
    cr_assert_eq(num_block_scale(FMT_INT8), SCALE_E8M0);
}

Test(num_block, to_bf16_is_the_nearest) {
    for (uint64_t x = 0; x < 1ull << 32; x += 4099) {
        float value, below, above;
        uint32_t bits = (uint32_t)x, low = bits & 0xFFFF0000, high = low + 0x10000;
        uint32_t got = (uint32_t)num_to_bf16(bits) << 16;
        memcpy(&value, &bits, 4);
        memcpy(&below, &low, 4);
        memcpy(&above, &high, 4);
        if (value != value || (high & 0x7FFFFFFF) >= 0x7F800000) continue;
        double down = (double)value - below, up = (double)above - value;
        if (down < 0 || up < 0) down = -down, up = -up;
        uint32_t want = down < up ? low : down > up ? high : low & 0x10000 ? high : low;
        cr_assert_eq(got, want, "%08x: got %08x, want %08x", bits, got, want);
    }
    cr_assert_eq(num_to_bf16(0x7F800000), 0x7F80);
    cr_assert_eq(num_to_bf16(0x7F7FFFFF), 0x7F80); // past the largest: infinity
    cr_assert_eq(num_to_bf16(0xFF800001), 0x7FC0);
}
