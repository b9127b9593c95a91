// The mesh as a whole, on the twin that tests/noc/router_test.c holds to the RTL.
#include "noc/mesh.h"

#include <criterion/criterion.h>

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
