// Every state that a 2 x 2 mesh of twin routers can reach with a few packets is visited: in every cycle every source
// may send or wait and every sink may give credits back or hold them. A state is stuck where it is not the end and
// nothing changes even if all sources send and all sinks give back. Packets move only forward, so a search without a
// stuck state shows that from every state all can still be delivered. Buffers are small, so that few packets fill them:
// the routers are compiled here with one data channel of 2 flits.
#include "cfg.h"
#undef CFG_NOC_VCS
#undef CFG_NOC_DEPTH
#define CFG_NOC_VCS 1
#define CFG_NOC_DEPTH 2

#include "noc/mesh.c"
#include "noc/mesh_watch.c"
#include "noc/router.c"
#define router_route xy_route
#include "noc/router_route.c"
#undef router_route

#include <criterion/criterion.h>

enum { SIDE = 2, NODES = 4, PER_NODE = 3, TABLE = 1 << 24, MOST_STATES = TABLE / 2 };

// A fault: flits of tag 1 go Y first.
uint8_t router_route(const flit_t *f, int port, node_t here) {
    if (f->tag != 1) return xy_route(f, port, here);
    if (here.y != f->rect.y0) return here.y < f->rect.y0 ? N : S;
    return towards(here, (node_t){f->rect.x0, f->rect.y0});
}

typedef struct {
    flit_t head[NODES][PER_NODE]; // packets of each source in order
    uint8_t flits[NODES][PER_NODE], packets[NODES];
    uint8_t hold; // sinks that may hold credits, a bit each
    bool stalls;  // a fault: routers wait for a credit before every flit
} scenario;

typedef struct {
    router routers[NODES];
    uint8_t packet[NODES], at[NODES]; // of each source: which packet is next, which flit of it
    uint8_t credits[NODES][NOC_NUM_VCS], held[NODES][NOC_NUM_VCS];
    uint8_t received[NODES];
} state;

typedef struct {
    const scenario *sc;
    uint64_t *seen; // hash table of visited states
    uint8_t want[NODES];
    long states, moves, ends;
    int depth, deepest;
    bool stuck, lost, overrun, unfinished;
    char text[MESH_WATCH_TEXT];
} search_run;

// ---- packets of a scenario
static void put(scenario *sc, int node, flit_kind kind, rect_t rect, node_t root, int flits) {
    int i = sc->packets[node]++;
    cr_assert(i < PER_NODE);
    sc->flits[node][i] = (uint8_t)flits;
    sc->head[node][i] = (flit_t){.kind = (uint8_t)kind, .rect = rect, .root = root, .len_m1 = (uint8_t)(flits - 1)};
}

static void unicast(scenario *sc, int from, int to, int flits) {
    uint8_t x = (uint8_t)(to % SIDE), y = (uint8_t)(to / SIDE);
    put(sc, from, FLIT_WRITE, (rect_t){x, y, x, y}, (node_t){0, 0}, flits);
}

static void broadcast(scenario *sc, int from, int flits) {
    put(sc, from, FLIT_WRITE, (rect_t){0, 0, 1, 1}, (node_t){0, 0}, flits);
}

static void reduction(scenario *sc, int from, int root, int flits) {
    put(sc, from, FLIT_REDUCE, (rect_t){0, 0, 1, 1}, (node_t){(uint8_t)(root % SIDE), (uint8_t)(root / SIDE)}, flits);
}

static void expect(search_run *r) {
    const scenario *sc = r->sc;
    for (int n = 0; n < NODES; n++)
        for (int i = 0; i < sc->packets[n]; i++) {
            const flit_t *f = &sc->head[n][i];
            for (int d = 0; d < NODES; d++) {
                int x = d % SIDE, y = d / SIDE;
                bool in = x >= f->rect.x0 && x <= f->rect.x1 && y >= f->rect.y0 && y <= f->rect.y1;
                if (f->kind == FLIT_REDUCE) in = n == 0 && x == f->root.x && y == f->root.y; // the sum, counted once
                if (in) r->want[d] = (uint8_t)(r->want[d] + sc->flits[n][i]);
            }
        }
}

