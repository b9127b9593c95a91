#include "chip/chip_wires.h"

enum { NORTH = NOC_NORTH - 1, EAST = NOC_EAST - 1, SOUTH = NOC_SOUTH - 1, WEST = NOC_WEST - 1 };

static void copy_link(link_t *to, const link_t *from) {
    to->valid = from->valid;
    if (from->valid) *to = *from;
}

void chip_wires_out(const tile_out tiles[CHIP_TILES], chip_out *out) {
    out->done = true;
    out->error = false;
    for (int t = 0; t < CHIP_TILES; t++) {
        out->done &= tiles[t].done;
        out->error |= tiles[t].error;
    }
    for (int y = 0; y < CFG_TILES_Y; y++) {
        const tile_out *west = &tiles[y * CFG_TILES_X], *east = &tiles[y * CFG_TILES_X + CFG_TILES_X - 1];
        copy_link(&out->link[y], &west->link[WEST]);
        out->credit[y] = west->credit[WEST];
        copy_link(&out->link[CFG_TILES_Y + y], &east->link[EAST]);
        out->credit[CFG_TILES_Y + y] = east->credit[EAST];
    }
}

void chip_wires_in(const tile_out tiles[CHIP_TILES], const chip_in *in, int t, tile_in *to) {
    int x = t % CFG_TILES_X, y = t / CFG_TILES_X;
    const struct {
        int port, tile, theirs, hbm; // own link; neighbour or -1, its link; HBM port or -1
    } wires[TILE_LINKS] = {
        {NORTH, y + 1 < CFG_TILES_Y ? t + CFG_TILES_X : -1, SOUTH, -1},
        {EAST, x + 1 < CFG_TILES_X ? t + 1 : -1, WEST, x + 1 < CFG_TILES_X ? -1 : CFG_TILES_Y + y},
        {SOUTH, y > 0 ? t - CFG_TILES_X : -1, NORTH, -1},
        {WEST, x > 0 ? t - 1 : -1, EAST, x > 0 ? -1 : y}};
    to->start = in->start;
    to->snapshot = in->snapshot;
    for (int i = 0; i < TILE_LINKS; i++) {
        int port = wires[i].port, from = wires[i].tile, hbm = wires[i].hbm;
        to->link[port].valid = false;
        to->credit[port] = 0;
        if (from >= 0) {
            copy_link(&to->link[port], &tiles[from].link[wires[i].theirs]);
            to->credit[port] = tiles[from].credit[wires[i].theirs];
        } else if (hbm >= 0) {
            copy_link(&to->link[port], &in->link[hbm]);
            to->credit[port] = in->credit[hbm];
        }
    }
}
