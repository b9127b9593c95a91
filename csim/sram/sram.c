#include "sram/sram.h"

#include <stdlib.h>
#include <string.h>

#include "sram/secded.h"

static unsigned bank_of(uint16_t addr) {
    return addr / CFG_BANK_ROWS % CFG_BANKS;
}

bool sram_init(sram *s) {
    memset(s, 0, sizeof *s);
    s->rows = calloc(SRAM_ROWS, sizeof *s->rows);
    s->flips = calloc(SRAM_ROWS, sizeof *s->flips);
    sram_reset(s);
    return s->rows && s->flips;
}

void sram_free(sram *s) {
    free(s->rows);
    free(s->flips);
    memset(s, 0, sizeof *s);
}

void sram_reset(sram *s) {
    row_t *rows = s->rows;
    sram_flip *flips = s->flips;
    uint32_t faulty = s->faulty;
    memset(s, 0, sizeof *s);
    s->rows = rows;
    s->flips = flips;
    s->faulty = faulty;
    for (int b = 0; b < CFG_BANKS; b++) rr_arbiter_reset(&s->arbiter[b], NUM_PORTS);
}

void sram_peek(const sram *s, mem_rsp rsp[NUM_PORTS]) {
    for (int p = 0; p < NUM_PORTS; p++) {
        rsp[p].gnt = false;
        rsp[p].rvalid = s->rvalid[p];
        rsp[p].rerr = s->rerr[p];
        if (s->rvalid[p]) rsp[p].rdata = s->rdata[p];
    }
}

void sram_grant(const sram *s, const mem_req req[NUM_PORTS], mem_rsp rsp[NUM_PORTS]) {
    uint16_t want[CFG_BANKS] = {0};
    unsigned asked = 0;
    for (int p = 0; p < NUM_PORTS; p++) {
        rsp[p].gnt = false;
        if (!req[p].valid) continue;
        unsigned b = bank_of(req[p].addr);
        want[b] = (uint16_t)(want[b] | 1u << p);
        asked |= 1u << b;
    }
    for (; asked; asked &= asked - 1) {
        int b = __builtin_ctz(asked);
        rsp[rr_arbiter_peek(&s->arbiter[b], want[b])].gnt = true;
    }
}

static bool is_flipped(const sram_flip *f) {
    return (f->data[0] | f->data[1] | f->data[2] | f->data[3]) || (f->check[0] | f->check[1] | f->check[2] | f->check[3]);
}

// What a faulty row reads as.
static void read_faulty(sram *s, unsigned addr, int p) {
    const sram_flip *flip = &s->flips[addr];
    for (int i = 0; i < ROW_WORDS; i++) {
        uint8_t check = (uint8_t)(secded_encode(s->rdata[p].w[i]) ^ flip->check[i]);
        secded_word w = secded_decode(s->rdata[p].w[i] ^ flip->data[i], check);
        s->rdata[p].w[i] = w.data;
        s->rerr[p] |= w.uncorrectable;
        s->late.corrected = (uint16_t)(s->late.corrected + w.single);
        s->late.uncorrectable = (uint16_t)(s->late.uncorrectable + w.uncorrectable);
    }
    if (s->rerr[p]) memset(&s->rdata[p], 0xFF, sizeof s->rdata[p]);
}

static void read_row(sram *s, unsigned addr, int p) {
    unsigned b = addr / CFG_BANK_ROWS;
    s->rvalid[p] = true;
    s->rdata[p] = s->rows[addr];
    if (s->faulty && is_flipped(&s->flips[addr])) read_faulty(s, addr, p);
    s->late.read_toggles = (uint16_t)(s->late.read_toggles + row_toggles(&s->rdata[p], &s->last_read[b]));
    s->last_read[b] = s->rdata[p];
}

// A write heals its row, unless the armed fault is for it.
static void write_faults(sram *s, unsigned addr) {
    if (s->faulty && is_flipped(&s->flips[addr])) {
        memset(&s->flips[addr], 0, sizeof s->flips[addr]);
        s->faulty--;
    }
    if (!s->armed || addr != s->inject_addr) return;
    s->armed = false;
    s->flips[addr] = s->inject;
    s->faulty += is_flipped(&s->inject);
}

void sram_step(sram *s, const mem_req req[NUM_PORTS], const mem_rsp rsp[NUM_PORTS], sram_events *ev) {
    *ev = s->late;
    ev->gated = CFG_BANKS;
    memset(&s->late, 0, sizeof s->late);
    memset(s->rvalid, 0, sizeof s->rvalid);
    memset(s->rerr, 0, sizeof s->rerr);
    for (int p = 0; p < NUM_PORTS; p++) {
        if (!req[p].valid) continue;
        if (!rsp[p].gnt) {
            ev->conflicts++;
            continue;
        }
        unsigned addr = req[p].addr % SRAM_ROWS, b = addr / CFG_BANK_ROWS;
        rr_arbiter_take(&s->arbiter[b], p);
        ev->gated--;
        if (!req[p].we) {
            ev->reads++;
            read_row(s, addr, p);
            continue;
        }
        ev->writes++;
        ev->write_toggles = (uint16_t)(ev->write_toggles + row_toggles(&req[p].wdata, &s->last_write[b]));
        s->last_write[b] = req[p].wdata;
        s->rows[addr] = req[p].wdata;
        if (s->faulty || s->armed) write_faults(s, addr);
    }
}

void sram_inject(sram *s, uint16_t addr, const sram_flip *flip) {
    s->armed = true;
    s->inject_addr = (uint16_t)(addr % SRAM_ROWS);
    s->inject = *flip;
}
