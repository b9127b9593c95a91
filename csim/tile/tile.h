// Tile: sequencer, queues, engines, SRAM, semaphores, network interface, router, counters. Twin of rtl/tile/tile.sv.
#ifndef TILE_TILE_H
#define TILE_TILE_H
#include <stdbool.h>
#include <stdint.h>

#include "counters/counters.h"
#include "matmul/matmul.h"
#include "move/move.h"
#include "net/ni.h"
#include "net/recv.h"
#include "net/send.h"
#include "noc/router.h"
#include "sram/sram.h"
#include "tile/tile_queue.h"
#include "tile/tile_sems.h"
#include "tile/tile_seq.h"
#include "vector/vec.h"

enum { TILE_LINKS = NOC_PORTS - 1 }; // neighbour links: index = port of the router less one

typedef struct {
    bool start, snapshot;
    link_t link[TILE_LINKS];
    credit_t credit[TILE_LINKS];
} tile_in;

typedef struct {
    bool done, error;
    tile_sem_op wait[NUM_ENGINES]; // what each engine waits for in this cycle without getting it
    link_t link[TILE_LINKS];       // the flit only where valid
    credit_t credit[TILE_LINKS];
} tile_out;

// What the units drive in a cycle: the wires between them.
typedef struct {
    const instr_t *instr; // that the sequencer offers
    int engine;           // to this engine's queue, -1: to none
    matmul_out mm;
    move_out mv;
    send_out tx;
    recv_out rx;
    vec_out vx;
    ni_out net;
    link_t eject; // the router's LOCAL output
    credit_t inject_credit;
    mem_rsp rsp[NUM_PORTS]; // without grants
} tile_wires;

typedef struct {
    tile_seq seq;
    tile_queue queue[NUM_ENGINES];
    tile_sems sems;
    sram mem;
    matmul mm;
    move mv;
    send tx;
    recv rx;
    vec vx;
    ni net;
    router hop;
    counters count;
    tile_wires now; // filled by tile_peek
} tile;

// Allocates the SRAM's rows and resets. False where there is no memory; then tile_free is safe.
bool tile_init(tile *s, node_t here);
void tile_free(tile *s);
// The state after reset; SRAM and instruction memory keep their contents.
void tile_reset(tile *s, node_t here);
// Outputs of this cycle. Keeps what the units drive for tile_step, which must follow it.
void tile_peek(tile *s, tile_out *out);
// One clock edge.
void tile_step(tile *s, const tile_in *in);
#endif
