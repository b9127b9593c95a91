#include "numerics/num_round.h"

static int top_bit(num_u128 x) {
    return x >> 64 ? 127 - __builtin_clzll((uint64_t)(x >> 64)) : 63 - __builtin_clzll((uint64_t)x);
}

uint32_t num_round_fp32(bool sign, num_u128 mag, int exp) {
    uint32_t bits = (uint32_t)sign << 31;
    int lsb = exp + top_bit(mag) - 23; // exponent of the result's last bit
    if (lsb < -149) lsb = -149;
    int drop = lsb - exp;
    num_u128 kept = drop > 127 ? 0 : drop >= 0 ? mag >> drop : mag << -drop;
    if (drop > 0 && drop <= 127) {
        num_u128 rest = mag & (((num_u128)1 << drop) - 1), half = (num_u128)1 << (drop - 1);
        if (rest > half || (rest == half && (kept & 1))) kept++;
    }
    if (kept >> 24) {
        kept >>= 1;
        lsb++;
    }
    if (!(kept >> 23)) return bits | (uint32_t)kept; // subnormal or zero
    if (lsb + 150 >= 255) return bits | 0x7F800000u;
    return bits | (uint32_t)(lsb + 150) << 23 | ((uint32_t)kept & 0x7FFFFF);
}

uint32_t num_add_exact(bool sign_a, uint64_t mag_a, int exp_a, bool sign_b, uint64_t mag_b, int exp_b) {
    if (!mag_a && !mag_b) return 0;
    if (!mag_a || !mag_b) return mag_a ? num_round_fp32(sign_a, mag_a, exp_a) : num_round_fp32(sign_b, mag_b, exp_b);
    if (exp_a + top_bit(mag_a) < exp_b + top_bit(mag_b))
        return num_add_exact(sign_b, mag_b, exp_b, sign_a, mag_a, exp_a);
    int up = 125 - top_bit(mag_a); // a's top bit at bit 125, so that b below it loses nothing that matters
    num_u128 x = (num_u128)mag_a << up, y = mag_b;
    int exp = exp_a - up, shift = exp_b - exp;
    if (shift >= 0)
        y <<= shift;
    else if (shift > -128)
        y = y >> -shift | ((y & (((num_u128)1 << -shift) - 1)) != 0);
    else
        y = 1;
    num_u128 sum = sign_a == sign_b ? x + y : x - y;
    bool negative = sum >> 127;
    if (negative) sum = -sum;
    return sum ? num_round_fp32(sign_a != negative, sum, exp) : 0;
}
