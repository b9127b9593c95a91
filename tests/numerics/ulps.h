// How far float32 results of the special functions are from the true value (the host's double arithmetic).
#ifndef TESTS_ULPS_H
#define TESTS_ULPS_H
#include <math.h>
#include <string.h>

#include "numerics/num.h"
#include "numerics/num_fp32.h"

enum { FN_EXP2, FN_RECIP, FN_RSQRT, FN_COUNT };
static const char *const fn_names[FN_COUNT] = {"exp2", "recip", "rsqrt"};

static inline uint32_t fn_result(int fn, uint32_t x) {
    return fn == FN_EXP2 ? num_fp32_exp2(x) : fn == FN_RECIP ? num_fp32_recip(x) : num_fp32_rsqrt(x);
}

// Distance of result bits `got` from fn(x) in units of the last place of a float32 near it; 0 where a NaN, an infinity
// or a sign of zero is the right one, INFINITY where it is not. 2^128 stands for everything above.
static inline double fn_ulps(int fn, uint32_t x, uint32_t got) {
    float value, result;
    memcpy(&value, &x, 4);
    memcpy(&result, &got, 4);
    double want = fn == FN_EXP2 ? exp2(value) : fn == FN_RECIP ? 1.0 / value : 1.0 / sqrt(value);
    if (fn == FN_RSQRT && value == 0) want = INFINITY;
    if (isnan(want)) return got == NUM_QNAN ? 0 : INFINITY;
    if (isinf(want) || value == 0 || isinf(value))
        return result == (float)want && !signbit(result) == !signbit(want) ? 0 : INFINITY;
    if (isnan(result) || (result != 0 && !signbit(result) != !signbit(want))) return INFINITY;
    if (fabs(want) > 0x1p128) want = copysign(0x1p128, want);
    double of = isinf(result) ? copysign(0x1p128, result) : result;
    int exp = want == 0 ? -149 : ilogb(want) - 23; // of the last place
    return fabs(of - want) * ldexp(1, -(exp < -149 ? -149 : exp > 104 ? 104 : exp));
}
#endif
