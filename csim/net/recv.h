// Receive engine of a tile and the writer of what arrives: twin of rtl/net/recv.sv, bit for bit and cycle for cycle;
// the head there says what it promises.
#ifndef NET_RECV_H
#define NET_RECV_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/engine_front.h"
#include "common/flit.h"
#include "common/mem.h"
#include "events.h"

typedef struct {
    bool instr_valid;
    instr_t instr;
    mem_rsp rsp;
    bool wait_gnt;
    bool flit_valid;
    flit_t flit;
} recv_in;

typedef struct {
    bool instr_ready;
    mem_req req; // the rest only where valid
    bool wait_valid;
    uint8_t wait_sem, wait_count;
    bool signal_valid;
    uint8_t signal_sem, signal_count;
    bool flit_ready;
    bool load_row, ack; // to move: a LOAD_DATA row of the slot has been written; the STORE of the slot is acknowledged
    uint8_t load_slot, ack_slot; // only where valid
    bool busy;
    bool error; // sticky: a counter is full, a tag or kind does not exist here, an instruction of another engine
} recv_out;

typedef struct {
    engine_front front;
    flit_t fifo[2];
    uint8_t rd, count;
    bool load_row;
    uint8_t load_slot;
    uint16_t arrivals[CFG_NUM_TAGS];
    bool error;
} recv;

void recv_reset(recv *s);
// Outputs of this cycle.
void recv_peek(const recv *s, recv_out *out);
// One clock edge; ev: events of the cycle that ends.
void recv_step(recv *s, const recv_in *in, recv_events *ev);
#endif
