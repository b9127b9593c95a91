#include "noc/channel_graph.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const PORT_NAMES[NOC_PORTS] = {"local", "north", "east", "south", "west"};

bool channel_graph_init(channel_graph *g, int nx, int ny, channel_route route) {
    int channels = nx * ny * ROUTER_BUFFERS;
    *g = (channel_graph){.nx = nx, .ny = ny, .channels = channels, .route = route};
    g->waits = calloc((size_t)channels, (size_t)channels * sizeof *g->waits);
    return g->waits;
}

void channel_graph_free(channel_graph *g) {
    free(g->waits);
    *g = (channel_graph){0};
}

static int opposite(int port) {
    static const int other[NOC_PORTS] = {NOC_LOCAL, NOC_SOUTH, NOC_WEST, NOC_NORTH, NOC_EAST};
    return other[port];
}

// The node behind a port, -1 where it is a tile or the edge.
static int neighbour(const channel_graph *g, int node, int port) {
    int x = node % g->nx + (port == NOC_EAST) - (port == NOC_WEST);
    int y = node / g->nx + (port == NOC_NORTH) - (port == NOC_SOUTH);
    return port == NOC_LOCAL || x < 0 || y < 0 || x >= g->nx || y >= g->ny ? -1 : y * g->nx + x;
}

// Every channel of the packet's class at one port can wait for every one at the other.
static void add_waits(channel_graph *g, bool reduce, int node, int port, int next, int next_port) {
    int first = reduce ? NOC_VC_REDUCE : 0, last = reduce ? NOC_VC_REDUCE : NOC_DATA_VCS - 1;
    for (int v = first; v <= last; v++)
        for (int w = first; w <= last; w++) {
            int a = node * ROUTER_BUFFERS + port * NOC_NUM_VCS + v,
                b = next * ROUTER_BUFFERS + next_port * NOC_NUM_VCS + w;
            g->waits[(size_t)a * (size_t)g->channels + (size_t)b] = true;
        }
}

static bool follow(channel_graph *g, const flit_t *f, int node, int port, int hops) {
    if (hops > g->nx + g->ny) return false; // XY takes fewer
    node_t here = {(uint8_t)(node % g->nx), (uint8_t)(node / g->nx)};
    uint8_t out = g->route(f, port, here);
    if (!out) return false; // dropped
    for (int o = 0; o < NOC_PORTS; o++) {
        if (!(out >> o & 1)) continue;
        int next = neighbour(g, node, o);
        if (next < 0) {
            bool request = o != NOC_LOCAL && f->kind == FLIT_LOAD_REQ;
            if (g->edge_waits && request) add_waits(g, false, node, port, node, o);
            continue;
        }
        add_waits(g, f->kind == FLIT_REDUCE, node, port, next, opposite(o));
        if (!follow(g, f, next, opposite(o), hops + 1)) return false;
    }
    return true;
}

bool channel_graph_add(channel_graph *g, const flit_t *f, int node, int port) {
    g->packets++;
    return follow(g, f, node, port, 0);
}

// The packet from every tile, and from every HBM port: those of the west edge come in from the west.
static bool from_everywhere(channel_graph *g, const flit_t *f, bool hbm) {
    bool ends = true;
    for (int n = 0; n < g->nx * g->ny; n++) ends &= channel_graph_add(g, f, n, NOC_LOCAL);
    for (int y = 0; hbm && y < g->ny; y++) {
        ends &= channel_graph_add(g, f, y * g->nx, NOC_WEST);
        ends &= channel_graph_add(g, f, y * g->nx + g->nx - 1, NOC_EAST);
    }
    return ends;
}

static bool add_requests(channel_graph *g) {
    bool ends = true;
    for (int y = 0; y < g->ny; y++)
        for (int east = 0; east < 2; east++) {
            uint8_t x = (uint8_t)(east ? g->nx - 1 : 0);
            flit_t f = {.kind = FLIT_LOAD_REQ, .to = east ? TO_EAST : TO_WEST, .rect = {x, (uint8_t)y, x, (uint8_t)y}};
            ends &= from_everywhere(g, &f, false);
        }
    return ends;
}

static bool add_reductions(channel_graph *g, rect_t r) {
    bool ends = true;
    for (int root = 0; root < g->nx * g->ny; root++) {
        flit_t f = {.kind = FLIT_REDUCE, .rect = r, .root = {(uint8_t)(root % g->nx), (uint8_t)(root / g->nx)}};
        if (f.root.x < r.x0 || f.root.x > r.x1) continue; // the contract: the root's column lies within
        ends &= channel_graph_reduction_meets(g, r, f.root);
        for (int y = r.y0; y <= r.y1; y++)
            for (int x = r.x0; x <= r.x1; x++) ends &= channel_graph_add(g, &f, y * g->nx + x, NOC_LOCAL);
    }
    return ends;
}

