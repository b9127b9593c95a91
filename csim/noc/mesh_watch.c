#include "noc/mesh_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A place that holds flits: node * ROUTER_REQUESTERS + buffer, the last of a node its reducer.
enum { NOWHERE = -1 };

typedef struct {
    const mesh *m;
    bool *stuck;  // by place
    bool blocked; // a place waits for the outside; text says where
    char *text;
} search;

static const char *const PORT_NAMES[NOC_PORTS] = {"local", "north", "east", "south", "west"};

const char *mesh_verdict_name(mesh_verdict v) {
    static const char *const names[] = {"ok", "SATURATED", "BLOCKED", "DEADLOCK"};
    return names[v];
}

void mesh_watch_cycle(mesh_watch *w, const mesh *m) {
    bool moved = false;
    for (int n = 0; n < m->nx * m->ny && !moved; n++) {
        const router_events *ev = &m->events[n];
        moved = ev->busy || ev->buffer_writes || ev->reduce_adds;
    }
    w->still = moved || mesh_empty(m) ? 0 : w->still + 1;
}

static int opposite(int port) {
    static const int other[NOC_PORTS] = {NOC_LOCAL, NOC_SOUTH, NOC_WEST, NOC_NORTH, NOC_EAST};
    return other[port];
}

// The node behind a port, -1 where it is a tile or the edge.
static int neighbour(const mesh *m, int node, int port) {
    int x = node % m->nx + (port == NOC_EAST) - (port == NOC_WEST);
    int y = node / m->nx + (port == NOC_NORTH) - (port == NOC_SOUTH);
    return port == NOC_LOCAL || x < 0 || y < 0 || x >= m->nx || y >= m->ny ? -1 : y * m->nx + x;
}

static int place(int node, int buffer) {
    return node * ROUTER_REQUESTERS + buffer;
}

static int holder_of(const router *r, int out, int vc) {
    for (int b = 0; b < ROUTER_BUFFERS; b++)
        if (r->buffers[b].locked >> out & 1 && r->buffers[b].ovc[out] == vc) return b;
    return vc == NOC_VC_REDUCE && r->locked ? ROUTER_REDUCER : NOWHERE;
}

static void outside(search *s, int node, int port, const char *what) {
    s->blocked = true;
    snprintf(s->text, MESH_WATCH_TEXT, "(%d,%d) %s: %s", node % s->m->nx, node / s->m->nx, PORT_NAMES[port], what);
}

// What keeps channel vc of an output from a packet of `flits` that holds it (mine) or wants it: a stuck place, or
// NOWHERE. Behind a stuck buffer credits only fall, so want of them counts even while another packet holds the channel.
static int channel_blocker(search *s, int node, int out, int vc, int flits, bool mine) {
    const router *r = &s->m->routers[node];
    int next = neighbour(s->m, node, out);
    bool room = r->credits[out][vc] >= flits;
    if (!room && next < 0) outside(s, node, out, "the sink gives no credits back");
    if (!room && next >= 0) {
        int p = place(next, opposite(out) * NOC_NUM_VCS + vc);
        if (s->stuck[p]) return p;
    }
    if (mine || !(r->claimed[out] >> vc & 1)) return NOWHERE;
    int b = holder_of(r, out, vc);
    return b != NOWHERE && s->stuck[place(node, b)] ? place(node, b) : NOWHERE;
}

// What keeps a branch: a packet that holds its channel waits for that one, a head needs any one of its class.
static int branch_blocker(search *s, int node, int out, int held_vc, const flit_t *f) {
    if (held_vc >= 0) return channel_blocker(s, node, out, held_vc, 1, true);
    bool reduce = f->kind == FLIT_REDUCE;
    int found = NOWHERE;
    for (int v = reduce ? NOC_VC_REDUCE : 0; v <= (reduce ? NOC_VC_REDUCE : NOC_DATA_VCS - 1); v++) {
        found = channel_blocker(s, node, out, v, f->len_m1 + 1, false);
        if (found == NOWHERE) return NOWHERE;
    }
    return found;
}

