// Router of the mesh: twin of rtl/noc/router.sv, bit for bit and cycle for cycle; the head there says how it works.
#ifndef NOC_ROUTER_H
#define NOC_ROUTER_H
#include <stdbool.h>
#include <stdint.h>

#include "common/flit.h"
#include "common/rr_arbiter.h"
#include "events.h"

// Buffers: b = port * NOC_NUM_VCS + vc. Requesters of an output: the buffers, then the reducer.
enum {
    ROUTER_BUFFERS = (int)NOC_PORTS * (int)NOC_NUM_VCS,
    ROUTER_REDUCER = ROUTER_BUFFERS,
    ROUTER_REQUESTERS = ROUTER_BUFFERS + 1
};

typedef struct {
    flit_t flits[CFG_NOC_DEPTH];
    uint8_t rd, count;
    // the packet at the front, by branch (output)
    uint8_t sent[NOC_PORTS]; // flits at the front of the buffer that the branch has sent
    uint8_t done;            // branches that have sent the tail, one bit each
    uint8_t locked;          // branches that hold a downstream channel
    uint8_t ovc[NOC_PORTS];  // which one
} router_buffer;

// What this cycle's state decides: computed once at the end of a step.
typedef struct {
    int8_t winner[NOC_PORTS]; // requester of each output, -1 none
    uint8_t vc[NOC_PORTS];
    uint16_t pop;     // buffers whose front flit is freed
    uint16_t stalled; // buffers with a branch refused for want of a channel or credits
    uint8_t take;     // ports whose reduction flit the reducer consumes
} router_decision;

typedef struct {
    node_t here;
    router_buffer buffers[ROUTER_BUFFERS];
    uint16_t filled; // buffers that hold a flit
    uint8_t credits[NOC_PORTS][NOC_NUM_VCS];
    uint8_t claimed[NOC_PORTS]; // downstream channels held by a packet
    rr_arbiter arbiters[NOC_PORTS];
    // the reducer: ports still to add to acc, ports of the packet it is bound to (0: none), acc complete
    uint8_t rest, bound;
    bool ready, locked; // locked: its packet holds the downstream reduction channel
    flit_t acc;
    flit_t last[NOC_PORTS]; // last flit on each output, for toggles
    router_decision now;
} router;

void router_reset(router *s, node_t here);
// Outputs of this cycle. A link's flit is written only where it is valid.
void router_peek(const router *s, link_t link[NOC_PORTS], credit_t credit[NOC_PORTS]);
// One clock edge; ev: events of the cycle that ends.
void router_step(router *s, const link_t link[NOC_PORTS], const credit_t credit[NOC_PORTS], router_events *ev);
// A flit is buffered or in the reducer.
bool router_busy(const router *s);

// Outputs (a bit each) of a flit that came in through a port; 0 drops it.
uint8_t router_route(const flit_t *f, int port, node_t here);
// Ports whose streams meet here for a REDUCE flit.
uint8_t router_expected(const flit_t *f, node_t here);
#endif