// ---- one state and the next
static mesh view(state *s) {
    static link_t in[NODES][NOC_PORTS], out[NODES][NOC_PORTS];
    static credit_t credit_in[NODES][NOC_PORTS], credit_out[NODES][NOC_PORTS];
    static router_events events[NODES];
    return (mesh){SIDE, SIDE, s->routers, in, credit_in, out, credit_out, events};
}

static bool may_send(const search_run *r, const state *s, int n) {
    if (s->packet[n] == r->sc->packets[n]) return false;
    const flit_t *f = &r->sc->head[n][s->packet[n]];
    int vc = f->kind == FLIT_REDUCE ? NOC_VC_REDUCE : 0;
    return s->credits[n][vc] >= (s->at[n] ? 1 : f->len_m1 + 1);
}

static void source(const search_run *r, state *s, int n, link_t *link) {
    int p = s->packet[n], flits = r->sc->flits[n][p];
    flit_t f = r->sc->head[n][p];
    int vc = f.kind == FLIT_REDUCE ? NOC_VC_REDUCE : 0;
    f.src = (node_t){(uint8_t)(n % SIDE), (uint8_t)(n / SIDE)};
    f.addr = (uint32_t)((n * PER_NODE + p) * 8 + s->at[n]); // names the flit in the hash
    f.head = s->at[n] == 0;
    f.tail = s->at[n] == flits - 1;
    *link = (link_t){true, (uint8_t)vc, f};
    s->credits[n][vc]--;
    if (++s->at[n] == flits) {
        s->at[n] = 0;
        s->packet[n]++;
    }
}

// Takes back what a router would send without a credit: where packets claim channels without credits for all their
// flits, this makes of it a router that waits for them flit by flit.
static void stall(router *r) {
    for (int o = 0; o < NOC_PORTS; o++) {
        int b = r->now.winner[o];
        if (b < 0 || b == ROUTER_REDUCER || r->credits[o][r->now.vc[o]]) continue;
        r->now.winner[o] = -1;
        if (!r->buffers[b].sent[o]) r->now.pop &= (uint16_t) ~(1 << b);
    }
}

static bool overrun(const router *r) {
    for (int b = 0; b < ROUTER_BUFFERS; b++)
        if (r->buffers[b].count > CFG_NOC_DEPTH) return true;
    return false;
}

// One cycle: bit n of choice lets source n send, bit NODES + n lets sink n give back what it holds.
static void advance(const search_run *r, state *s, unsigned choice) {
    mesh m = view(s);
    mesh_peek(&m);
    for (int n = 0; n < NODES; n++) {
        bool send_now = choice >> n & 1 && may_send(r, s, n), give = choice >> (NODES + n) & 1;
        const link_t *out = &m.out[n][NOC_LOCAL];
        m.credit_in[n][NOC_LOCAL] = 0;
        for (int v = 0; v < NOC_NUM_VCS; v++)
            if (s->held[n][v] && give) {
                s->held[n][v]--;
                m.credit_in[n][NOC_LOCAL] |= (credit_t)(1 << v);
            }
        if (out->valid) {
            s->held[n][out->vc]++;
            s->received[n]++;
        }
        m.in[n][NOC_LOCAL].valid = false;
        if (send_now) source(r, s, n, &m.in[n][NOC_LOCAL]);
        for (int v = 0; v < NOC_NUM_VCS; v++)
            s->credits[n][v] = (uint8_t)(s->credits[n][v] + (m.credit_out[n][NOC_LOCAL] >> v & 1));
    }
    mesh_step(&m);
    for (int n = 0; n < NODES && r->sc->stalls; n++) stall(&s->routers[n]);
}

static bool ended(const search_run *r, const state *s) {
    for (int n = 0; n < NODES; n++)
        if (s->packet[n] < r->sc->packets[n] || router_busy(&s->routers[n]) || s->held[n][0] || s->held[n][1])
            return false;
    return true;
}

