// What is sent against what is received, what is signalled against what is waited for.
#include "program/program_check.h"

#include <stdlib.h>

// One tag of one tile.
typedef struct {
    uint64_t sent, received;
    int from;            // tile of the last sender
    uint32_t from_index; // its instruction
} arrivals_t;

static void add_sent(arrivals_t *all, int from, uint32_t index, const instr_t *i, int x, int y) {
    arrivals_t *a = &all[(y * CFG_TILES_X + x) * CFG_NUM_TAGS + i->tag];
    a->sent += i->rows;
    a->from = from;
    a->from_index = index;
}

// REDUCE is counted once, by the first tile of its rectangle.
static void count_sent(arrivals_t *all, int tile, uint32_t index, const instr_t *i) {
    rect_t r = i->rect;
    if (i->op == OP_REDUCE) {
        if (tile == r.y0 * CFG_TILES_X + r.x0) add_sent(all, tile, index, i, i->root.x, i->root.y);
    } else if (i->op == OP_SEND || i->op == OP_MULTICAST) {
        for (int y = r.y0; y <= r.y1; y++)
            for (int x = r.x0; x <= r.x1; x++) add_sent(all, tile, index, i, x, y);
    }
}

static bool check_receives(check_ctx *c, arrivals_t *all) {
    for (int tile = 0; tile < PROGRAM_TILES; tile++) {
        const program_tile *t = &c->p->tiles[tile];
        for (uint32_t n = 0; n < t->count; n++) {
            if (t->instrs[n].op != OP_RECEIVE) continue;
            arrivals_t *a = &all[tile * CFG_NUM_TAGS + t->instrs[n].tag];
            a->received += t->instrs[n].rows;
            if (a->received > a->sent)
                return program_refuse(c, tile, n, "receives %llu rows of tag %u up to here, %llu are sent to it",
                                      (unsigned long long)a->received, t->instrs[n].tag, (unsigned long long)a->sent);
        }
    }
    for (int i = 0; i < PROGRAM_TILES * CFG_NUM_TAGS; i++)
        if (all[i].received < all[i].sent)
            return program_refuse(
                c, all[i].from, all[i].from_index, "tile %d %d receives %llu of the %llu rows sent to its tag %d",
                i / CFG_NUM_TAGS % CFG_TILES_X, i / CFG_NUM_TAGS / CFG_TILES_X, (unsigned long long)all[i].received,
                (unsigned long long)all[i].sent, i % CFG_NUM_TAGS);
    return true;
}

static bool check_sems(check_ctx *c, int tile) {
    const program_tile *t = &c->p->tiles[tile];
    uint64_t signals[CFG_NUM_SEMS] = {0}, waits[CFG_NUM_SEMS] = {0};
    uint32_t last[CFG_NUM_SEMS] = {0};
    for (uint32_t n = 0; n < t->count; n++) {
        if (t->instrs[n].op != OP_SIGNAL) continue;
        signals[t->instrs[n].sem] += t->instrs[n].count;
        last[t->instrs[n].sem] = n;
    }
    for (uint32_t n = 0; n < t->count; n++) {
        int s = t->instrs[n].sem;
        if (t->instrs[n].op != OP_WAIT) continue;
        waits[s] += t->instrs[n].count;
        if (waits[s] > signals[s])
            return program_refuse(c, tile, n, "deadlock: the waits for s%d add up to %llu here, its signals to %llu", s,
                                  (unsigned long long)waits[s], (unsigned long long)signals[s]);
    }
    for (int s = 0; s < CFG_NUM_SEMS; s++)
        if (signals[s] > waits[s] + 255)
            return program_refuse(c, tile, last[s], "s%d is left at %llu, a semaphore holds 255", s,
                                  (unsigned long long)(signals[s] - waits[s]));
    return true;
}

bool program_check_totals(check_ctx *c) {
    arrivals_t *all = calloc((size_t)PROGRAM_TILES * CFG_NUM_TAGS, sizeof *all);
    if (!all) {
        snprintf(c->error, PROGRAM_ERROR, "no memory for the check of arrivals");
        return false;
    }
    for (int tile = 0; tile < PROGRAM_TILES; tile++)
        for (uint32_t n = 0; n < c->p->tiles[tile].count; n++) count_sent(all, tile, n, &c->p->tiles[tile].instrs[n]);
    bool ok = true;
    for (int tile = 0; ok && tile < PROGRAM_TILES; tile++) ok = check_sems(c, tile);
    ok = ok && check_receives(c, all);
    free(all);
    return ok;
}
