// The mesh as a whole on the twin, and the RTL mesh held to it.
#include "noc/mesh.h"

#include <criterion/criterion.h>

#include "noc/mesh_dut.h"
#include "noc/traffic.h"

static rect_t all_of(int nx, int ny) {
    return (rect_t){0, 0, (uint8_t)(nx - 1), (uint8_t)(ny - 1)};
}

static rect_t one(int node, int nx) {
    return (rect_t){(uint8_t)(node % nx), (uint8_t)(node / nx), (uint8_t)(node % nx), (uint8_t)(node / nx)};
}

// Every node sends `packets` packets of `flits` to the rectangle that `to` gives; all are delivered, each exactly once.
static void multicasts(int nx, int ny, int packets, int flits, uint32_t senders, int slow,
                       rect_t (*to)(int node, int nx, int ny)) {
    traffic t;
    traffic_init(&t, nx, ny, 1);
    t.slow = slow;
    int left[64], nodes = nx * ny;
    for (int n = 0; n < nodes; n++) left[n] = senders >> n & 1 ? packets : 0;
    for (bool more = true; more;) {
        more = false;
        for (int n = 0; n < nodes; n++)
            if (left[n] && t.nodes[n].count < 4) {
                traffic_put(&t, n, packet(FLIT_WRITE, to(n, nx, ny), flits));
                left[n]--;
            }
        for (int n = 0; n < nodes; n++) more |= left[n] != 0;
        traffic_step(&t);
        cr_assert(t.cycle < (uint64_t)packets * 8 * 64 * 4, "no end after %llu cycles", (unsigned long long)t.cycle);
    }
    cr_assert(traffic_drain(&t, 100000), "DEADLOCK or loss: the mesh does not drain");
    for (int n = 0; n < nodes; n++)
        for (int s = 0; s < nodes; s++) {
            rect_t r = to(s, nx, ny);
            bool in = n % nx >= r.x0 && n % nx <= r.x1 && n / nx >= r.y0 && n / nx <= r.y1;
            uint64_t want = in && senders >> s & 1 ? (uint64_t)packets * (uint64_t)flits : 0;
            cr_assert_eq(t.nodes[n].from[s], want, "node %d from %d: got %llu flits, want %llu", n, s,
                         (unsigned long long)t.nodes[n].from[s], (unsigned long long)want);
        }
    traffic_free(&t);
}

static rect_t to_all(int node, int nx, int ny) {
    (void)node;
    return all_of(nx, ny);
}

static rect_t rows_and_columns(int node, int nx, int ny) {
    uint8_t x = (uint8_t)(node % nx), y = (uint8_t)(node / nx);
    return node & 1 ? (rect_t){0, y, (uint8_t)(nx - 1), y} : (rect_t){x, 0, x, (uint8_t)(ny - 1)};
}

static rect_t to_itself(int node, int nx, int ny) {
    (void)ny;
    return one(node, nx);
}

static rect_t to_none(int node, int nx, int ny) {
    (void)node;
    (void)nx;
    (void)ny;
    return (rect_t){1, 0, 0, 0};
}

Test(mesh, opposite_corners_multicast_to_all) {
    multicasts(4, 4, 10000, 8, 0x8001, 0, to_all);
}

Test(mesh, all_nodes_multicast_to_all_under_back_pressure) {
    multicasts(4, 4, 1000, 8, 0xFFFF, 2, to_all);
}

Test(mesh, rows_cross_columns) {
    multicasts(4, 4, 2000, 8, 0xFFFF, 1, rows_and_columns);
}

Test(mesh, multicasts_to_oneself_or_to_none_complete) {
    multicasts(4, 4, 100, 8, 0xFFFF, 0, to_itself);
    multicasts(4, 4, 100, 8, 0xFFFF, 0, to_none);
}

typedef struct {
    float want[8];
    int flits;
} sum_check;

static void check_sum(void *context, int node, const flit_t *f) {
    sum_check *c = context;
    if (f->kind != FLIT_REDUCE) return;
    for (int i = 0; i < 8; i++) {
        uint32_t bits = (uint32_t)(f->data.w[i / 2] >> (32 * (i & 1)));
        float got;
        memcpy(&got, &bits, 4);
        cr_assert_eq(got, c->want[i], "node %d, lane %d: got %g, want %g", node, i, (double)got, (double)c->want[i]);
    }
    c->flits++;
}

