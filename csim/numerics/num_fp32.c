#include "numerics/num_fp32.h"

#include "numerics/num.h"
#include "numerics/num_round.h"
#include "special.h"

enum { INTERVAL_BITS = 7, R_BITS = 20, SUM_EXP = -48 }; // a quadratic's sum counts units of 2^SUM_EXP
static const uint32_t SIGN = 0x80000000u, INF = 0x7F800000u, ONE = 0x3F800000u;

static const special_row exp2_rows[SPECIAL_INTERVALS] = SPECIAL_EXP2, recip_rows[SPECIAL_INTERVALS] = SPECIAL_RECIP,
                         rsqrt_rows[2][SPECIAL_INTERVALS] = {SPECIAL_RSQRT1, SPECIAL_RSQRT2};

// A finite number: (-1)^sign * mag * 2^exp.
typedef struct {
    bool sign;
    uint32_t mag;
    int exp;
} finite;

static finite take_apart(uint32_t x) {
    uint32_t exp = x >> 23 & 255, man = x & 0x7FFFFF;
    return (finite){x >> 31, exp ? man | 0x800000 : man, (int)(exp ? exp : 1) - 150};
}

static bool is_nan(uint32_t x) {
    return (x & ~SIGN) > INF;
}

static bool is_inf(uint32_t x) {
    return (x & ~SIGN) == INF;
}

static bool is_zero(uint32_t x) {
    return (x & ~SIGN) == 0;
}

// ---- sums and products
uint32_t num_fp32_fma(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t sign = (a ^ b) & SIGN;
    bool infinite = is_inf(a) || is_inf(b), zero = is_zero(a) || is_zero(b);
    if (is_nan(a) || is_nan(b) || is_nan(c) || (infinite && zero)) return NUM_QNAN;
    if (infinite) return is_inf(c) && (c & SIGN) != sign ? NUM_QNAN : sign | INF;
    if (is_inf(c)) return c;
    if (zero) return is_zero(c) ? sign & c : c;
    finite x = take_apart(a), y = take_apart(b), z = take_apart(c);
    return num_add_exact(sign != 0, (uint64_t)x.mag * y.mag, x.exp + y.exp, z.sign, z.mag, z.exp);
}

uint32_t num_fp32_add(uint32_t a, uint32_t b) {
    return num_fp32_fma(a, ONE, b);
}

uint32_t num_fp32_mul(uint32_t a, uint32_t b) {
    return num_fp32_fma(a, b, SIGN);
}

// ---- order
// Grows with the value; -0 just below +0.
static uint32_t key(uint32_t x) {
    return x & SIGN ? ~x : x | SIGN;
}

uint32_t num_fp32_max(uint32_t a, uint32_t b) {
    if (is_nan(a) || is_nan(b)) return NUM_QNAN;
    return key(a) >= key(b) ? a : b;
}

uint32_t num_fp32_min(uint32_t a, uint32_t b) {
    if (is_nan(a) || is_nan(b)) return NUM_QNAN;
    return key(a) <= key(b) ? a : b;
}

bool num_fp32_less(uint32_t a, uint32_t b) {
    if (is_nan(a) || is_nan(b) || (is_zero(a) && is_zero(b))) return false;
    return key(a) < key(b);
}

// ---- special functions
// (-1)^sign * 2^exp * (c0 + c1 r + c2 r^2), r in units of 2^-R_BITS.
static uint32_t quadratic(const special_row *c, uint32_t r, bool sign, int exp) {
    int64_t square = (int64_t)((uint64_t)r * r >> 24); // units of 2^-16
    int64_t sum = ((int64_t)c->c0 << R_BITS) + (int64_t)c->c1 * r + (c->c2 * square << 4);
    return num_round_fp32(sign, (num_u128)sum, exp + SUM_EXP);
}

uint32_t num_fp32_exp2(uint32_t x) {
    enum { POINT = INTERVAL_BITS + R_BITS };
    if (is_nan(x)) return NUM_QNAN;
    finite f = take_apart(x);
    if (f.mag >> 23 && f.exp >= 8 - 23) return f.sign ? 0 : INF; // |x| >= 256, infinities too
    int up = f.exp + POINT;
    int64_t fixed = up >= 0 ? (int64_t)f.mag << up : up > -32 ? (int64_t)(f.mag >> -up) : 0;
    if (f.sign) fixed = -fixed;
    uint32_t fraction = (uint32_t)fixed & ((1u << POINT) - 1);
    int whole = (int)((fixed - fraction) / (1 << POINT));
    return quadratic(&exp2_rows[fraction >> R_BITS], fraction & ((1u << R_BITS) - 1), false, whole);
}

// mag in 2^23 to 2^24, for a number that is not zero.
static finite normal(uint32_t x) {
    finite f = take_apart(x);
    int up = __builtin_clz(f.mag) - 8;
    return (finite){f.sign, f.mag << up, f.exp - up};
}

static uint32_t interval_of(uint32_t mag) {
    return mag >> (23 - INTERVAL_BITS) & (SPECIAL_INTERVALS - 1);
}

// What lies behind the interval's bits, as R_BITS.
static uint32_t rest_of(uint32_t mag) {
    return (mag & ((1u << (23 - INTERVAL_BITS)) - 1)) << (R_BITS - 23 + INTERVAL_BITS);
}

uint32_t num_fp32_recip(uint32_t x) {
    if (is_nan(x)) return NUM_QNAN;
    if (is_inf(x)) return x & SIGN;
    if (is_zero(x)) return (x & SIGN) | INF;
    finite f = normal(x);
    return quadratic(&recip_rows[interval_of(f.mag)], rest_of(f.mag), f.sign, -(f.exp + 23));
}

uint32_t num_fp32_rsqrt(uint32_t x) {
    if (is_nan(x)) return NUM_QNAN;
    if (is_zero(x)) return INF;
    if (x & SIGN) return NUM_QNAN;
    if (is_inf(x)) return 0;
    finite f = normal(x);
    int exp = f.exp + 23, odd = exp & 1;
    return quadratic(&rsqrt_rows[odd][interval_of(f.mag)], rest_of(f.mag), false, -(exp - odd) / 2);
}
