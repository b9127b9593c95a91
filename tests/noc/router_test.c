#include "noc/router.h"

#include <criterion/criterion.h>

#include "noc/router_dut.h"
#include "noc/traffic.h"

static rect_t random_rect(rng_t *r, int nx, int ny, bool any) {
    uint8_t x0 = (uint8_t)rng_below(r, (uint64_t)nx), y0 = (uint8_t)rng_below(r, (uint64_t)ny);
    if (!any) return (rect_t){x0, y0, x0, y0};
    uint8_t x1 = (uint8_t)rng_below(r, (uint64_t)nx), y1 = (uint8_t)rng_below(r, (uint64_t)ny);
    return (rect_t){x0, y0, x1, y1}; // may be empty
}

// A reduction over a random rectangle: every participant gets the same packet, in one common order.
static void put_reduction(traffic *t) {
    rect_t r = random_rect(&t->rng, t->net.nx, t->net.ny, true);
    if (r.x0 > r.x1 || r.y0 > r.y1) return;
    node_t root = {(uint8_t)(r.x0 + rng_below(&t->rng, (uint64_t)(r.x1 - r.x0 + 1))),
                   (uint8_t)rng_below(&t->rng, (uint64_t)t->net.ny)};
    flit_t f = packet(FLIT_REDUCE, r, 1 + (int)rng_below(&t->rng, 8));
    f.root = root;
    for (int y = r.y0; y <= r.y1; y++)
        for (int x = r.x0; x <= r.x1; x++) {
            for (int w = 0; w < 4; w++) f.data.w[w] = rng_next(&t->rng) & 0xBFFFFFFFBFFFFFFF; // mostly finite float32
            traffic_put(t, y * t->net.nx + x, f);
        }
}

static void put_random(traffic *t) {
    int nodes = t->net.nx * t->net.ny, node = (int)rng_below(&t->rng, (uint64_t)nodes);
    uint64_t kind = rng_below(&t->rng, 12);
    if (kind == 0) {
        put_reduction(t);
        return;
    }
    flit_t f = packet(FLIT_WRITE, random_rect(&t->rng, t->net.nx, t->net.ny, kind < 4), 1 + (int)rng_below(&t->rng, 8));
    f.addr = (uint32_t)rng_next(&t->rng);
    f.tag = (uint8_t)rng_below(&t->rng, 32);
    for (int w = 0; w < 4; w++) f.data.w[w] = rng_next(&t->rng);
    traffic_put(t, node, f);
}

// The RTL stands beside the twin at one node of a 3 x 3 mesh under every kind of traffic and back-pressure.
static void lock_step(uint32_t seed, int node) {
    traffic t;
    traffic_init(&t, 3, 3, seed);
    router *twin = &t.net.routers[node];
    router_dut *dut = router_dut_new(&(dut_options){.seed = seed}, twin->here);
    for (int cycle = 0; cycle < 12000; cycle++) {
        t.slow = cycle / 1000 % 3;
        if (cycle < 10000 && rng_below(&t.rng, 3) == 0) put_random(&t);
        link_t want[NOC_PORTS], got[NOC_PORTS];
        credit_t want_credit[NOC_PORTS], got_credit[NOC_PORTS];
        bool want_busy = router_busy(twin), busy;
        router_events ev;
        router_peek(twin, want, want_credit);
        traffic_step(&t); // fills in[node], credit_in[node] and steps the twin
        router_dut_step(dut, t.net.in[node], t.net.credit_in[node], got, got_credit, &busy, &ev);
        cr_assert_eq(busy, want_busy, "busy: cycle %d: got %d, want %d", cycle, busy, want_busy);
        for (int p = 0; p < NOC_PORTS; p++) {
            cr_assert_eq(got_credit[p], want_credit[p], "credit %d: cycle %d: got %x, want %x", p, cycle, got_credit[p],
                         want_credit[p]);
            cr_assert_eq(got[p].valid, want[p].valid, "link %d valid: cycle %d: got %d, want %d", p, cycle,
                         got[p].valid, want[p].valid);
            if (!want[p].valid) continue;
            cr_assert_eq(got[p].vc, want[p].vc, "link %d channel: cycle %d: got %d, want %d", p, cycle, got[p].vc,
                         want[p].vc);
            const flit_t *g = &got[p].flit, *w = &want[p].flit;
            cr_assert(g->head == w->head && g->tail == w->tail && g->addr == w->addr && g->kind == w->kind &&
                          g->tag == w->tag && !memcmp(&g->data, &w->data, sizeof g->data) &&
                          !memcmp(&g->rect, &w->rect, sizeof g->rect),
                      "link %d flit: cycle %d: got addr %x data %llx, want %x %llx", p, cycle, g->addr,
                      (unsigned long long)g->data.w[0], w->addr, (unsigned long long)w->data.w[0]);
        }
        const uint16_t *e = (const uint16_t *)&ev, *x = (const uint16_t *)&t.net.events[node];
        for (size_t i = 0; i < sizeof ev / 2; i++)
            cr_assert_eq(e[i], x[i], "event %zu: cycle %d: got %d, want %d", i, cycle, e[i], x[i]);
    }
    t.slow = 0;
    cr_assert(traffic_drain(&t, 200000), "the mesh does not drain");
    cr_assert_eq(router_dut_errors(dut), 0);
    router_dut_free(dut);
    traffic_free(&t);
}

Test(router, equals_its_twin_in_the_centre) {
    lock_step(1, 4);
}

Test(router, equals_its_twin_in_a_corner) {
    lock_step(2, 0);
}

Test(router, equals_its_twin_at_an_edge) {
    lock_step(3, 5);
}

// A buffer that is sent more than its credits allow says so.
Test(router, overflow_fires) {
    router_dut *dut = router_dut_new(NULL, (node_t){1, 1});
    link_t in[NOC_PORTS] = {{0}}, out[NOC_PORTS];
    credit_t none[NOC_PORTS] = {0}, credit[NOC_PORTS];
    bool busy;
    router_events ev;
    in[NOC_WEST] = (link_t){.valid = true, .flit = packet(FLIT_WRITE, (rect_t){1, 1, 1, 1}, 1)};
    in[NOC_WEST].flit.head = in[NOC_WEST].flit.tail = true;
    for (int i = 0; i < CFG_NOC_DEPTH * (NOC_DATA_VCS + 1); i++)
        router_dut_step(dut, in, none, out, credit, &busy, &ev);
    cr_assert_eq(router_dut_errors(dut), 0);
    for (int i = 0; i < 2; i++) router_dut_step(dut, in, none, out, credit, &busy, &ev);
    cr_assert(router_dut_errors(dut) > 0);
    router_dut_free(dut);
}

Test(router, excess_credit_fires) {
    router_dut *dut = router_dut_new(NULL, (node_t){1, 1});
    link_t in[NOC_PORTS] = {{0}}, out[NOC_PORTS];
    credit_t one[NOC_PORTS] = {1}, credit[NOC_PORTS];
    bool busy;
    router_events ev;
    router_dut_step(dut, in, one, out, credit, &busy, &ev);
    router_dut_step(dut, in, one, out, credit, &busy, &ev);
    cr_assert(router_dut_errors(dut) > 0);
    router_dut_free(dut);
}
