// The verdicts: a mesh that is stuck, one that is blocked from outside, one past saturation and one that keeps up are
// told apart. Real deadlocks come from two faults: routing that mixes XY and YX, and tiles that issue two reductions in
// opposite orders.
#include "noc/mesh_watch.h"

#include <criterion/criterion.h>

#define router_route xy_route
#include "noc/router_route.c"
#undef router_route

#include "noc/traffic.h"

// The faulty routing: flits of tag 1 go Y first. This definition stands in for the library's; tag 0 is the real
// routing.
uint8_t router_route(const flit_t *f, int port, node_t here) {
    if (f->tag != 1) return xy_route(f, port, here);
    node_t to = {f->rect.x0, f->rect.y0};
    if (here.y != to.y) return here.y < to.y ? N : S;
    return towards(here, to);
}

static flit_t to_node(int node, int nx, int flits, int tag) {
    uint8_t x = (uint8_t)(node % nx), y = (uint8_t)(node / nx);
    flit_t f = packet(FLIT_WRITE, (rect_t){x, y, x, y}, flits);
    f.tag = (uint8_t)tag;
    return f;
}

// Runs until nothing has moved for a while or all is delivered.
static mesh_verdict run(traffic *t, uint64_t limit, char text[MESH_WATCH_TEXT]) {
    mesh_watch w = {0};
    for (uint64_t i = 0; i < limit && !traffic_empty(t) && w.still < MESH_PATIENCE; i++) {
        traffic_step(t);
        mesh_watch_cycle(&w, &t->net);
    }
    return mesh_watch_verdict(&w, &t->net, NULL, text);
}

// Each corner of a 2 x 2 mesh sends to the opposite one, two of them Y first, so that the four turns close.
static mesh_verdict turns(int tag, char text[MESH_WATCH_TEXT]) {
    traffic t;
    traffic_init(&t, 2, 2, 1);
    for (int i = 0; i < 200; i++)
        for (int n = 0; n < 4; n++) traffic_put(&t, n, to_node(3 - n, 2, 8, n == 1 || n == 2 ? tag : 0));
    mesh_verdict v = run(&t, 100000, text);
    traffic_free(&t);
    return v;
}

Test(mesh_watch, mixed_turns_deadlock_and_the_cycle_is_named) {
    char text[MESH_WATCH_TEXT];
    cr_assert_eq(turns(1, text), MESH_DEADLOCK, "%s", text);
    fprintf(stderr, "DEADLOCK: %s\n", text);
    for (int n = 0; n < 4; n++) {
        char name[16];
        snprintf(name, sizeof name, "(%d,%d)", n % 2, n / 2);
        cr_assert(strstr(text, name), "%s is not in %s", name, text);
    }
    const char *end = strrchr(text, '>');
    cr_assert(end && !strncmp(text, end + 2, strlen(end + 2)), "not closed: %s", text);
}

Test(mesh_watch, the_same_traffic_routed_xy_is_ok) {
    char text[MESH_WATCH_TEXT];
    cr_assert_eq(turns(0, text), MESH_OK, "%s", text);
    cr_assert_str_eq(text, "");
}

// A cycle is found while the rest of the mesh still moves.
Test(mesh_watch, a_partial_deadlock_is_found_while_others_move) {
    char text[MESH_WATCH_TEXT];
    traffic t;
    traffic_init(&t, 4, 2, 1);
    mesh_watch w = {0};
    static const int corner[4] = {0, 1, 4, 5}, target[4] = {5, 4, 1, 0};
    for (int cycle = 0; cycle < 3000; cycle++) {
        for (int i = 0; i < 4; i++)
            if (t.nodes[corner[i]].count < 8) traffic_put(&t, corner[i], to_node(target[i], 4, 8, i == 1 || i == 2));
        if (t.nodes[3].count < 8) traffic_put(&t, 3, to_node(7, 4, 8, 0));
        traffic_step(&t);
        mesh_watch_cycle(&w, &t.net);
    }
    cr_assert_eq(w.still, 0);
    cr_assert_eq(mesh_watch_verdict(&w, &t.net, NULL, text), MESH_DEADLOCK, "%s", text);
    traffic_free(&t);
}

// Over random mixes of both routings: a cycle is named if and only if the traffic will never drain.
Test(mesh_watch, a_named_cycle_never_dissolves) {
    int stuck = 0, drained = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        char text[MESH_WATCH_TEXT];
        traffic t;
        traffic_init(&t, 2, 2, seed);
        t.slow = (int)(seed % 3);
        for (int i = 0; i < 60; i++) {
            int n = (int)rng_below(&t.rng, 4), to = rng_below(&t.rng, 8) ? 3 - n : (int)rng_below(&t.rng, 4);
            int tag = (n == 1 || n == 2) == (rng_below(&t.rng, 8) != 0);
            traffic_put(&t, n, to_node(to, 2, 1 + (int)rng_below(&t.rng, 8), tag));
        }
        bool named = false;
        for (int cycle = 0; cycle < 2000 && !traffic_empty(&t); cycle++) {
            traffic_step(&t);
            bool now = mesh_wait_cycle(&t.net, text);
            cr_assert(now || !named, "seed %llu: a cycle was named in cycle %d and is gone", (unsigned long long)seed,
                      cycle);
            named = now;
        }
        cr_assert_eq(named, !traffic_empty(&t), "seed %llu: named %d", (unsigned long long)seed, named);
        stuck += named;
        drained += !named;
        traffic_free(&t);
    }
    cr_assert(stuck >= 20 && drained >= 20, "%d stuck, %d drained: the mix shows one side only", stuck, drained);
}

