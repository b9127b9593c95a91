// Matmul engine of a tile: twin of rtl/matmul/matmul.sv, bit for bit and cycle for cycle.
#ifndef MATMUL_MATMUL_H
#define MATMUL_MATMUL_H
#include <stdbool.h>
#include <stdint.h>

#include "common/isa.h"
#include "common/mem.h"
#include "events.h"
#include "matmul/matmul_array.h"

// Memory ports of the engine, in the order of the tile's PORT_MM_*.
enum { MM_A, MM_W, MM_S, MM_C, MM_PORTS };
enum { MM_FIFO = 4, MM_SIGNALS = 4 };

typedef struct {
    bool instr_valid;
    instr_t instr;
    mem_rsp rsp[MM_PORTS];
    bool wait_gnt;
} matmul_in;

typedef struct {
    bool instr_ready;
    mem_req req[MM_PORTS];
    bool wait_valid;
    uint8_t wait_sem, wait_count;
    bool signal_valid;
    uint8_t signal_sem, signal_count;
    bool busy;
    bool error; // sticky: an operand read had a double error
} matmul_out;

// One block of 32 x COLS weights and the rows that meet it: twin of matmul_pkg::block_t.
typedef struct {
    uint16_t a_base, as_base, ws_addr, c_base, m;
    uint8_t ws_sub, fmt_a, scale_a, scale_w, ncol, kval;
    bool init, first, last, fresh, tag, bank;
} mm_block;

// A reader that passes the blocks in order: n blocks before it, the next one in half.
typedef struct {
    uint8_t n, half;
} mm_walker;

typedef struct {
    bool cur_valid, nxt_valid;
    instr_t cur, nxt;
    // the block that loads next, and how far it is
    uint16_t n_rem, k_rem, a_ptr, as_ptr, w_ptr, ws_addr, c_ptr;
    uint8_t ws_sub;
    bool fresh, tag, bank, open, push_half;
    uint16_t w_row;
    mm_block block[2];
    bool loaded[2];
    // the weight read in flight
    bool pend, pend_half, pend_last;
    uint16_t pend_row;
    uint8_t pend_fmt;
    // signals that wait for results
    struct {
        uint8_t sem, count, after;
    } sig[MM_SIGNALS];
    uint8_t sig_n, sig_rd;
    uint8_t issued; // column tiles begun
} mm_front;

typedef struct {
    mm_walker ws, as;
    uint8_t ws_group; // groups of 8 columns already taken
    bool ws_send;     // scales of half ws_send_half are complete
    bool ws_send_half;
    uint8_t ws_send_fmt;
    bool ws_loaded[2];
    bool row_valid, row_tag; // the weight scale row kept
    uint16_t row_addr;
    row_t row;
    uint16_t word[CFG_COLS]; // scales of the block
    uint16_t as_group;
    uint8_t as_n, as_rd;
    row_t as_row[2];
    bool pend_ws, pend_as;
    bool hold, hold_as; // a request waits for its grant
} mm_scale;

typedef struct {
    mm_walker fetch, issue;
    uint16_t fetch_row; // next SRAM row of the block to ask for
    bool pend;
    uint8_t n, rd;
    row_t fifo[MM_FIFO];
    uint16_t m; // next row of the block to issue
} mm_stream;

typedef enum { BANK_FREE, BANK_INIT, BANK_READY, BANK_CLOSED } mm_bank_state;
typedef enum { MM_C_IDLE, MM_C_DRAIN, MM_C_INIT } mm_c_mode;

typedef struct {
    mm_walker alloc;
    struct {
        uint8_t state; // mm_bank_state
        bool tag, blocked;
        uint16_t base, m;
    } bank[2];
    bool drain_bank; // the bank to drain next
    uint8_t mode;    // mm_c_mode
    bool c_bank;
    uint16_t row, ptr; // accumulator row, SRAM row
    uint8_t part;
    bool asked; // all initial rows asked for
    bool pend, pend_end;
    uint16_t pend_row;
    uint8_t pend_part;
    uint8_t drained; // column tiles in SRAM
} mm_drain;

typedef struct {
    mm_front front;
    mm_scale scale;
    mm_stream stream;
    mm_drain drain;
    matmul_array array;
    bool error;
} matmul;

void matmul_reset(matmul *s);
// Outputs of this cycle, from the state alone.
void matmul_peek(const matmul *s, matmul_out *out);
// One clock edge; ev: the events of the cycle that ends.
void matmul_step(matmul *s, const matmul_in *in, matmul_events *ev);
#endif
