// float32 blocks to MX: see num.h.
#include "numerics/num.h"

static const struct {
    int8_t max_exp; // of the largest finite element
    uint8_t exp_bits, man_bits;
    int8_t bias;
    uint8_t max_code;
} mx[NUM_FMTS] = {[FMT_E2M1] = {2, 2, 1, 1, 0x7},
                  [FMT_E4M3] = {8, 4, 3, 7, 0x7E},
                  [FMT_E5M2] = {15, 5, 2, 15, 0x7B},
                  [FMT_INT8] = {0, 0, 6, 0, 0x7F}};

// n * 2^-drop to nearest even; drop may be any number from 0 up.
static uint32_t round_shift(uint32_t n, int drop) {
    if (drop == 0) return n;
    if (drop > 31) return 0;
    uint32_t kept = n >> drop, rest = n & ((1u << drop) - 1), half = 1u << (drop - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

// Element code of mag * 2^exp (mag < 2^24), saturating.
static uint8_t round_element(fmt_id fmt, bool sign, uint32_t mag, int exp) {
    int man_bits = mx[fmt].man_bits;
    if (fmt == FMT_INT8) {
        int drop = -6 - exp;
        uint32_t n = mag == 0 ? 0 : drop < 0 ? 127 : round_shift(mag, drop);
        if (n > 127) n = 127;
        return (uint8_t)(sign ? -n : n);
    }
    uint8_t sign_bit = (uint8_t)(sign << (mx[fmt].exp_bits + man_bits));
    if (mag == 0) return sign_bit;
    int top = exp + 31 - __builtin_clz(mag), least = 1 - mx[fmt].bias;
    int e = top < least ? least : top;
    if (e > mx[fmt].max_exp) return sign_bit | mx[fmt].max_code;
    int drop = e - man_bits - exp;
    uint32_t n = drop >= 0 ? round_shift(mag, drop) : mag << -drop;
    // A carry moves into the exponent field by itself; subnormals have field 0.
    uint32_t code = n + ((uint32_t)(e - least) << man_bits);
    return (uint8_t)(sign_bit | (code > mx[fmt].max_code ? mx[fmt].max_code : code));
}

uint8_t num_quantize(fmt_id fmt, num_scale_rule rule, const uint32_t x[NUM_BLOCK], uint8_t codes[NUM_BLOCK]) {
    uint32_t largest = 0;
    for (int i = 0; i < NUM_BLOCK; i++) {
        uint32_t magnitude = x[i] & 0x7FFFFFFF;
        if (magnitude > largest) largest = magnitude;
    }
    if (largest >= 0x7F800000) {
        for (int i = 0; i < NUM_BLOCK; i++) codes[i] = 0;
        return 255;
    }
    int exp = -127;
    if (largest) {
        uint32_t field = largest >> 23, mag = (largest & 0x7FFFFF) | (field ? 0x800000 : 0);
        int lsb = (int)(field ? field : 1) - 150, top = 31 - __builtin_clz(mag);
        // "even": does the magnitude, rounded to the mantissa width, reach the next power of two? "ceil": is it above
        // one?
        int drop = top - mx[fmt].man_bits;
        if (rule == NUM_EVEN && drop > 0 && (mag + (1u << (drop - 1))) >> drop >> (mx[fmt].man_bits + 1)) top++;
        if (rule == NUM_CEIL && (mag & (mag - 1))) top++;
        exp = lsb + top - mx[fmt].max_exp;
        if (exp < -127) exp = -127;
        if (exp > 127) exp = 127;
    }
    for (int i = 0; i < NUM_BLOCK; i++) {
        uint32_t field = x[i] >> 23 & 255, mag = (x[i] & 0x7FFFFF) | (field ? 0x800000 : 0);
        codes[i] = round_element(fmt, x[i] >> 31, mag, (int)(field ? field : 1) - 150 - exp);
    }
    return (uint8_t)(exp + 127);
}

uint16_t num_to_bf16(uint32_t x) {
    if ((x & 0x7FFFFFFF) > 0x7F800000) return 0x7FC0;
    return (uint16_t)((x + 0x7FFF + (x >> 16 & 1)) >> 16);
}
