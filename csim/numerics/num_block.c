#include "numerics/num_block.h"

#include <math.h>
#include <string.h>

enum { INT4_MAX = 7, E8M0_ONE = 127, BF16_ONE = 0x3F80 };

static uint32_t float_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint16_t quantize_int4(const float *x, uint32_t count, uint16_t *codes) {
    float most = 0;
    for (uint32_t i = 0; i < count; i++) most = fmaxf(most, fabsf(x[i]));
    uint16_t code = most > 0 ? num_to_bf16(float_bits(most / INT4_MAX)) : BF16_ONE;
    float scale = bits_float((uint32_t)code << 16);
    for (uint32_t i = 0; i < count; i++) {
        long q = scale > 0 ? lrintf(x[i] / scale) : 0;
        codes[i] = (uint16_t)((q > INT4_MAX ? INT4_MAX : q < -INT4_MAX ? -INT4_MAX : q) & 0xF);
    }
    return code;
}

uint16_t num_block_quantize(fmt_id fmt, const float *x, uint32_t count, uint16_t *codes) {
    uint32_t bits[NUM_BLOCK] = {0};
    uint8_t narrow[NUM_BLOCK];
    if (fmt == FMT_INT4) return quantize_int4(x, count, codes);
    for (uint32_t i = 0; i < count; i++) bits[i] = float_bits(x[i]);
    if (fmt == FMT_BF16) {
        for (uint32_t i = 0; i < count; i++) codes[i] = num_to_bf16(bits[i]);
        return E8M0_ONE;
    }
    uint16_t scale = num_quantize(fmt, NUM_FLOOR, bits, narrow);
    for (uint32_t i = 0; i < count; i++) codes[i] = narrow[i];
    return scale;
}

void num_block_quantize_row(fmt_id fmt, const float *x, uint32_t k, uint16_t *codes, uint16_t *scales) {
    for (uint32_t at = 0; at < k; at += NUM_BLOCK)
        *scales++ = num_block_quantize(fmt, x + at, k - at < NUM_BLOCK ? k - at : NUM_BLOCK, codes + at);
}

scale_id num_block_scale(fmt_id fmt) {
    return fmt == FMT_INT4 ? SCALE_BF16 : fmt == FMT_BF16 ? SCALE_NONE : SCALE_E8M0;
}

void num_block_values(fmt_id fmt, const uint16_t *codes, uint32_t count, uint16_t scale, float *x) {
    num_elem s = num_decode_scale(num_block_scale(fmt), scale);
    for (uint32_t i = 0; i < count; i++) {
        num_elem e = num_decode(fmt, codes[i]);
        double value = ldexp((double)e.mag * s.mag, e.exp + s.exp);
        x[i] = e.nan || s.nan ? NAN : (float)(e.inf ? INFINITY : value) * (e.sign != s.sign ? -1.0f : 1.0f);
    }
}
