// Which buffers of a mesh can wait for which: the channel dependency graph of a routing function. Without a cycle in
// it, virtual cut-through cannot deadlock: the last channel of a topological order always drains, then the one before
// it. Channel = input buffer of a router: node * ROUTER_BUFFERS + buffer. Sinks take everything and are no channels.
#ifndef NOC_CHANNEL_GRAPH_H
#define NOC_CHANNEL_GRAPH_H
#include "noc/router.h"

enum { CHANNEL_TEXT = 1024 };

// As router_route: outputs of a flit that came in through a port.
typedef uint8_t (*channel_route)(const flit_t *f, int port, node_t here);

typedef struct {
    int nx, ny, channels;
    channel_route route;
    bool edge_waits; // a fault: HBM ports take no request while a reply waits to leave
    bool *waits;     // [channels][channels]: the first can wait for the second
    long packets;    // added
} channel_graph;

// False where there is no memory.
bool channel_graph_init(channel_graph *g, int nx, int ny, channel_route route);
void channel_graph_free(channel_graph *g);
// Every wait of one packet that comes in at a port of a node, on all branches. False where it is dropped or never ends.
bool channel_graph_add(channel_graph *g, const flit_t *f, int node, int port);
// All unicasts of tiles and HBM ports, requests to HBM ports, multicasts to every rectangle, streams of every
// reduction.
bool channel_graph_add_all(channel_graph *g);
// The streams of a reduction meet where router_expected says, only at tiles that take part, and all reach the root.
bool channel_graph_reduction_meets(const channel_graph *g, rect_t rect, node_t root);
long channel_graph_edges(const channel_graph *g);
// Channels in an order in which every wait leads forward; false where there is none. order: g->channels of them.
bool channel_graph_order(const channel_graph *g, int *order);
// A cycle as text "(x,y) port vc -> ...", false and "" where there is none.
bool channel_graph_cycle(const channel_graph *g, char text[CHANNEL_TEXT]);
#endif