// ---- hashing: what decides the future, and only that
static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t hash_router(uint64_t h, const router *r) {
    for (uint32_t left = r->filled; left; left &= left - 1) {
        const router_buffer *q = &r->buffers[__builtin_ctz(left)];
        h = mix(h, (uint64_t)__builtin_ctz(left) << 24 | (uint64_t)q->count << 16 | (uint64_t)q->done << 8 | q->locked);
        for (int i = 0; i < q->count; i++) h = mix(h, at(q, i)->addr);
        for (int o = 0; o < NOC_PORTS; o++)
            h = mix(h, (uint64_t)(q->locked >> o & 1 ? q->ovc[o] : 0) << 8 | q->sent[o]);
    }
    for (int o = 0; o < NOC_PORTS; o++) {
        h = mix(h, (uint64_t)r->claimed[o] << 8 | r->arbiters[o].last);
        for (int v = 0; v < NOC_NUM_VCS; v++) h = mix(h, r->credits[o][v]);
    }
    uint64_t acc = r->ready || r->rest ? r->acc.addr + 1 : 0;
    return mix(h, acc << 32 | (uint64_t)r->rest << 16 | (uint64_t)r->bound << 8 | (uint64_t)r->ready << 1 | r->locked);
}

static uint64_t hash(const state *s) {
    uint64_t h = 1;
    for (int n = 0; n < NODES; n++) {
        h = hash_router(h, &s->routers[n]);
        h = mix(h,
                (uint64_t)s->packet[n] << 24 | (uint64_t)s->at[n] << 16 | (uint64_t)s->held[n][0] << 8 | s->held[n][1]);
        h = mix(h, (uint64_t)s->received[n] << 16 | (uint64_t)s->credits[n][0] << 8 | s->credits[n][1]);
    }
    return h ? h : 1;
}

// True where the state is new.
static bool enter(search_run *r, uint64_t h) {
    uint32_t i = (uint32_t)(h >> 20) % TABLE;
    while (r->seen[i] && r->seen[i] != h) i = (i + 1) % TABLE;
    if (r->seen[i]) return false;
    r->seen[i] = h;
    r->unfinished |= ++r->states >= MOST_STATES;
    return true;
}

// ---- the search, depth first; the state is entered already
static void visit(search_run *r, const state *s, uint64_t h) {
    unsigned open = 0;
    if (++r->depth > r->deepest) r->deepest = r->depth;
    for (int n = 0; n < NODES; n++) {
        if (may_send(r, s, n)) open |= 1u << n;
        if (r->sc->hold >> n & 1 && (s->held[n][0] || s->held[n][1])) open |= 1u << (NODES + n);
    }
    unsigned always = (unsigned)((1 << 2 * NODES) - 1) & ~open, choice = open;
    for (bool first = true;; choice = (choice - 1) & open, first = false) { // every subset, the most eager first
        state next = *s;
        advance(r, &next, choice | always);
        r->moves++;
        uint64_t g = hash(&next);
        for (int n = 0; n < NODES; n++) r->overrun |= overrun(&next.routers[n]);
        if (first && g == h) {
            if (ended(r, s)) {
                r->ends++;
                r->lost |= memcmp(s->received, r->want, NODES) != 0;
            } else if (!r->stuck) {
                mesh m = view(&next);
                r->stuck = true;
                mesh_wait_cycle(&m, r->text);
            }
        }
        if (r->stuck || r->overrun || r->unfinished) break;
        if (enter(r, g)) visit(r, &next, g);
        if (!choice || r->stuck || r->overrun || r->unfinished) break;
    }
    r->depth--;
}

static search_run look_for_stuck(const char *name, const scenario *sc) {
    search_run r = {.sc = sc, .seen = calloc(TABLE, sizeof *r.seen)};
    state s;
    memset(&s, 0, sizeof s);
    for (int n = 0; n < NODES; n++) {
        router_reset(&s.routers[n], (node_t){(uint8_t)(n % SIDE), (uint8_t)(n / SIDE)});
        memset(s.credits[n], CFG_NOC_DEPTH, NOC_NUM_VCS);
    }
    expect(&r);
    uint64_t h = hash(&s);
    enter(&r, h);
    visit(&r, &s, h);
    fprintf(stderr, "%s: %ld states, %ld moves, %ld ends, %d deep: %s %s\n", name, r.states, r.moves, r.ends, r.deepest,
            r.stuck        ? "STUCK"
            : r.overrun    ? "OVERRUN"
            : r.unfinished ? "NOT ALL VISITED"
                           : "none stuck",
            r.text);
    free(r.seen);
    return r;
}