// Every rectangle and every root whose column lies in it: the sum of small integers is exact in any order.
Test(mesh, reductions_sum_every_rectangle_once) {
    sum_check check = {{0}, 0};
    traffic t;
    traffic_init(&t, 4, 3, 1);
    t.on_flit = check_sum;
    t.context = &check;
    int want = 0;
    for (int code = 0; code < 4 * 4 * 3 * 3; code++) {
        rect_t r = {(uint8_t)(code % 4), (uint8_t)(code / 16 % 3), (uint8_t)(code / 4 % 4), (uint8_t)(code / 48)};
        if (r.x0 > r.x1 || r.y0 > r.y1) continue;
        for (int root = 0; root < 12; root++) {
            if (root % 4 < r.x0 || root % 4 > r.x1) continue;
            memset(check.want, 0, sizeof check.want);
            for (int y = r.y0; y <= r.y1; y++)
                for (int x = r.x0; x <= r.x1; x++) {
                    flit_t f = packet(FLIT_REDUCE, r, 8);
                    f.root = (node_t){(uint8_t)(root % 4), (uint8_t)(root / 4)};
                    for (int i = 0; i < 8; i++) {
                        float v = (float)((1 << (y * 4 + x)) + i);
                        uint32_t bits;
                        memcpy(&bits, &v, 4);
                        f.data.w[i / 2] |= (uint64_t)bits << (32 * (i & 1));
                        check.want[i] += v;
                    }
                    traffic_put(&t, y * 4 + x, f);
                }
            cr_assert(traffic_drain(&t, 1000), "rectangle %d, root %d does not end", code, root);
            want += 8;
            cr_assert_eq(check.flits, want, "rectangle %d, root %d: %d flits, want %d", code, root, check.flits, want);
        }
    }
    traffic_free(&t);
}

// One cycle a hop: a flit put in at cycle t is at a sink h hops away in cycle t + h + 1.
Test(mesh, a_hop_costs_one_cycle_at_zero_load) {
    for (int node = 0; node < 64; node++) {
        traffic t;
        traffic_init(&t, 8, 8, 1);
        traffic_put(&t, 0, packet(FLIT_WRITE, one(node, 8), 1));
        while (!t.nodes[node].received && t.cycle < 100) traffic_step(&t);
        int hops = node % 8 + node / 8;
        cr_assert_eq(t.cycle, (uint64_t)hops + 2, "node %d: delivered in cycle %llu, want %d", node,
                     (unsigned long long)t.cycle - 1, hops + 1);
        traffic_free(&t);
    }
}

// Accepted flits per node and cycle of one-flit packets offered at `rate` (1/1000), and the least of any flow's share.
static double accepted(int nx, int ny, int rate, bool transpose, double *least) {
    enum { WARM = 3000, RUN = 12000 };
    traffic t;
    traffic_init(&t, nx, ny, 7);
    int nodes = nx * ny;
    uint64_t before[64] = {0}, got = 0;
    for (int c = 0; c < WARM + RUN; c++) {
        if (c == WARM)
            for (int n = 0; n < nodes; n++) before[n] = t.nodes[n].received;
        for (int n = 0; n < nodes; n++)
            if ((int)rng_below(&t.rng, 1000) < rate) {
                int to = transpose ? n % nx * nx + n / nx : (int)rng_below(&t.rng, (uint64_t)nodes);
                traffic_put(&t, n, packet(FLIT_WRITE, one(to, nx), 1));
            }
        traffic_step(&t);
    }
    *least = 1e9;
    for (int n = 0; n < nodes; n++) {
        uint64_t mine = t.nodes[n].received - before[n];
        got += mine;
        if ((double)mine / RUN < *least) *least = (double)mine / RUN;
    }
    traffic_free(&t);
    return (double)got / RUN / nodes;
}

Test(mesh, uniform_traffic_saturates_above_0_40) {
    double least, got = accepted(8, 8, 420, false, &least);
    fprintf(stderr, "8 x 8 uniform, offered 0.42: accepted %.4f, least %.4f flits/node/cycle\n", got, least);
    cr_assert(got >= 0.40, "accepted %.4f", got);
}

