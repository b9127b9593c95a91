// Traffic for mesh tests: sources that inject packets as the network interface does, sinks that take and count.
#ifndef TESTS_TRAFFIC_H
#define TESTS_TRAFFIC_H
#include <stdlib.h>
#include <string.h>

#include "common/seed.h"
#include "noc/mesh.h"

enum { QUEUE = 4096 };

typedef struct {
    flit_t queue[QUEUE]; // heads of packets; flit i of a packet has addr + i and data word 0 + i
    uint32_t head, count;
    uint8_t at, vc; // flit of the packet in progress
    uint8_t credits[NOC_NUM_VCS];
    uint8_t held[NOC_NUM_VCS]; // flits taken by the sink whose credit is still owed
    uint64_t sent, received;   // flits
    uint64_t from[64];         // flits received by source node
} node_traffic;

typedef struct {
    mesh net;
    node_traffic *nodes;
    uint64_t cycle;
    rng_t rng;
    int slow; // a sink returns a credit with probability 1 / (slow + 1)
    void (*on_flit)(void *context, int node, const flit_t *f);
    void *context;
} traffic;

static inline void traffic_init(traffic *t, int nx, int ny, uint64_t seed) {
    memset(t, 0, sizeof *t);
    t->rng = rng_new(seed);
    if (!mesh_init(&t->net, nx, ny)) abort();
    t->nodes = calloc((size_t)(nx * ny), sizeof *t->nodes);
    for (int n = 0; n < nx * ny; n++) memset(t->nodes[n].credits, CFG_NOC_DEPTH, NOC_NUM_VCS);
}

static inline void traffic_free(traffic *t) {
    mesh_free(&t->net);
    free(t->nodes);
}

static inline bool traffic_put(traffic *t, int node, flit_t f) {
    node_traffic *s = &t->nodes[node];
    if (s->count == QUEUE) return false;
    f.src = (node_t){(uint8_t)(node % t->net.nx), (uint8_t)(node / t->net.nx)};
    s->queue[(s->head + s->count++) % QUEUE] = f;
    return true;
}

static inline flit_t packet(flit_kind kind, rect_t rect, int flits) {
    return (flit_t){.kind = (uint8_t)kind, .rect = rect, .len_m1 = (uint8_t)(flits - 1)};
}

// Drives the node's injection link for this cycle.
static inline void inject(node_traffic *s, link_t *link) {
    link->valid = false;
    if (!s->count) return;
    flit_t f = s->queue[s->head];
    int flits = f.len_m1 + 1;
    if (s->at == 0) {
        int best = -1, first = f.kind == FLIT_REDUCE ? NOC_VC_REDUCE : 0,
            last = f.kind == FLIT_REDUCE ? NOC_VC_REDUCE : NOC_DATA_VCS - 1;
        for (int v = first; v <= last; v++)
            if (s->credits[v] >= flits && (best < 0 || s->credits[v] > s->credits[best])) best = v;
        if (best < 0) return;
        s->vc = (uint8_t)best;
    }
    f.head = s->at == 0;
    f.tail = s->at == flits - 1;
    f.addr += s->at;
    link->valid = true;
    link->vc = s->vc;
    link->flit = f;
    s->credits[s->vc]--;
    s->sent++;
    if (++s->at == flits) {
        s->at = 0;
        s->head = (s->head + 1) % QUEUE;
        s->count--;
    }
}

// One cycle of the whole mesh.
static inline void traffic_step(traffic *t) {
    mesh *m = &t->net;
    mesh_peek(m);
    for (int n = 0; n < m->nx * m->ny; n++) {
        node_traffic *s = &t->nodes[n];
        for (int v = 0; v < NOC_NUM_VCS; v++)
            s->credits[v] = (uint8_t)(s->credits[v] + (m->credit_out[n][NOC_LOCAL] >> v & 1));
        const link_t *out = &m->out[n][NOC_LOCAL];
        if (out->valid) {
            s->held[out->vc]++;
            s->received++;
            if (m->nx * m->ny <= 64) s->from[out->flit.src.y * m->nx + out->flit.src.x]++;
            if (t->on_flit) t->on_flit(t->context, n, &out->flit);
        }
        credit_t back = 0;
        for (int v = 0; v < NOC_NUM_VCS; v++)
            if (s->held[v] && (!t->slow || rng_below(&t->rng, (uint64_t)t->slow + 1) == 0)) {
                s->held[v]--;
                back |= (credit_t)(1 << v);
            }
        m->credit_in[n][NOC_LOCAL] = back;
        inject(s, &m->in[n][NOC_LOCAL]);
    }
    mesh_step(m);
    t->cycle++;
}

static inline bool traffic_empty(const traffic *t) {
    for (int n = 0; n < t->net.nx * t->net.ny; n++)
        if (t->nodes[n].count) return false;
    return mesh_empty(&t->net);
}

// Runs until all is delivered; false where it takes more than `limit` cycles.
static inline bool traffic_drain(traffic *t, uint64_t limit) {
    for (uint64_t i = 0; i < limit; i++) {
        if (traffic_empty(t)) return true;
        traffic_step(t);
    }
    return traffic_empty(t);
}
#endif