static bool same_reduction(const flit_t *a, const flit_t *b) {
    return !memcmp(&a->rect, &b->rect, sizeof a->rect) && !memcmp(&a->root, &b->root, sizeof a->root);
}

// What keeps the stream of reduction f from coming through a port of a node: whatever stands in the first buffer on its
// way that is not empty.
static int stream_blocker(search *s, int node, int port, const flit_t *f) {
    int b = port * NOC_NUM_VCS + NOC_VC_REDUCE;
    if (s->m->routers[node].buffers[b].count) return s->stuck[place(node, b)] ? place(node, b) : NOWHERE;
    int from = neighbour(s->m, node, port);
    if (from < 0) {
        outside(s, node, port, "a stream of a reduction was not sent");
        return NOWHERE;
    }
    const router *up = &s->m->routers[from];
    if ((up->ready || up->rest) && same_reduction(&up->acc, f)) // its sum, or its next flits, are in the reducer
        return s->stuck[place(from, ROUTER_REDUCER)] ? place(from, ROUTER_REDUCER) : NOWHERE;
    uint8_t ports = router_expected(f, up->here);
    for (int p = 0; p < NOC_PORTS; p++) {
        int found = ports >> p & 1 ? stream_blocker(s, from, p, f) : NOWHERE;
        if (found != NOWHERE) return found;
    }
    return NOWHERE;
}

static int reducer_blocker(search *s, int node) {
    const router *r = &s->m->routers[node];
    if (r->ready) {
        int out = __builtin_ctz(router_route(&r->acc, NOC_LOCAL, r->here));
        return branch_blocker(s, node, out, r->locked ? NOC_VC_REDUCE : -1, &r->acc);
    }
    return stream_blocker(s, node, __builtin_ctz(r->rest), &r->acc);
}

// A stream at a meeting point waits for its partners, one that is there being another reduction's included, and for the
// reducer.
static int meeting_blocker(search *s, int node, int b, uint8_t expected) {
    const router *r = &s->m->routers[node];
    const router_buffer *q = &r->buffers[b];
    const flit_t *f = &q->flits[q->rd];
    for (int p = 0; p < NOC_PORTS; p++) {
        int other = p * NOC_NUM_VCS + NOC_VC_REDUCE;
        if (!(expected >> p & 1) || other == b) continue;
        const router_buffer *o = &r->buffers[other];
        if (o->count && same_reduction(&o->flits[o->rd], f)) continue;
        int found = stream_blocker(s, node, p, f);
        if (found != NOWHERE) return found;
    }
    bool taken = r->ready || r->rest;
    return taken && s->stuck[place(node, ROUTER_REDUCER)] ? place(node, ROUTER_REDUCER) : NOWHERE;
}

// A stuck place that this one waits for, NOWHERE where it can go on or waits for none.
static int blocker(search *s, int at) {
    int node = at / ROUTER_REQUESTERS, b = at % ROUTER_REQUESTERS;
    if (b == ROUTER_REDUCER) return reducer_blocker(s, node);
    const router *r = &s->m->routers[node];
    const router_buffer *q = &r->buffers[b];
    const flit_t *f = &q->flits[q->rd];
    uint8_t expected = f->kind == FLIT_REDUCE ? router_expected(f, r->here) : 0;
    if (expected & (expected - 1)) return meeting_blocker(s, node, b, expected);
    uint8_t route = router_route(f, b / NOC_NUM_VCS, r->here) & (uint8_t)~q->done;
    for (int o = 0; o < NOC_PORTS; o++) {
        if (!(route >> o & 1) || q->sent[o] >= q->count) continue;
        int found = branch_blocker(s, node, o, q->locked >> o & 1 ? q->ovc[o] : -1, f);
        if (found != NOWHERE) return found;
    }
    return NOWHERE;
}

