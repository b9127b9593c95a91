// Move engine of a tile: twin of rtl/move/move.sv, bit for bit and cycle for cycle; the head there says what it
// promises.
#ifndef MOVE_MOVE_H
#define MOVE_MOVE_H
#include <stdbool.h>
#include <stdint.h>

#include "common/engine_front.h"
#include "common/flit.h"
#include "common/mem.h"
#include "events.h"

// Memory ports of the engine: the tile's PORT_MOVE_R and PORT_MOVE_W.
enum { MOVE_R, MOVE_W, MOVE_PORTS };
enum { MOVE_FIFO = 4 };

typedef struct {
    bool instr_valid;
    instr_t instr;
    mem_rsp rsp[MOVE_PORTS];
    bool wait_gnt;
    bool flit_ready;
    bool load_row, ack; // from recv: a LOAD_DATA row is written; a STORE is acknowledged
    uint8_t load_slot, ack_slot;
} move_in;

typedef struct {
    bool instr_ready;
    mem_req req[MOVE_PORTS]; // addr and wdata only where valid
    bool wait_valid;
    uint8_t wait_sem, wait_count;
    bool signal_valid;
    uint8_t signal_sem, signal_count;
    bool flit_valid;
    flit_t flit; // only where valid
    bool busy;
    bool error; // sticky: a poisoned read, or an instruction of another engine
} move_out;

typedef struct {
    bool copy; // to SRAM row flit.addr, not to the network
    flit_t flit;
} move_entry;

typedef struct {
    node_t here;
    engine_front front;
    uint16_t row; // next row of the instruction
    bool pend, pend_load;
    move_entry pend_entry; // its data, unless a LOAD's, come in this cycle
    move_entry fifo[MOVE_FIFO];
    uint8_t rd, count;
    uint8_t copies; // rows of COPYs read but not written
    bool slot_valid;
    uint8_t slot; // the free slot kept for the next transaction
    uint16_t slots_busy, slots_store;
    uint16_t left[CFG_NUM_SLOTS]; // rows that a LOAD still waits for
    bool error;
} move;

// The state after reset of the engine of tile `here`.
void move_reset(move *s, node_t here);
// Outputs of this cycle.
void move_peek(const move *s, move_out *out);
// One clock edge; ev: events of the cycle that ends.
void move_step(move *s, const move_in *in, move_events *ev);
#endif
