// Send engine of a tile: twin of rtl/net/send.sv, bit for bit and cycle for cycle; the head there says what it
// promises.
#ifndef NET_SEND_H
#define NET_SEND_H
#include <stdbool.h>
#include <stdint.h>

#include "common/engine_front.h"
#include "common/flit.h"
#include "common/mem.h"
#include "events.h"

enum { SEND_FIFO = 4 };

typedef struct {
    bool instr_valid;
    instr_t instr;
    mem_rsp rsp;
    bool wait_gnt;
    bool flit_ready;
    bool left; // a flit of this engine is on the link in this cycle
} send_in;

typedef struct {
    bool instr_ready;
    mem_req req; // addr only where valid
    bool wait_valid;
    uint8_t wait_sem, wait_count;
    bool signal_valid;
    uint8_t signal_sem, signal_count;
    bool flit_valid;
    flit_t flit; // only where valid
    bool busy;
    bool error; // sticky: a poisoned read, or an instruction of another engine
} send_out;

typedef struct {
    node_t here;
    engine_front front;
    uint16_t row; // next row of the instruction
    bool pend;
    flit_t pend_flit; // its data come in this cycle
    flit_t fifo[SEND_FIFO];
    uint8_t rd, count;
    uint8_t owed; // flits in the network interface
    bool error;
} send;

// The state after reset of the engine of tile `here`.
void send_reset(send *s, node_t here);
// Outputs of this cycle.
void send_peek(const send *s, send_out *out);
// One clock edge; ev: events of the cycle that ends.
void send_step(send *s, const send_in *in, send_events *ev);
#endif
