// SRAM of a tile, crossbar and banks: twin of rtl/sram/sram.sv, whose head states the timing. Rows are kept plain; only a
// row written with an injected fault has its codewords worked out.
#ifndef SRAM_SRAM_H
#define SRAM_SRAM_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/mem.h"
#include "common/rr_arbiter.h"
#include "events.h"

enum { SRAM_ROWS = CFG_BANKS * CFG_BANK_ROWS };

// Bits of the four codewords of a row.
typedef struct {
    uint64_t data[ROW_WORDS];
    uint8_t check[ROW_WORDS];
} sram_flip;

typedef struct {
    row_t *rows;      // SRAM_ROWS
    sram_flip *flips; // SRAM_ROWS: bits in which the stored codewords differ from those of rows
    uint32_t faulty;  // rows with flips
    rr_arbiter arbiter[CFG_BANKS];
    row_t last_read[CFG_BANKS], last_write[CFG_BANKS];
    bool rvalid[NUM_PORTS], rerr[NUM_PORTS];
    row_t rdata[NUM_PORTS];
    sram_events late; // events that count in the cycle of the read data
    bool armed;       // a fault waits for its row
    uint16_t inject_addr;
    sram_flip inject;
} sram;

// Allocates the rows (all zero; the RTL's are random) and resets. False where there is no memory; then sram_free is safe.
bool sram_init(sram *s);
void sram_free(sram *s);
// The state after reset. Rows and their faults stay, as in the RTL.
void sram_reset(sram *s);

// Fills rvalid, rerr and rdata (rdata where rvalid only) and clears gnt.
void sram_peek(const sram *s, mem_rsp rsp[NUM_PORTS]);
// Fills gnt: the grants that this cycle's requests get.
void sram_grant(const sram *s, const mem_req req[NUM_PORTS], mem_rsp rsp[NUM_PORTS]);
// One clock edge; rsp: the grants of this cycle, as sram_grant gave them.
void sram_step(sram *s, const mem_req req[NUM_PORTS], const mem_rsp rsp[NUM_PORTS], sram_events *ev);

// Arms a fault for the next write of row addr (0..SRAM_ROWS - 1). Call it behind the sram_step of the cycle in which the RTL
// sees inject_valid_i.
void sram_inject(sram *s, uint16_t addr, const sram_flip *flip);
#endif
