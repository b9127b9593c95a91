// Network interface of a tile: twin of rtl/net/ni.sv, bit for bit and cycle for cycle; the head there says what it
// does.
#ifndef NET_NI_H
#define NET_NI_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/flit.h"
#include "common/rr_arbiter.h"

enum { NI_SEND, NI_MOVE, NI_SOURCES };

typedef struct {
    bool valid[NI_SOURCES]; // flits offered by send and move
    flit_t flit[NI_SOURCES];
    credit_t credit; // from the router's LOCAL input
    link_t link;     // from the router's LOCAL output
    bool flit_ready; // recv takes the flit
} ni_in;

typedef struct {
    bool ready[NI_SOURCES];
    bool left;       // a flit of send is on the link in this cycle
    link_t link;     // to the router's LOCAL input; the flit only where valid
    credit_t credit; // to the router's LOCAL output
    bool flit_valid; // to recv; the flit only where valid
    flit_t flit;
    bool busy;
} ni_out;

typedef struct {
    flit_t flits[2];
    uint8_t rd, count;
} ni_source;

typedef struct {
    flit_t flits[CFG_NOC_DEPTH];
    uint8_t rd, count;
} ni_sink;

typedef struct {
    ni_source source[NI_SOURCES];
    bool locked; // a packet of source src is under way in channel vc
    uint8_t src, vc, last;
    uint8_t credits[NOC_NUM_VCS];
    ni_sink sink[NOC_NUM_VCS];
    uint8_t filled; // sinks that hold a flit
    rr_arbiter arbiter;
    bool hold; // the flit of sink hold_vc has been offered and stays
    uint8_t hold_vc;
    credit_t credit;
} ni;

void ni_reset(ni *s);
// Outputs of this cycle.
void ni_peek(const ni *s, ni_out *out);
// One clock edge.
void ni_step(ni *s, const ni_in *in);
#endif
