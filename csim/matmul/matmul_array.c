#include "matmul/matmul_array.h"

#include <math.h>
#include <string.h>

// ---- element values as doubles, by format and code (formats of up to 8 bits)
static double value_of(fmt_id fmt, uint16_t code) {
    num_elem e = num_decode(fmt, code);
    if (e.nan || e.inf) return NAN;
    return ldexp(e.sign ? -(double)e.mag : e.mag, e.exp);
}

// Exact in double precision: products of these formats span 28 bits and all of them stay above the cut.
static bool is_exact(fmt_id fmt) {
    return CFG_ALIGN_BITS >= 28 && fmt != FMT_E5M2 && fmt != FMT_BF16;
}

static double scale_value(scale_id fmt, uint16_t code) {
    num_elem e = num_decode_scale(fmt, code);
    return e.nan ? NAN : ldexp(e.sign ? -(double)e.mag : e.mag, e.exp);
}

static inline unsigned bits_at(const row_t *r, int at, int width) {
    return (unsigned)(r->w[at / 64] >> (at % 64)) & ((1u << width) - 1);
}

void matmul_array_reset(matmul_array *s) {
    memset(s, 0, sizeof *s);
    for (int fmt = 0; fmt < FMT_BF16; fmt++)
        for (int code = 0; code < 1 << num_fmt_bits((fmt_id)fmt); code++)
            s->value[fmt][code] = value_of((fmt_id)fmt, (uint16_t)code);
    for (int i = 0; i < ARRAY_STAGES; i++) s->at[i] = (uint8_t)i;
}

bool matmul_array_busy(const matmul_array *s) {
    return s->pipe[0].valid || s->pipe[1].valid || s->pipe[2].valid;
}

bool matmul_array_acc_busy(const matmul_array *s, int bank) {
    for (int i = 0; i < ARRAY_STAGES; i++)
        if (s->pipe[i].valid && s->pipe[i].acc_bank == bank) return true;
    return false;
}

const uint32_t *matmul_array_read(const matmul_array *s, int bank, int idx) {
    return s->acc[bank][idx];
}

static void load_element(matmul_array *s, int bank, int col, int k, fmt_id fmt, unsigned code) {
    s->codes[bank][col][k] = (uint16_t)code;
    if (is_exact(fmt)) s->w[bank][k][col] = s->value[fmt][code];
}

static void load_weights(matmul_array *s, const matmul_array_in *in) {
    fmt_id fmt = (fmt_id)in->wl_fmt;
    int bits = num_fmt_bits(fmt), count = ROW_BITS / bits, bank = in->wl_bank, row = in->wl_row;
    s->w_fmt[bank] = in->wl_fmt;
    s->w_last = in->wl_data;
    for (int i = 0; i < count; i++) {
        unsigned code = bits_at(&in->wl_data, i * bits, bits);
        if (bits == 4)
            load_element(s, bank, 2 * row + i / 32, i % 32, fmt, code);
        else if (bits == 8)
            load_element(s, bank, row, i, fmt, code);
        else
            load_element(s, bank, row / 2, 16 * (row & 1) + i, fmt, code);
    }
}

static void load_scales(matmul_array *s, const matmul_array_in *in) {
    s->ws_fmt[in->ws_bank] = in->ws_fmt;
    for (int c = 0; c < CFG_COLS; c++) {
        s->ws[in->ws_bank][c] = in->ws_data[c];
        s->ws_value[in->ws_bank][c] = scale_value((scale_id)in->ws_fmt, in->ws_data[c]);
    }
}

// Element codes of the operand register.
static void operand_codes(const row_t data[2], fmt_id fmt, uint16_t code[NUM_BLOCK]) {
    int bits = num_fmt_bits(fmt);
    for (int k = 0; k < NUM_BLOCK; k++)
        code[k] = (uint16_t)bits_at(&data[k * bits / ROW_BITS], k * bits % ROW_BITS, bits);
}

static uint16_t zeros(const row_t data[2], fmt_id fmt) {
    uint16_t code[NUM_BLOCK], n = 0;
    bool has_sign = fmt != FMT_INT4 && fmt != FMT_INT8;
    unsigned mask = (1u << (num_fmt_bits(fmt) - has_sign)) - 1;
    operand_codes(data, fmt, code);
    for (int k = 0; k < NUM_BLOCK; k++) n = (uint16_t)(n + ((code[k] & mask) == 0));
    return n;
}