Test(mesh, transpose_at_0_13_reaches_every_flow) {
    double least, got = accepted(8, 8, 130, true, &least);
    fprintf(stderr, "8 x 8 transpose, offered 0.13: accepted %.4f, least %.4f flits/node/cycle\n", got, least);
    cr_assert(got >= 0.127 && least >= 0.12, "accepted %.4f, least %.4f", got, least);
}

// ---- the RTL: CFG_TILES_X x CFG_TILES_Y routers
static rect_t random_rect(rng_t *r, int nx, int ny, bool any) {
    uint8_t x0 = (uint8_t)rng_below(r, (uint64_t)nx), y0 = (uint8_t)rng_below(r, (uint64_t)ny);
    if (!any) return (rect_t){x0, y0, x0, y0};
    return (rect_t){x0, y0, (uint8_t)rng_below(r, (uint64_t)nx), (uint8_t)rng_below(r, (uint64_t)ny)}; // may be empty
}

static flit_t random_flit(rng_t *r, flit_kind kind, rect_t rect) {
    flit_t f = packet(kind, rect, 1 + (int)rng_below(r, 8));
    f.addr = (uint32_t)rng_next(r);
    for (int w = 0; w < 4; w++) f.data.w[w] = rng_next(r) & 0xBFFFFFFFBFFFFFFF; // mostly finite float32
    return f;
}

// A unicast, a multicast, a packet to an edge, or a reduction that all tiles of a rectangle issue in one common order.
static void put_any(traffic *t) {
    int nx = t->net.nx, ny = t->net.ny, node = (int)rng_below(&t->rng, (uint64_t)(nx * ny));
    uint64_t kind = rng_below(&t->rng, 10);
    rect_t r = random_rect(&t->rng, nx, ny, kind < 5);
    flit_t f = random_flit(&t->rng, kind < 2 ? FLIT_REDUCE : FLIT_WRITE, r);
    if (kind == 9) {
        bool west = rng_below(&t->rng, 2);
        f.to = west ? TO_WEST : TO_EAST;
        f.rect.x0 = f.rect.x1 = (uint8_t)(west ? 0 : nx - 1);
    }
    if (kind >= 2) {
        traffic_put(t, node, f);
        return;
    }
    if (r.x0 > r.x1 || r.y0 > r.y1) return;
    f.root = (node_t){(uint8_t)(r.x0 + rng_below(&t->rng, (uint64_t)(r.x1 - r.x0 + 1))), (uint8_t)(node / nx)};
    for (int y = r.y0; y <= r.y1; y++)
        for (int x = r.x0; x <= r.x1; x++) {
            f.data = random_flit(&t->rng, FLIT_REDUCE, r).data;
            traffic_put(t, y * nx + x, f);
        }
}

// What stands at a west or east edge: gives every credit back a cycle later, and sends single flits to random tiles.
typedef struct {
    uint8_t credits[NOC_NUM_VCS];
    credit_t owed;
} edge;

static void edge_cycle(traffic *t, edge *e, int node, int port, bool sends) {
    mesh *m = &t->net;
    m->credit_in[node][port] = e->owed;
    e->owed = m->out[node][port].valid ? (credit_t)(1 << m->out[node][port].vc) : 0;
    int vc = (int)rng_below(&t->rng, NOC_DATA_VCS);
    link_t *link = &m->in[node][port];
    link->valid = sends && e->credits[vc] && rng_below(&t->rng, 4) == 0;
    for (int v = 0; v < NOC_NUM_VCS; v++)
        e->credits[v] = (uint8_t)(e->credits[v] + (m->credit_out[node][port] >> v & 1));
    if (!link->valid) return;
    e->credits[vc]--;
    link->vc = (uint8_t)vc;
    link->flit = random_flit(&t->rng, FLIT_LOAD_DATA, random_rect(&t->rng, m->nx, m->ny, false));
    link->flit.len_m1 = 0;
    link->flit.head = link->flit.tail = true;
}

