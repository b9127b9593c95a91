#include "numerics/num.h"

#include <string.h>

#include "numerics/num_round.h"

static const struct {
    const char *name;
    uint8_t bits, exp_bits, man_bits;
    int8_t bias;
} formats[NUM_FMTS] = {
    [FMT_E2M1] = {"e2m1", 4, 2, 1, 1},  [FMT_INT4] = {"int4", 4, 0, 0, 0}, [FMT_E4M3] = {"e4m3", 8, 4, 3, 7},
    [FMT_E5M2] = {"e5m2", 8, 5, 2, 15}, [FMT_INT8] = {"int8", 8, 0, 0, 0}, [FMT_BF16] = {"bf16", 16, 8, 7, 127},
};

int num_fmt_bits(fmt_id fmt) {
    return formats[fmt].bits;
}

const char *num_fmt_name(fmt_id fmt) {
    return formats[fmt].name;
}

fmt_id num_fmt_parse(const char *name) {
    int fmt = 0;
    while (fmt < NUM_FMTS && strcmp(name, formats[fmt].name) != 0) fmt++;
    return (fmt_id)fmt;
}

static num_elem decode_integer(uint16_t code, int bits, int exp) {
    int value = code & ((1 << bits) - 1);
    if (value >> (bits - 1)) value -= 1 << bits;
    return (num_elem){.sign = value < 0, .mag = (uint8_t)(value < 0 ? -value : value), .exp = (int16_t)exp};
}

num_elem num_decode(fmt_id fmt, uint16_t code) {
    if (fmt == FMT_INT4) return decode_integer(code, 4, 0);
    if (fmt == FMT_INT8) return decode_integer(code, 8, -6);
    int eb = formats[fmt].exp_bits, mb = formats[fmt].man_bits, bias = formats[fmt].bias;
    int exp = code >> mb & ((1 << eb) - 1), man = code & ((1 << mb) - 1);
    num_elem e = {.sign = code >> (eb + mb) & 1};
    bool top = exp == (1 << eb) - 1;
    if (top && (fmt == FMT_E5M2 || fmt == FMT_BF16)) {
        e.nan = man != 0;
        e.inf = man == 0;
        return e;
    }
    if (top && fmt == FMT_E4M3 && man == 7) return (num_elem){.nan = true};
    e.mag = (uint8_t)(exp ? man | 1 << mb : man);
    e.exp = (int16_t)((exp ? exp : 1) - bias - mb);
    return e;
}

num_elem num_decode_scale(scale_id fmt, uint16_t code) {
    if (fmt == SCALE_NONE) return (num_elem){.mag = 1};
    if (fmt == SCALE_E8M0)
        return (num_elem){.nan = (code & 255) == 255, .mag = 1, .exp = (int16_t)((code & 255) - 127)};
    num_elem e = num_decode(FMT_BF16, code);
    e.nan = e.nan || e.inf;
    e.inf = false;
    return e;
}

num_dot num_block_dot_bits(fmt_id a_fmt, const uint16_t a[NUM_BLOCK], fmt_id w_fmt, const uint16_t w[NUM_BLOCK],
                           int align_bits) {
    bool nan = false, inf[2] = {false, false};
    int exp_max = -10000;
    num_elem x[NUM_BLOCK], y[NUM_BLOCK];
    for (int k = 0; k < NUM_BLOCK; k++) {
        x[k] = num_decode(a_fmt, a[k]);
        y[k] = num_decode(w_fmt, w[k]);
        bool zero = (!x[k].inf && x[k].mag == 0) || (!y[k].inf && y[k].mag == 0);
        if (x[k].nan || y[k].nan || ((x[k].inf || y[k].inf) && zero))
            nan = true;
        else if (x[k].inf || y[k].inf)
            inf[x[k].sign != y[k].sign] = true;
        else if (!zero && x[k].exp + y[k].exp > exp_max)
            exp_max = x[k].exp + y[k].exp;
    }
    if (nan || (inf[0] && inf[1])) return (num_dot){.nan = true};
    if (inf[0] || inf[1]) return (num_dot){.inf = true, .sign = inf[1]};
    int64_t sum = 0;
    for (int k = 0; k < NUM_BLOCK; k++) {
        uint64_t product = (uint64_t)x[k].mag * y[k].mag;
        int shift = align_bits - (exp_max - x[k].exp - y[k].exp);
        if (product == 0 || shift <= -16) continue;
        int64_t aligned = (int64_t)(shift >= 0 ? product << shift : product >> -shift);
        sum += x[k].sign != y[k].sign ? -aligned : aligned;
    }
    return (num_dot){.sign = sum < 0, .mag = (uint64_t)(sum < 0 ? -sum : sum), .exp = sum ? exp_max - align_bits : 0};
}

num_dot num_block_dot(fmt_id a_fmt, const uint16_t a[NUM_BLOCK], fmt_id w_fmt, const uint16_t w[NUM_BLOCK]) {
    return num_block_dot_bits(a_fmt, a, w_fmt, w, CFG_ALIGN_BITS);
}

uint32_t num_accumulate(uint32_t acc, num_dot dot, num_elem scale_a, num_elem scale_w) {
    uint32_t acc_exp = acc >> 23 & 255, acc_man = acc & 0x7FFFFF;
    bool acc_inf = acc_exp == 255 && acc_man == 0;
    if (dot.nan || scale_a.nan || scale_w.nan || (acc_exp == 255 && acc_man)) return NUM_QNAN;
    bool sign = dot.sign != (scale_a.sign != scale_w.sign);
    if (dot.inf) {
        if (scale_a.mag == 0 || scale_w.mag == 0 || (acc_inf && sign != acc >> 31)) return NUM_QNAN;
        return (uint32_t)sign << 31 | 0x7F800000u;
    }
    if (acc_inf) return acc;
    return num_add_exact(acc >> 31, acc_exp ? acc_man | 0x800000 : acc_man, (int)(acc_exp ? acc_exp : 1) - 150, sign,
                         dot.mag * scale_a.mag * scale_w.mag, dot.exp + scale_a.exp + scale_w.exp);
}