static size_t put_place(const mesh *m, int at, char *text, size_t used) {
    int node = at / ROUTER_REQUESTERS, b = at % ROUTER_REQUESTERS, x = node % m->nx, y = node / m->nx;
    if (used >= MESH_WATCH_TEXT) return used;
    int n = b == ROUTER_REDUCER ? snprintf(text + used, MESH_WATCH_TEXT - used, "(%d,%d) reducer", x, y)
                                : snprintf(text + used, MESH_WATCH_TEXT - used, "(%d,%d) %s vc%d", x, y,
                                           PORT_NAMES[b / NOC_NUM_VCS], b % NOC_NUM_VCS);
    return used + (size_t)n;
}

// Follows the blockers from a stuck place until one comes again, and writes that cycle.
static void put_cycle(search *s, int at, int places) {
    for (int i = 0; i < places; i++) at = blocker(s, at); // by now on the cycle
    int first = at;
    size_t used = put_place(s->m, at, s->text, 0);
    do {
        at = blocker(s, at);
        if (used < MESH_WATCH_TEXT) used += (size_t)snprintf(s->text + used, MESH_WATCH_TEXT - used, " -> ");
        used = put_place(s->m, at, s->text, used);
    } while (at != first);
}

// Takes everything that holds flits for stuck, and out again what waits for nothing stuck; what is left waits in
// cycles.
static bool wait_cycle(search *s) {
    int places = s->m->nx * s->m->ny * ROUTER_REQUESTERS, first = NOWHERE;
    for (int i = 0; i < places; i++) {
        const router *r = &s->m->routers[i / ROUTER_REQUESTERS];
        int b = i % ROUTER_REQUESTERS;
        s->stuck[i] = b == ROUTER_REDUCER ? r->ready || r->rest : r->buffers[b].count != 0;
    }
    for (bool changed = true; changed;) {
        changed = false;
        first = NOWHERE;
        for (int i = 0; i < places; i++) {
            if (!s->stuck[i]) continue;
            s->stuck[i] = blocker(s, i) != NOWHERE;
            changed |= !s->stuck[i];
            if (s->stuck[i]) first = i;
        }
    }
    if (first == NOWHERE) return false;
    put_cycle(s, first, places);
    return true;
}

static search look(const mesh *m, char *text, bool *found) {
    search s = {.m = m, .text = text, .stuck = calloc((size_t)(m->nx * m->ny), ROUTER_REQUESTERS * sizeof *s.stuck)};
    text[0] = 0;
    *found = s.stuck && wait_cycle(&s);
    free(s.stuck);
    s.stuck = NULL;
    return s;
}

bool mesh_wait_cycle(const mesh *m, char text[MESH_WATCH_TEXT]) {
    bool found;
    look(m, text, &found);
    if (!found) text[0] = 0;
    return found;
}

// A source keeps up where its backlog grows by less than 1 % of what it was offered; 32 flits are chance.
static bool piles_up(const mesh_source *s) {
    return s->backlog_after > s->backlog_before + s->offered / 100 + 32;
}

mesh_verdict mesh_watch_verdict(const mesh_watch *w, const mesh *m, const mesh_source *sources,
                                char text[MESH_WATCH_TEXT]) {
    bool deadlock;
    search s = look(m, text, &deadlock);
    if (deadlock) return MESH_DEADLOCK;
    if (w->still >= MESH_PATIENCE) {
        if (!s.blocked) snprintf(text, MESH_WATCH_TEXT, "nothing moves and nothing is waited for");
        return MESH_BLOCKED;
    }
    text[0] = 0;
    for (int n = 0; sources && n < m->nx * m->ny; n++) {
        if (!piles_up(&sources[n])) continue;
        snprintf(text, MESH_WATCH_TEXT, "source (%d,%d): backlog %llu -> %llu flits", n % m->nx, n / m->nx,
                 (unsigned long long)sources[n].backlog_before, (unsigned long long)sources[n].backlog_after);
        return MESH_SATURATED;
    }
    return MESH_OK;
}