static void put_pair(traffic *t, int node, int root) {
    flit_t f = packet(FLIT_REDUCE, (rect_t){0, 0, 1, 0}, 8);
    f.root = (node_t){(uint8_t)root, 0};
    traffic_put(t, node, f);
}

static mesh_verdict two_reductions(bool opposite_orders, char text[MESH_WATCH_TEXT]) {
    traffic t;
    traffic_init(&t, 2, 1, 1);
    for (int n = 0; n < 2; n++) {
        put_pair(&t, n, n == 1 && opposite_orders);
        put_pair(&t, n, !(n == 1 && opposite_orders));
    }
    mesh_verdict v = run(&t, 10000, text);
    traffic_free(&t);
    return v;
}

Test(mesh_watch, reductions_in_opposite_orders_deadlock) {
    char text[MESH_WATCH_TEXT];
    cr_assert_eq(two_reductions(true, text), MESH_DEADLOCK, "%s", text);
    cr_assert(strstr(text, "(0,0) local") && strstr(text, "(1,0) local"), "%s", text);
    cr_assert_eq(two_reductions(false, text), MESH_OK, "%s", text);
}

Test(mesh_watch, a_missing_partner_is_blocked_not_deadlocked) {
    char text[MESH_WATCH_TEXT];
    traffic t;
    traffic_init(&t, 2, 1, 1);
    put_pair(&t, 0, 0);
    cr_assert_eq(run(&t, 10000, text), MESH_BLOCKED, "%s", text);
    cr_assert_str_eq(text, "(1,0) local: a stream of a reduction was not sent");
    traffic_free(&t);
}

// The sink of node 3 never gives a credit back: traffic to it piles up behind, in no cycle.
Test(mesh_watch, a_sink_without_credits_is_blocked_not_deadlocked) {
    char text[MESH_WATCH_TEXT];
    traffic t;
    mesh_watch w = {0};
    traffic_init(&t, 2, 2, 1);
    for (int i = 0; i < 100; i++)
        for (int n = 0; n < 4; n++) traffic_put(&t, n, to_node(3, 2, 4, 0));
    for (int i = 0; i < 5000 && w.still < MESH_PATIENCE; i++) {
        memset(t.nodes[3].held, 0, sizeof t.nodes[3].held);
        traffic_step(&t);
        memset(t.net.routers[3].credits[NOC_LOCAL], 0, NOC_NUM_VCS);
        mesh_watch_cycle(&w, &t.net);
    }
    cr_assert_eq(mesh_watch_verdict(&w, &t.net, NULL, text), MESH_BLOCKED, "%s", text);
    cr_assert_str_eq(text, "(1,1) local: the sink gives no credits back");
    traffic_free(&t);
}

// Transpose on 8 x 8: the busiest link allows 1/7 of a flit a node and cycle.
static mesh_verdict transpose(int per_mille, char text[MESH_WATCH_TEXT]) {
    enum { WARM = 2000, RUN = 10000 };
    traffic t;
    traffic_init(&t, 8, 8, 5);
    mesh_watch w = {0};
    mesh_source sources[64] = {{0}};
    for (int c = 0; c < WARM + RUN; c++) {
        for (int n = 0; n < 64; n++) {
            if (c == WARM) sources[n] = (mesh_source){.backlog_before = t.nodes[n].count};
            if ((int)rng_below(&t.rng, 1000) >= per_mille) continue;
            traffic_put(&t, n, to_node(n % 8 * 8 + n / 8, 8, 1, 0));
            sources[n].offered++;
        }
        traffic_step(&t);
        mesh_watch_cycle(&w, &t.net);
    }
    for (int n = 0; n < 64; n++) sources[n].backlog_after = t.nodes[n].count;
    mesh_verdict v = mesh_watch_verdict(&w, &t.net, sources, text);
    traffic_free(&t);
    return v;
}

Test(mesh_watch, past_saturation_is_neither_ok_nor_deadlock) {
    char text[MESH_WATCH_TEXT];
    cr_assert_eq(transpose(160, text), MESH_SATURATED, "%s", text);
    cr_assert(strstr(text, "source ("), "%s", text);
    cr_assert_eq(transpose(300, text), MESH_SATURATED, "%s", text);
    cr_assert_eq(transpose(130, text), MESH_OK, "%s", text);
    cr_assert_str_eq(mesh_verdict_name(MESH_SATURATED), "SATURATED");
    cr_assert_str_eq(mesh_verdict_name(MESH_DEADLOCK), "DEADLOCK");
}