// The row leaves stage 0: its dot products with the weights of this cycle.
static void multiply(const matmul_array *s, array_row *r) {
    uint16_t code[NUM_BLOCK];
    fmt_id fmt = (fmt_id)r->fmt;
    operand_codes(s->a_last, fmt, code);
    r->exact = is_exact(fmt) && is_exact((fmt_id)s->w_fmt[r->wbank]);
    if (!r->exact) {
        for (int c = 0; c < CFG_COLS; c++) {
            r->dot[c] = num_block_dot(fmt, code, (fmt_id)s->w_fmt[r->wbank], s->codes[r->wbank][c]);
            r->ws[c] = num_decode_scale((scale_id)s->ws_fmt[r->wbank], s->ws[r->wbank][c]);
        }
        return;
    }
    double sum[CFG_COLS] = {0};
    for (int k = 0; k < NUM_BLOCK; k++) {
        double a = s->value[fmt][code[k]];
        const double *w = s->w[r->wbank][k];
        for (int c = 0; c < CFG_COLS; c++) sum[c] += a * w[c];
    }
    double scale = scale_value((scale_id)r->scale_fmt, r->scale);
    for (int c = 0; c < CFG_COLS; c++) r->p[c] = sum[c] * scale * s->ws_value[r->wbank][c];
}

static double as_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

// float32 of acc + p with one rounding: the double sum is rounded to odd first, which no second rounding can spoil.
static uint32_t accumulate(uint32_t acc, double p) {
    float f;
    memcpy(&f, &acc, 4);
    double a = (double)f, sum = a + p, b = sum - a, lost = (a - (sum - b)) + (p - b);
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    if (isfinite(sum) && lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
    float rounded = (float)as_double(bits);
    uint32_t out;
    if (rounded != rounded) return NUM_QNAN;
    memcpy(&out, &rounded, 4);
    return sum == 0 ? 0 : out;
}

static uint16_t write_accumulators(matmul_array *s, const array_row *r) {
    uint32_t *acc = s->acc[r->acc_bank][r->idx];
    int toggles = 0;
    num_elem scale = {0};
    if (!r->exact) scale = num_decode_scale((scale_id)r->scale_fmt, r->scale);
    for (int c = 0; c < CFG_COLS; c++) {
        uint32_t base = r->first ? 0 : acc[c];
        acc[c] = r->exact ? accumulate(base, r->p[c]) : num_accumulate(base, r->dot[c], scale, r->ws[c]);
        toggles += __builtin_popcount(acc[c] ^ base);
    }
    return (uint16_t)toggles;
}

static void take_row(matmul_array *s, const matmul_array_in *in, array_row *r, matmul_events *ev) {
    ev->zero_operands = zeros(in->row_data, (fmt_id)in->row_fmt);
    ev->a_toggles =
        (uint16_t)(row_toggles(&in->row_data[0], &s->a_last[0]) + row_toggles(&in->row_data[1], &s->a_last[1]));
    s->a_last[0] = in->row_data[0];
    s->a_last[1] = in->row_data[1];
    r->wbank = in->row_wbank;
    r->fmt = in->row_fmt;
    r->scale_fmt = in->row_scale_fmt;
    r->scale = in->row_scale;
    r->acc_bank = in->row_acc_bank;
    r->idx = in->row_idx;
    r->first = in->row_first;
}

void matmul_array_step(matmul_array *s, const matmul_array_in *in, matmul_events *ev) {
    array_row *stage0 = &s->pipe[s->at[0]], *stage2 = &s->pipe[s->at[2]];
    ev->gated = !(matmul_array_busy(s) || in->wl_valid || in->ws_valid || in->row_valid || in->ini_valid);
    if (ev->gated) return;
    if (stage2->valid) ev->acc_toggles = write_accumulators(s, stage2);
    if (stage0->valid) multiply(s, stage0);
    stage2->valid = in->row_valid;
    if (in->row_valid) take_row(s, in, stage2, ev);
    uint8_t reused = s->at[2];
    s->at[2] = s->at[1];
    s->at[1] = s->at[0];
    s->at[0] = reused;
    if (in->wl_valid) {
        ev->w_toggles = row_toggles(&in->wl_data, &s->w_last);
        load_weights(s, in);
    }
    if (in->ws_valid) load_scales(s, in);
    if (in->ini_valid) memcpy(s->acc[in->ini_bank][in->ini_idx] + 8 * in->ini_part, in->ini_data.w, ROW_BYTES);
}
