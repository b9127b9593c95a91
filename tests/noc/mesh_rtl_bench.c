// How fast the RTL mesh simulates on one core: flit-hops a second (flits leaving a router, a link or a local port) under
// saturated uniform traffic of 4-flit packets, RTL and twin on the same recorded cycles. Part of `make bench`.
#include <stdio.h>
#include <time.h>

#include "noc/mesh_dut.h"
#include "noc/traffic.h"

enum { WARM = 1000, RUN = 20000, FLITS = 4 };

typedef struct {
    link_t in[MESH_NODES][NOC_PORTS];
    credit_t credit_in[MESH_NODES][NOC_PORTS];
} stimulus;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void offer(traffic *t) {
    for (int n = 0; n < MESH_NODES; n++) {
        if (t->nodes[n].count > 8) continue;
        int to = (n + 1 + (int)rng_below(&t->rng, MESH_NODES - 1)) % MESH_NODES;
        uint8_t x = (uint8_t)(to % CFG_TILES_X), y = (uint8_t)(to / CFG_TILES_X);
        flit_t f = packet(FLIT_WRITE, (rect_t){x, y, x, y}, FLITS);
        for (int w = 0; w < ROW_WORDS; w++) f.data.w[w] = rng_next(&t->rng);
        traffic_put(t, n, f);
    }
}

// Records what enters the mesh in every cycle; returns the flit-hops after the warm-up, -1 without memory.
static int64_t record(stimulus *s) {
    traffic t;
    int64_t hops = 0;
    traffic_init(&t, CFG_TILES_X, CFG_TILES_Y, 1);
    for (int c = 0; c < WARM + RUN; c++) {
        offer(&t);
        traffic_step(&t);
        memcpy(s[c].in, t.net.in, sizeof s[c].in);
        memcpy(s[c].credit_in, t.net.credit_in, sizeof s[c].credit_in);
        for (int n = 0; n < MESH_NODES && c >= WARM; n++)
            for (int p = 0; p < NOC_PORTS; p++) hops += t.net.out[n][p].valid;
    }
    traffic_free(&t);
    return hops;
}

static double run_rtl(stimulus *s) {
    static link_t out[MESH_NODES][NOC_PORTS];
    credit_t credit_out[MESH_NODES][NOC_PORTS];
    bool busy[MESH_NODES];
    router_events ev[MESH_NODES];
    mesh_dut *dut = mesh_dut_new(&(dut_options){.seed = 1});
    double start = 0;
    for (int c = 0; c < WARM + RUN; c++) {
        if (c == WARM) start = seconds();
        mesh_dut_step(dut, s[c].in, s[c].credit_in, out, credit_out, busy, ev);
    }
    double took = seconds() - start;
    mesh_dut_free(dut);
    return took;
}

static double run_twin(const stimulus *s) {
    mesh m;
    double start = 0;
    if (!mesh_init(&m, CFG_TILES_X, CFG_TILES_Y)) return 0;
    for (int c = 0; c < WARM + RUN; c++) {
        if (c == WARM) start = seconds();
        mesh_peek(&m);
        for (int n = 0; n < MESH_NODES; n++) {
            m.in[n][NOC_LOCAL] = s[c].in[n][NOC_LOCAL];
            m.credit_in[n][NOC_LOCAL] = s[c].credit_in[n][NOC_LOCAL];
        }
        mesh_step(&m);
    }
    double took = seconds() - start;
    mesh_free(&m);
    return took;
}

int main(void) {
    stimulus *s = malloc((WARM + RUN) * sizeof *s);
    if (!s) return 2;
    double hops = (double)record(s), rtl = run_rtl(s), twin = run_twin(s);
    printf("mesh %d x %d: %.2f flit-hops a cycle; RTL %.1f kcycles/s, %.2f million flit-hops/s; twin %.1f kcycles/s, "
           "%.2f million; RTL time / twin time %.1f\n",
           CFG_TILES_X, CFG_TILES_Y, hops / RUN, RUN / rtl / 1e3, hops / rtl / 1e6, RUN / twin / 1e3, hops / twin / 1e6,
           rtl / twin);
    free(s);
    return 0;
}
