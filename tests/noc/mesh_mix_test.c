// Unicasts and broadcasts mixed on a 4 x 4 mesh: how much of the bandwidth of the ejection links arrives.
// The bound: each of the 16 nodes takes one flit a cycle at most; a broadcast flit is 16 deliveries, one at each. At
// full load, B of it by broadcasts and U = 1 - B by unicasts to random nodes, each source sends B / 16 broadcast flits
// a cycle; a link in the middle of a column carries U + 8 B / 16, one of a row U + 2 B / 16: both less than 1, so that
// the ejection links are the narrowest. A published prototype of this size reaches 87.1 %.
#include <criterion/criterion.h>

#include "noc/mesh_watch.h"
#include "noc/traffic.h"

enum { SIDE = 4, NODES = SIDE * SIDE, WARM = 4000, RUN = 40000 };

// Of 100 packets: broadcasts, short unicasts of one flit, and long unicasts; flits of the broadcasts and the long ones.
typedef struct {
    const char *name;
    int broadcasts, shorts, longs, broadcast_flits, long_flits;
} mix;

typedef struct {
    double offered, accepted, least; // deliveries a node and cycle
    mesh_verdict verdict;
} result;

static double deliveries_per_packet(const mix *m) {
    return (m->broadcasts * NODES * m->broadcast_flits + m->shorts + m->longs * m->long_flits) / 100.0;
}

static flit_t draw(const mix *m, rng_t *rng) {
    int kind = (int)rng_below(rng, 100);
    if (kind < m->broadcasts) return packet(FLIT_WRITE, (rect_t){0, 0, SIDE - 1, SIDE - 1}, m->broadcast_flits);
    uint64_t to = rng_below(rng, NODES);
    uint8_t x = (uint8_t)(to % SIDE), y = (uint8_t)(to / SIDE);
    return packet(FLIT_WRITE, (rect_t){x, y, x, y}, kind < m->broadcasts + m->shorts ? 1 : m->long_flits);
}

// load: offered deliveries a node and cycle.
static result measure(const mix *m, double load) {
    traffic t;
    traffic_init(&t, SIDE, SIDE, 3);
    mesh_watch w = {0};
    mesh_source sources[NODES] = {{0}};
    uint64_t before[NODES] = {0}, got = 0, least = UINT64_MAX, made = 0;
    uint64_t threshold = (uint64_t)(load / deliveries_per_packet(m) * 1e9);
    for (int c = 0; c < WARM + RUN; c++) {
        for (int n = 0; n < NODES; n++) {
            if (c == WARM) {
                before[n] = t.nodes[n].received;
                sources[n] = (mesh_source){.backlog_before = t.nodes[n].count};
            }
            if (rng_below(&t.rng, 1000000000) >= threshold) continue;
            flit_t f = draw(m, &t.rng);
            traffic_put(&t, n, f);
            sources[n].offered++; // backlogs are in packets here
            if (c >= WARM) made += (uint64_t)(f.len_m1 + 1) * (f.rect.x1 > f.rect.x0 ? NODES : 1);
        }
        traffic_step(&t);
        mesh_watch_cycle(&w, &t.net);
    }
    for (int n = 0; n < NODES; n++) {
        uint64_t mine = t.nodes[n].received - before[n];
        got += mine;
        if (mine < least) least = mine;
        sources[n].backlog_after = t.nodes[n].count;
    }
    char text[MESH_WATCH_TEXT];
    result r = {(double)made / RUN / NODES, (double)got / RUN / NODES, (double)least / RUN,
                mesh_watch_verdict(&w, &t.net, sources, text)};
    fprintf(stderr, "%s: offered %.4f of the ejection bound, accepted %.4f, least of any node %.4f: %s %s\n", m->name,
            r.offered, r.accepted, r.least, mesh_verdict_name(r.verdict), text);
    traffic_free(&t);
    return r;
}

static const mix BY_PACKETS = {"half of the packets broadcasts", 50, 25, 25, 1, 5};
static const mix BY_FLITS = {"half of the deliveries broadcasts", 6, 94, 0, 1, 1};
static const mix LONG = {"packets of 8 flits, half broadcasts", 50, 0, 50, 8, 8};
static const mix UNICASTS = {"unicasts alone", 0, 100, 0, 1, 1};
static const mix BROADCASTS = {"broadcasts alone", 100, 0, 0, 1, 1};

// Sustained: the sources keep up, and no node is left behind.
static void sustains(const mix *m, double load, double floor) {
    result r = measure(m, load);
    cr_assert_eq(r.verdict, MESH_OK, "%s at %.2f: %s", m->name, load, mesh_verdict_name(r.verdict));
    cr_assert(r.accepted >= floor && r.least >= floor - 0.01, "%s: accepted %.4f, least %.4f, want %.2f", m->name,
              r.accepted, r.least, floor);
}

// Past saturation throughput does not fall.
static void holds(const mix *m, double floor) {
    result r = measure(m, 1.04);
    cr_assert_eq(r.verdict, MESH_SATURATED, "%s: %s", m->name, mesh_verdict_name(r.verdict));
    cr_assert(r.accepted >= floor, "%s: accepted %.4f, want %.2f", m->name, r.accepted, floor);
}

Test(mesh_mix, half_of_the_packets_broadcasts_sustain_0_93) {
    sustains(&BY_PACKETS, 0.94, 0.93);
    holds(&BY_PACKETS, 0.94);
}

Test(mesh_mix, half_of_the_deliveries_broadcasts_sustain_0_92) {
    sustains(&BY_FLITS, 0.93, 0.92);
    holds(&BY_FLITS, 0.93);
}

Test(mesh_mix, packets_of_8_flits_sustain_0_92) {
    sustains(&LONG, 0.94, 0.92);
    holds(&LONG, 0.96);
}

// The ends of the mix. Unicasts alone load links as much as sinks, and fall short of 90 %.
Test(mesh_mix, broadcasts_alone_fill_the_bound_and_unicasts_alone_do_not) {
    holds(&BROADCASTS, 0.99);
    sustains(&UNICASTS, 0.85, 0.84);
    result r = measure(&UNICASTS, 0.99);
    cr_assert_eq(r.verdict, MESH_SATURATED);
    cr_assert(r.accepted >= 0.86, "accepted %.4f", r.accepted);
}
