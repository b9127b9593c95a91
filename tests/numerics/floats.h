// Random and edge blocks of float32 bits for quantisation.
#ifndef TESTS_FLOATS_H
#define TESTS_FLOATS_H
#include <string.h>

#include "common/seed.h"
#include "numerics/num.h"

static const fmt_id mx_formats[] = {FMT_E2M1, FMT_E4M3, FMT_E5M2, FMT_INT8};

enum { SPECIALS = 14 };
static const uint32_t specials[SPECIALS] = {0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000,
                                            0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x00000001, 0x80000001,
                                            0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF};

// One of four: a special; close to `near` in exponent and significand, so that sums cancel; of usual size; any bits.
static inline uint32_t random_operand(rng_t *rng, uint32_t near) {
    uint32_t bits = (uint32_t)rng_next(rng);
    switch (rng_below(rng, 4)) {
    case 0:
        return specials[bits % SPECIALS];
    case 1:
        return (near ^ (bits & 0x80000000)) + (bits & 7) - 4;
    case 2:
        return (bits & 0x807FFFFF) | (uint32_t)(112 + rng_below(rng, 30)) << 23;
    default:
        return bits;
    }
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

// Class by number: any bits; subnormals and the least normals; the largest; near exponents; the same with ties; a wide
// spread of exponents; powers of two and their neighbours; all zeros; one NaN or infinity.
static inline void random_floats(rng_t *rng, int number, uint32_t x[NUM_BLOCK]) {
    static const int least_field[7] = {0, 0, 250, 120, 120, 100, 125}, fields[7] = {256, 5, 5, 5, 5, 40, 5};
    int class = number % 9;
    for (int k = 0; k < NUM_BLOCK; k++) {
        uint32_t bits = (uint32_t)rng_next(rng);
        if (class > 0 && class < 7)
            bits = (bits & 0x807FFFFF) | (uint32_t)(least_field[class] + (int)rng_below(rng, (uint64_t)fields[class]))
                                             << 23;
        if (class == 4) bits &= 0xFFF80000;
        if (class == 6) bits = (bits & 0xFF800000) + (uint32_t)rng_below(rng, 3) - 1;
        if (class == 7) bits &= 0x80000000;
        if (class == 0 && (bits & 0x7F800000) == 0x7F800000) bits ^= 0x40000000;
        x[k] = bits;
    }
    if (class == 8) x[rng_below(rng, NUM_BLOCK)] = 0x7F800000 | (uint32_t)rng_below(rng, 2) << 22;
}
#endif