static void same_port(int cycle, int n, int p, const link_t *got, const link_t *want, credit_t got_c, credit_t want_c) {
    cr_assert(got->valid == want->valid && got_c == want_c,
              "cycle %d, node %d port %d: got valid %d credits %x, want %d %x", cycle, n, p, got->valid, got_c,
              want->valid, want_c);
    if (!want->valid) return;
    const flit_t *g = &got->flit, *w = &want->flit;
    cr_assert(got->vc == want->vc && g->head == w->head && g->tail == w->tail && g->kind == w->kind && g->to == w->to &&
                  g->addr == w->addr && !memcmp(&g->rect, &w->rect, sizeof g->rect) &&
                  !memcmp(&g->data, &w->data, sizeof g->data),
              "cycle %d, node %d port %d: got channel %d addr %x, want %d %x", cycle, n, p, got->vc, g->addr, want->vc,
              w->addr);
}

static int rtl_step(traffic *t, mesh_dut *dut, int cycle) {
    static link_t got[MESH_NODES][NOC_PORTS];
    credit_t got_credit[MESH_NODES][NOC_PORTS];
    bool busy[MESH_NODES], want_busy[MESH_NODES];
    router_events ev[MESH_NODES];
    mesh *m = &t->net;
    int flits = 0;
    for (int n = 0; n < MESH_NODES; n++) want_busy[n] = router_busy(&m->routers[n]);
    traffic_step(t); // in and credit_in stay filled, out and credit_out are this cycle's
    mesh_dut_step(dut, m->in, m->credit_in, got, got_credit, busy, ev);
    for (int n = 0; n < MESH_NODES; n++) {
        for (int p = 0; p < NOC_PORTS; p++) {
            bool shown =
                p == NOC_LOCAL || (p == NOC_WEST && n % m->nx == 0) || (p == NOC_EAST && n % m->nx == m->nx - 1);
            if (!shown) continue;
            same_port(cycle, n, p, &got[n][p], &m->out[n][p], got_credit[n][p], m->credit_out[n][p]);
            flits += p != NOC_LOCAL && got[n][p].valid;
        }
        cr_assert(busy[n] == want_busy[n] && !memcmp(&ev[n], &m->events[n], sizeof ev[n]),
                  "cycle %d, node %d: busy %d or events differ", cycle, n, busy[n]);
    }
    return flits;
}

// Every kind of traffic, back-pressure of the sinks, and traffic in and out at the edges: the whole mesh in lock-step.
Test(mesh, rtl_equals_the_twin) {
    for (uint32_t seed = 1; seed <= 3; seed++) {
        enum { RUN = 6000, ALL = 12000 };
        traffic t;
        traffic_init(&t, CFG_TILES_X, CFG_TILES_Y, seed);
        mesh_dut *dut = mesh_dut_new(&(dut_options){.seed = seed});
        edge edges[MESH_NODES][NOC_PORTS];
        memset(edges, 0, sizeof edges);
        for (int n = 0; n < MESH_NODES; n++)
            for (int p = 0; p < NOC_PORTS; p++) memset(edges[n][p].credits, CFG_NOC_DEPTH, NOC_NUM_VCS);
        int out = 0;
        uint64_t sums = 0;
        for (int cycle = 0; cycle < ALL; cycle++) {
            t.slow = cycle < RUN ? cycle / 1000 % 3 : 0;
            if (cycle < RUN && rng_below(&t.rng, 4) == 0) put_any(&t);
            mesh_peek(&t.net);
            for (int y = 0; y < CFG_TILES_Y; y++) {
                int west = y * CFG_TILES_X, east = west + CFG_TILES_X - 1;
                edge_cycle(&t, &edges[west][NOC_WEST], west, NOC_WEST, cycle < RUN);
                edge_cycle(&t, &edges[east][NOC_EAST], east, NOC_EAST, cycle < RUN);
            }
            out += rtl_step(&t, dut, cycle);
            for (int n = 0; n < MESH_NODES; n++) sums += t.net.events[n].reduce_adds;
        }
        cr_assert(traffic_empty(&t), "seed %u: the mesh does not drain", seed);
        cr_assert(out > 100 && sums > 1000, "seed %u: %d flits to the edges, %llu additions", seed, out,
                  (unsigned long long)sums);
        cr_assert_eq(mesh_dut_errors(dut), 0);
        mesh_dut_free(dut);
        traffic_free(&t);
    }
}