bool channel_graph_add_all(channel_graph *g) {
    bool ends = add_requests(g);
    for (int x0 = 0; x0 < g->nx; x0++)
        for (int x1 = x0; x1 < g->nx; x1++)
            for (int y0 = 0; y0 < g->ny; y0++)
                for (int y1 = y0; y1 < g->ny; y1++) {
                    rect_t r = {(uint8_t)x0, (uint8_t)y0, (uint8_t)x1, (uint8_t)y1};
                    flit_t f = {.kind = FLIT_WRITE, .rect = r}; // a rectangle of one is a unicast
                    ends &= from_everywhere(g, &f, true);
                    ends &= add_reductions(g, r);
                }
    return ends;
}

bool channel_graph_reduction_meets(const channel_graph *g, rect_t rect, node_t root) {
    enum { MOST = (NOC_MAX_COORD + 1) * (NOC_MAX_COORD + 1) };
    uint8_t met[MOST] = {0};
    flit_t f = {.kind = FLIT_REDUCE, .rect = rect, .root = root};
    for (int y = rect.y0; y <= rect.y1; y++)
        for (int x = rect.x0; x <= rect.x1; x++) {
            int node = y * g->nx + x, port = NOC_LOCAL;
            for (int hops = 0;; hops++) {
                met[node] |= (uint8_t)(1 << port);
                uint8_t out = g->route(&f, port, (node_t){(uint8_t)(node % g->nx), (uint8_t)(node / g->nx)});
                if (out == 1 << NOC_LOCAL) break;
                int o = __builtin_ctz(out), next = neighbour(g, node, o);
                if (out != 1 << o || next < 0 || hops > g->nx + g->ny) return false;
                node = next;
                port = opposite(o);
            }
            if (node != root.y * g->nx + root.x) return false;
        }
    for (int n = 0; n < g->nx * g->ny; n++) {
        int x = n % g->nx, y = n / g->nx;
        bool inside = x >= rect.x0 && x <= rect.x1 && y >= rect.y0 && y <= rect.y1;
        if (met[n] != router_expected(&f, (node_t){(uint8_t)x, (uint8_t)y})) return false;
        if (met[n] & (met[n] - 1) && !inside) return false;
    }
    return true;
}

long channel_graph_edges(const channel_graph *g) {
    long edges = 0;
    for (size_t i = 0; i < (size_t)g->channels * (size_t)g->channels; i++) edges += g->waits[i];
    return edges;
}

// Orders what no other unordered channel waits for, again and again. -> how many were ordered; done: which.
static int order_all(const channel_graph *g, int *order, bool *done) {
    int *before = calloc((size_t)g->channels, sizeof *before), count = 0;
    if (!before) return 0;
    for (int a = 0; a < g->channels; a++)
        for (int b = 0; b < g->channels; b++) before[b] += g->waits[(size_t)a * (size_t)g->channels + (size_t)b];
    for (int c = 0; c < g->channels; c++)
        if (!before[c]) order[count++] = c;
    for (int i = 0; i < count; i++) {
        done[order[i]] = true;
        for (int b = 0; b < g->channels; b++)
            if (g->waits[(size_t)order[i] * (size_t)g->channels + (size_t)b] && --before[b] == 0) order[count++] = b;
    }
    free(before);
    return count;
}

bool channel_graph_order(const channel_graph *g, int *order) {
    bool *done = calloc((size_t)g->channels, sizeof *done);
    bool whole = done && order_all(g, order, done) == g->channels;
    free(done);
    return whole;
}

// A channel left over that waits for this one: every channel left over has one, so going back ends in a cycle.
static int waiter(const channel_graph *g, const bool *done, int c) {
    for (int a = 0; a < g->channels; a++)
        if (!done[a] && g->waits[(size_t)a * (size_t)g->channels + (size_t)c]) return a;
    return -1;
}

static void put_cycle(const channel_graph *g, const bool *done, int *path, char text[CHANNEL_TEXT]) {
    int at = 0, length = 0;
    while (done[at]) at++;
    for (int i = 0; i < g->channels; i++) at = waiter(g, done, at); // by now on a cycle
    int first = at;
    do {
        path[length++] = at;
        at = waiter(g, done, at);
    } while (at != first);
    path[length++] = first;
    size_t used = 0;
    for (int i = length - 1; i >= 0 && used < CHANNEL_TEXT; i--) { // found backwards
        int node = path[i] / ROUTER_BUFFERS, b = path[i] % ROUTER_BUFFERS;
        used += (size_t)snprintf(text + used, CHANNEL_TEXT - used, "%s(%d,%d) %s vc%d", used ? " -> " : "",
                                 node % g->nx, node / g->nx, PORT_NAMES[b / NOC_NUM_VCS], b % NOC_NUM_VCS);
    }
}

bool channel_graph_cycle(const channel_graph *g, char text[CHANNEL_TEXT]) {
    bool *done = calloc((size_t)g->channels, sizeof *done);
    int *order = calloc((size_t)g->channels + 1, sizeof *order);
    text[0] = 0;
    bool found = done && order && order_all(g, order, done) < g->channels;
    if (found) put_cycle(g, done, order, text);
    free(done);
    free(order);
    return found;
}
