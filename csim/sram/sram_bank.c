#include "sram/sram_bank.h"

#include <string.h>

void sram_bank_reset(sram_bank *s) {
    memset(s, 0, sizeof *s);
}

// The row read, corrected; bad: bit i for an uncorrectable word i.
static row_t decode(const sram_code *code, unsigned *bad, uint8_t *corrected) {
    row_t row;
    *bad = 0;
    *corrected = 0;
    for (int i = 0; i < SRAM_WORDS; i++) {
        secded_word w = secded_decode(code->data[i], code->check[i]);
        row.w[i] = w.data;
        *bad |= (unsigned)w.uncorrectable << i;
        *corrected = (uint8_t)(*corrected + w.single);
    }
    return row;
}

void sram_bank_peek(const sram_bank *s, sram_bank_out *out) {
    memset(out, 0, sizeof *out);
    out->ready = !s->merge;
    if (!s->read && !s->merge) return;
    unsigned bad;
    row_t row = decode(&s->code, &bad, &out->corrected);
    out->uncorrectable = (uint8_t)__builtin_popcount(bad);
    out->rvalid = s->read;
    out->rerr = s->read && bad;
    if (!s->read) return;
    out->rdata = row;
    if (out->rerr) memset(&out->rdata, 0xFF, sizeof out->rdata);
}

// Bytes of a word's strobes as a mask of its bits.
static uint64_t byte_mask(unsigned strb) {
    uint64_t mask = 0;
    for (int k = 0; k < 8; k++) mask |= strb >> k & 1 ? (uint64_t)0xFF << 8 * k : 0;
    return mask;
}

static void write_row(sram_bank *s, unsigned row, uint32_t strb, const row_t *wdata, const row_t *old, unsigned bad,
                      const sram_code *inject) {
    for (int i = 0; i < SRAM_WORDS; i++) {
        unsigned part = strb >> 8 * i & 0xFF;
        if (!part) continue;
        uint64_t mask = byte_mask(part), data = (wdata->w[i] & mask) | (old->w[i] & ~mask);
        uint8_t check = secded_encode(data);
        if (bad >> i & 1 && part != 0xFF) check ^= 3; // stays uncorrectable
        s->rows[row].data[i] = data ^ inject->data[i];
        s->rows[row].check[i] = check ^ inject->check[i];
    }
}

static bool is_partial(uint32_t strb) {
    for (int i = 0; i < SRAM_WORDS; i++)
        if ((strb >> 8 * i & 0xFF) != 0 && (strb >> 8 * i & 0xFF) != 0xFF) return true;
    return false;
}

void sram_bank_step(sram_bank *s, const sram_bank_in *in, sram_bank_events *ev) {
    sram_bank_out out;
    row_t old = {{0}};
    memset(ev, 0, sizeof *ev);
    if (s->read) {
        sram_bank_peek(s, &out);
        ev->read_toggles = row_toggles(&out.rdata, &s->last_r);
        s->last_r = out.rdata;
    }
    bool was_merge = s->merge;
    if (was_merge) {
        unsigned bad;
        uint8_t corrected;
        old = decode(&s->code, &bad, &corrected);
        write_row(s, s->row, s->strb, &s->wdata, &old, bad, &in->inject);
    }
    s->read = s->merge = false;
    if (was_merge || !in->valid) return;
    bool partial = in->we && is_partial(in->strb);
    s->read = !in->we;
    s->merge = partial;
    if (!in->we || partial) s->code = s->rows[in->row];
    if (!in->we) return;
    ev->write_toggles = row_toggles(&in->wdata, &s->last_w);
    s->last_w = in->wdata;
    if (partial) {
        s->row = in->row;
        s->strb = in->strb;
        s->wdata = in->wdata;
    } else {
        write_row(s, in->row, in->strb, &in->wdata, &old, 0, &in->inject);
    }
}
