// Latency and throughput of an 8 x 8 mesh (twin), one-flit packets: `make bench-noc`. CSV on stdout, in flits per node
// and cycle, latencies in cycles from the cycle a packet is made (so with its wait at the source) to its arrival.
//   mesh_bench                      the curves of uniform and transpose; exit 4 where a point deadlocks
//   mesh_bench uniform|transpose R  one point, R in flits per node and cycle; exit 0 ok, 3 SATURATED, 4 DEADLOCK, 5
//   BLOCKED
// Past saturation the latency is that of the packets that arrived before the run ended: it grows with the run.
#include <stdio.h>
#include <string.h>

#include "noc/mesh_watch.h"
#include "noc/traffic.h"

enum { SIDE = 8, NODES = SIDE * SIDE, WARM = 3000, RUN = 12000, DRAIN = 2000 };

typedef struct {
    traffic t;
    uint64_t made[NODES][NODES], come[NODES][NODES]; // packets of the window, by source and destination
    uint64_t arrived[NODES];                         // flits at each node within the window
    uint64_t latency, packets;                       // of the packets made in the window
} run;

static void arrive(void *context, int node, const flit_t *f) {
    run *r = context;
    if (r->t.cycle >= WARM && r->t.cycle < WARM + RUN) r->arrived[node]++;
    if (f->addr < WARM || f->addr >= WARM + RUN) return; // addr: the cycle in which it was made
    r->come[f->src.y * SIDE + f->src.x][node]++;
    r->latency += r->t.cycle + 1 - f->addr;
    r->packets++;
}

static void make(run *r, int node, bool transpose, mesh_source *source) {
    int to = transpose ? node % SIDE * SIDE + node / SIDE : (int)rng_below(&r->t.rng, NODES);
    uint8_t x = (uint8_t)(to % SIDE), y = (uint8_t)(to / SIDE);
    flit_t f = packet(FLIT_WRITE, (rect_t){x, y, x, y}, 1);
    f.addr = (uint32_t)r->t.cycle;
    traffic_put(&r->t, node, f); // a full queue drops it: offered, never accepted
    if (r->t.cycle < WARM) return;
    r->made[node][to]++;
    source->offered++;
}

static double least_share(const run *r) {
    double least = 1;
    for (int s = 0; s < NODES; s++)
        for (int d = 0; d < NODES; d++) {
            double share = r->made[s][d] ? (double)r->come[s][d] / (double)r->made[s][d] : 1;
            if (share < least) least = share;
        }
    return least;
}

static void print(const run *r, bool transpose, double rate, mesh_verdict v, const mesh_source *sources) {
    uint64_t sum = 0, offered = 0, least = UINT64_MAX;
    for (int n = 0; n < NODES; n++) {
        sum += r->arrived[n];
        offered += sources[n].offered;
        if (r->arrived[n] < least) least = r->arrived[n];
    }
    printf("%s,%g,%.5f,%.5f,%.5f,%.4f,%.3f,%s\n", transpose ? "transpose" : "uniform", rate,
           (double)offered / RUN / NODES, (double)sum / RUN / NODES, (double)least / RUN, least_share(r),
           r->packets ? (double)r->latency / (double)r->packets : 0.0, mesh_verdict_name(v));
    fflush(stdout);
}

// One point: warm up, a window of measurement, and time for its packets to arrive without new ones.
static mesh_verdict point(bool transpose, double rate) {
    static run r;
    mesh_source sources[NODES] = {{0}};
    mesh_watch w = {0};
    char text[MESH_WATCH_TEXT] = "";
    mesh_verdict verdict = MESH_OK;
    memset(&r, 0, sizeof r);
    traffic_init(&r.t, SIDE, SIDE, 7);
    r.t.on_flit = arrive;
    r.t.context = &r;
    uint64_t threshold = (uint64_t)(rate * 1e6 + 0.5);
    for (int c = 0; c < WARM + RUN + DRAIN && w.still < MESH_PATIENCE; c++) {
        for (int n = 0; n < NODES; n++) {
            if (c == WARM) sources[n].backlog_before = r.t.nodes[n].count;
            if (c < WARM + RUN && rng_below(&r.t.rng, 1000000) < threshold) make(&r, n, transpose, &sources[n]);
            if (c == WARM + RUN) sources[n].backlog_after = r.t.nodes[n].count;
        }
        if (c == WARM + RUN) verdict = mesh_watch_verdict(&w, &r.t.net, sources, text);
        traffic_step(&r.t);
        mesh_watch_cycle(&w, &r.t.net);
    }
    if (w.still >= MESH_PATIENCE) verdict = mesh_watch_verdict(&w, &r.t.net, sources, text);
    print(&r, transpose, rate, verdict, sources);
    if (text[0])
        fprintf(stderr, "%s %g: %s: %s\n", transpose ? "transpose" : "uniform", rate, mesh_verdict_name(verdict), text);
    traffic_free(&r.t);
    return verdict;
}

static int status(mesh_verdict v) {
    return v == MESH_OK ? 0 : v == MESH_SATURATED ? 3 : v == MESH_DEADLOCK ? 4 : 5;
}

int main(int argc, char **argv) {
    static const double uniform[] = {.01, .05, .1, .15, .2, .25, .3, .325, .35, .375, .4, .42, .43, .44, .45, .475, .5};
    static const double transpose[] = {.01, .03, .05, .07, .09, .1, .11, .12, .13, .135, .14, .15, .16, .18, .2, .25};
    if (argc != 1 && argc != 3) {
        fprintf(stderr, "usage: mesh_bench [uniform|transpose RATE]\n");
        return 2;
    }
    printf("traffic,rate,offered_flits_node_cycle,accepted_flits_node_cycle,accepted_min_node,least_flow_share,"
           "mean_latency_cycles,verdict\n");
    if (argc == 3) return status(point(argv[1][0] == 't', strtod(argv[2], NULL)));
    int worst = 0;
    for (size_t i = 0; i < sizeof uniform / sizeof *uniform; i++) {
        int s = status(point(false, uniform[i]));
        if (s > 3) worst = s;
    }
    for (size_t i = 0; i < sizeof transpose / sizeof *transpose; i++) {
        int s = status(point(true, transpose[i]));
        if (s > 3) worst = s;
    }
    return worst;
}
