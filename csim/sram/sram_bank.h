// SRAM bank with SECDED: twin of rtl/sram/sram_bank.sv, whose head states the timing.
#ifndef SRAM_SRAM_BANK_H
#define SRAM_SRAM_BANK_H
#include "cfg.h"
#include "common/mem.h"
#include "sram/secded.h"

enum { SRAM_WORDS = ROW_WORDS };

// Stored codewords of a row.
typedef struct {
    uint64_t data[SRAM_WORDS];
    uint8_t check[SRAM_WORDS];
} sram_code;

typedef struct {
    bool valid, we;
    uint16_t row;  // 0..CFG_BANK_ROWS - 1
    uint32_t strb; // one bit a byte
    row_t wdata;
    sram_code inject; // bits flipped in what is written in this cycle
} sram_bank_in;

typedef struct {
    bool ready, rvalid, rerr;
    row_t rdata;
    uint8_t corrected, uncorrectable; // words of the row read in the cycle before
} sram_bank_out;

typedef struct {
    uint16_t read_toggles, write_toggles;
} sram_bank_events;

typedef struct {
    sram_code rows[CFG_BANK_ROWS];
    sram_code code; // the row read
    bool read, merge;
    uint16_t row;
    uint32_t strb;
    row_t wdata, last_r, last_w;
} sram_bank;

void sram_bank_reset(sram_bank *s);
void sram_bank_peek(const sram_bank *s, sram_bank_out *out);
void sram_bank_step(sram_bank *s, const sram_bank_in *in, sram_bank_events *ev);
#endif
