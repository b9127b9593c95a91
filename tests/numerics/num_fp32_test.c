#include "numerics/num_fp32.h"

#include <criterion/criterion.h>

#include "numerics/floats.h"
#include "numerics/ulps.h"

enum { CASES = 2000000 };

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

// The host's result with the one NaN of the contract.
static uint32_t canonical(float x) {
    return x != x ? NUM_QNAN : bits_of(x);
}

static void equals_ieee(uint32_t a, uint32_t b, uint32_t c) {
    float x = float_of(a), y = float_of(b), z = float_of(c);
    uint32_t sum = canonical(x + y), product = canonical(x * y), fused = canonical(fmaf(x, y, z));
    cr_assert_eq(num_fp32_add(a, b), sum, "%08x + %08x: got %08x, want %08x", a, b, num_fp32_add(a, b), sum);
    cr_assert_eq(num_fp32_mul(a, b), product, "%08x * %08x: got %08x, want %08x", a, b, num_fp32_mul(a, b), product);
    cr_assert_eq(num_fp32_fma(a, b, c), fused, "%08x * %08x + %08x: got %08x, want %08x", a, b, c,
                 num_fp32_fma(a, b, c), fused);
    cr_assert_eq(num_fp32_less(a, b), x < y, "%08x < %08x", a, b);
    bool nan = x != x || y != y, equal = x == y;
    uint32_t more = nan     ? NUM_QNAN
                    : equal ? a & b
                    : x > y ? a
                            : b,
             less = nan     ? NUM_QNAN
                    : equal ? a | b
                    : x < y ? a
                            : b;
    cr_assert_eq(num_fp32_max(a, b), more, "max(%08x, %08x): got %08x, want %08x", a, b, num_fp32_max(a, b), more);
    cr_assert_eq(num_fp32_min(a, b), less, "min(%08x, %08x): got %08x, want %08x", a, b, num_fp32_min(a, b), less);
}

// Round to nearest even, subnormals, infinities, NaN, signed zeros: as IEEE 754 has them, and so the host.
Test(num_fp32, arithmetic_equals_ieee) {
    rng_t rng = rng_new(41);
    for (int i = 0; i < SPECIALS; i++)
        for (int j = 0; j < SPECIALS; j++)
            for (int k = 0; k < SPECIALS; k++) equals_ieee(specials[i], specials[j], specials[k]);
    for (int i = 0; i < CASES; i++) {
        uint32_t a = random_operand(&rng, 0x3F800000), b = random_operand(&rng, a);
        uint32_t c = rng_below(&rng, 2) ? canonical(-(float_of(a) * float_of(b))) : b;
        equals_ieee(a, b, random_operand(&rng, c));
    }
}

// Products at the edge of the subnormals, where one rounding must not become two.
Test(num_fp32, subnormal_products_round_once) {
    rng_t rng = rng_new(42);
    for (int i = 0; i < CASES; i++) {
        uint32_t a = (uint32_t)rng_next(&rng), b = (uint32_t)rng_next(&rng), c = (uint32_t)rng_next(&rng);
        int exp = (int)rng_below(&rng, 126) + 1;
        a = (a & 0x807FFFFF) | (uint32_t)exp << 23;
        b = (b & 0x807FFFFF) | (uint32_t)(127 - exp) << 23;
        equals_ieee(a, b, c & 0x80FFFFFF);
    }
}

// Every 1009th input of all; `make exhaustive` looks at the rest.
static void within_an_ulp(int fn) {
    uint32_t x = 0, last = 0;
    do {
        double ulps = fn_ulps(fn, x, fn_result(fn, x));
        cr_assert(ulps <= 1, "%s of %08x: got %08x, %g ulp off", fn_names[fn], x, fn_result(fn, x), ulps);
        last = x;
    } while ((x += 1009) > last);
    for (int i = 0; i < SPECIALS; i++) {
        x = specials[i];
        cr_assert(fn_ulps(fn, x, fn_result(fn, x)) <= 1, "%s of %08x: got %08x", fn_names[fn], x, fn_result(fn, x));
    }
}

Test(num_fp32, exp2_within_an_ulp) {
    within_an_ulp(FN_EXP2);
}

Test(num_fp32, recip_within_an_ulp) {
    within_an_ulp(FN_RECIP);
}

Test(num_fp32, rsqrt_within_an_ulp) {
    within_an_ulp(FN_RSQRT);
}

// Powers of two come out exact, so that softmax of equal scores and the mean of a power of two of them are.
Test(num_fp32, powers_of_two_are_exact) {
    for (int e = -149; e <= 127; e++) {
        cr_assert_eq(num_fp32_exp2(bits_of((float)e)), bits_of(ldexpf(1, e)), "exp2(%d)", e);
        uint32_t x = bits_of(ldexpf(1, e));
        if (e > -128) cr_assert_eq(num_fp32_recip(x), bits_of(ldexpf(1, -e)), "recip(2^%d)", e);
        if (e % 2 == 0) cr_assert_eq(num_fp32_rsqrt(x), bits_of(ldexpf(1, -e / 2)), "rsqrt(2^%d)", e);
    }
}