static void never_stuck(const char *name, const scenario *sc) {
    search_run r = look_for_stuck(name, sc);
    cr_assert(!r.unfinished, "%s: more than %d states", name, MOST_STATES);
    cr_assert(!r.stuck, "%s: stuck: %s", name, r.text);
    cr_assert(!r.overrun, "%s: a buffer holds more than it has room for", name);
    cr_assert(!r.lost && r.ends > 0, "%s: lost or doubled flits in one of %ld ends", name, r.ends);
}

// ---- what the routers do
Test(mesh_search, crossing_broadcasts_are_never_stuck) {
    scenario sc = {.hold = 0xF};
    broadcast(&sc, 0, 2);
    broadcast(&sc, 3, 2);
    broadcast(&sc, 0, 1);
    never_stuck("broadcasts from opposite corners", &sc);
}

Test(mesh_search, four_broadcasts_are_never_stuck) {
    scenario sc = {.hold = 0x2};
    for (int n = 0; n < NODES; n++) broadcast(&sc, n, 2);
    never_stuck("a broadcast from every node", &sc);
}

Test(mesh_search, unicasts_to_one_sink_are_never_stuck) {
    scenario sc = {.hold = 0x8};
    for (int n = 0; n < NODES; n++) unicast(&sc, n, 3, 2);
    unicast(&sc, 0, 3, 2);
    broadcast(&sc, 1, 2);
    never_stuck("all to one sink, and a broadcast", &sc);
}

Test(mesh_search, unicasts_to_opposite_corners_are_never_stuck) {
    scenario sc = {.hold = 0x0};
    for (int n = 0; n < NODES; n++) unicast(&sc, n, 3 - n, 2);
    for (int n = 0; n < NODES; n += 3) unicast(&sc, n, 3 - n, 1);
    never_stuck("unicasts to the opposite corner, two from two nodes", &sc);
}

Test(mesh_search, reductions_in_one_order_are_never_stuck) {
    scenario sc = {.hold = 0x9};
    for (int n = 0; n < NODES; n++) reduction(&sc, n, 0, 2);
    for (int n = 0; n < NODES; n++) reduction(&sc, n, 3, 2);
    never_stuck("two reductions to different roots", &sc);
}

Test(mesh_search, a_reduction_among_broadcasts_is_never_stuck) {
    scenario sc = {.hold = 0x0};
    for (int n = 0; n < NODES; n++) reduction(&sc, n, 1, 2);
    broadcast(&sc, 0, 2);
    broadcast(&sc, 3, 2);
    never_stuck("a reduction and two broadcasts", &sc);
}

// ---- what it would find
static void found_stuck(const char *name, const scenario *sc) {
    search_run r = look_for_stuck(name, sc);
    cr_assert(r.stuck, "%s: the fault was not found in %ld states", name, r.states);
}

// Two broadcasts that claim a channel as soon as there is one credit: so routers do for packets that call themselves
// one flit long. Longer than a buffer, they are spread over routers. The unicast holds one branch of the first back, so
// that each broadcast can be first at a sink that the other one needs.
static scenario claims_on_one_credit(bool stalls) {
    scenario sc = {.hold = 0x2, .stalls = stalls};
    unicast(&sc, 0, 1, 2);
    broadcast(&sc, 0, 6);
    broadcast(&sc, 3, 6);
    sc.head[0][1].len_m1 = sc.head[3][0].len_m1 = 0;
    return sc;
}

Test(mesh_search, claims_without_credits_for_the_packet_are_found) {
    scenario sc = claims_on_one_credit(true);
    found_stuck("claims on one credit, then waits for each", &sc);
    sc = claims_on_one_credit(false);
    search_run r = look_for_stuck("claims on one credit, then sends", &sc);
    cr_assert(r.overrun);
}

Test(mesh_search, mixed_turns_are_found) {
    scenario sc = {.hold = 0};
    for (int n = 0; n < NODES; n++) unicast(&sc, n, 3 - n, 2);
    sc.head[1][0].tag = sc.head[2][0].tag = 1;
    found_stuck("XY mixed with YX", &sc);
}

Test(mesh_search, reductions_in_different_orders_are_found) {
    scenario sc = {.hold = 0};
    for (int n = 0; n < NODES; n++) {
        reduction(&sc, n, n == 3 ? 3 : 0, 2);
        reduction(&sc, n, n == 3 ? 0 : 3, 2);
    }
    found_stuck("reductions in different orders", &sc);
}
