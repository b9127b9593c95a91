#include "noc/router.h"

enum { L = 1 << NOC_LOCAL, N = 1 << NOC_NORTH, E = 1 << NOC_EAST, S = 1 << NOC_SOUTH, W = 1 << NOC_WEST };

// Output towards a tile, X first.
static uint8_t towards(node_t here, node_t to) {
    if (here.x != to.x) return here.x < to.x ? E : W;
    if (here.y != to.y) return here.y < to.y ? N : S;
    return L;
}

// The XY tree to a rectangle: along the row, then the columns.
static uint8_t tree(rect_t r, int port, node_t here) {
    uint8_t out = 0;
    if (r.x0 > r.x1 || r.y0 > r.y1) return 0;
    bool east = port == NOC_LOCAL || port == NOC_WEST, west = port == NOC_LOCAL || port == NOC_EAST;
    bool north = port != NOC_NORTH, south = port != NOC_SOUTH;
    if (east && r.x1 > here.x) out |= E;
    if (west && r.x0 < here.x) out |= W;
    if (here.x < r.x0 || here.x > r.x1) return out;
    if (north && r.y1 > here.y) out |= N;
    if (south && r.y0 < here.y) out |= S;
    if (here.y >= r.y0 && here.y <= r.y1) out |= L;
    return out;
}

uint8_t router_route(const flit_t *f, int port, node_t here) {
    if (f->kind == FLIT_REDUCE) return towards(here, f->root);
    if (f->to == TO_TILE) return tree(f->rect, port, here);
    uint8_t out = towards(here, (node_t){f->rect.x0, f->rect.y0});
    return out == L ? (f->to == TO_WEST ? W : E) : out;
}

uint8_t router_expected(const flit_t *f, node_t here) {
    uint8_t out = 0;
    bool row = here.y >= f->rect.y0 && here.y <= f->rect.y1;
    if (row && here.x >= f->rect.x0 && here.x <= f->rect.x1) out |= L;
    if (row && f->rect.x0 < here.x && here.x <= f->root.x) out |= W;
    if (row && f->rect.x1 > here.x && here.x >= f->root.x) out |= E;
    if (here.x == f->root.x && f->rect.y0 < here.y && here.y <= f->root.y) out |= S;
    if (here.x == f->root.x && f->rect.y1 > here.y && here.y >= f->root.y) out |= N;
    return out;
}
