// Reductions: the n-th time that a tile issues the same (rectangle, root, destination, rows, tag) belongs to the n-th
// time of the others. Every tile of the rectangle must issue it, and one order of all reductions must fit every tile.
#include "program/program_check.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t key[12]; // what the participants share
    uint32_t nth, index;
    int tile;
} issue_t;

static void set_key(issue_t *r, const instr_t *i) {
    const uint8_t key[12] = {i->rect.x0,
                             i->rect.y0,
                             i->rect.x1,
                             i->rect.y1,
                             i->root.x,
                             i->root.y,
                             i->tag,
                             (uint8_t)(i->rows & 255),
                             (uint8_t)(i->rows >> 8),
                             (uint8_t)(i->addr_c & 255),
                             (uint8_t)(i->addr_c >> 8),
                             0};
    memcpy(r->key, key, sizeof key);
}

static int by_tile(const void *a, const void *b) {
    const issue_t *x = a, *y = b;
    int key = memcmp(x->key, y->key, sizeof x->key);
    if (key) return key;
    if (x->tile != y->tile) return x->tile < y->tile ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_turn(const void *a, const void *b) {
    const issue_t *x = a, *y = b;
    int key = memcmp(x->key, y->key, sizeof x->key);
    if (key) return key;
    if (x->nth != y->nth) return x->nth < y->nth ? -1 : 1;
    return x->tile < y->tile ? -1 : x->tile > y->tile;
}

static size_t collect(const program *p, issue_t *all) {
    size_t count = 0;
    for (int tile = 0; tile < PROGRAM_TILES; tile++)
        for (uint32_t n = 0; n < p->tiles[tile].count; n++) {
            if (p->tiles[tile].instrs[n].op != OP_REDUCE) continue;
            if (all) {
                all[count] = (issue_t){.index = n, .tile = tile};
                set_key(&all[count], &p->tiles[tile].instrs[n]);
            }
            count++;
        }
    return count;
}

static void number_turns(issue_t *all, size_t count) {
    qsort(all, count, sizeof *all, by_tile);
    for (size_t i = 1; i < count; i++)
        if (all[i].tile == all[i - 1].tile && memcmp(all[i].key, all[i - 1].key, sizeof all[i].key) == 0)
            all[i].nth = all[i - 1].nth + 1;
    qsort(all, count, sizeof *all, by_turn);
}

// The issues first..end - 1 are one reduction: one of each tile of its rectangle.
static bool complete(check_ctx *c, const issue_t *all, size_t first, size_t end) {
    const uint8_t *r = all[first].key;
    size_t at = first;
    for (int y = r[1]; y <= r[3]; y++)
        for (int x = r[0]; x <= r[2]; x++) {
            if (at < end && all[at].tile == y * CFG_TILES_X + x)
                at++;
            else
                return program_refuse(c, all[first].tile, all[first].index,
                                      "tile %d %d lies in %u,%u..%u,%u and does not issue this reduction (same "
                                      "rectangle, root, c, rows and tag, time %u)",
                                      x, y, r[0], r[1], r[2], r[3], all[first].nth + 1);
        }
    return true;
}

static bool number_reductions(check_ctx *c, const issue_t *all, size_t count) {
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (memcmp(all[end].key, all[first].key, sizeof all[end].key) != 0 || all[end].nth != all[first].nth) break;
        if (!complete(c, all, first, end)) return false;
        for (size_t i = first; i < end; i++) c->reduction[c->base[all[i].tile] + all[i].index] = c->num_reductions;
        c->num_reductions++;
    }
    return true;
}

static uint32_t next_reduce(const program_tile *t, uint32_t from) {
    while (from < t->count && t->instrs[from].op != OP_REDUCE) from++;
    return from;
}

static uint32_t area(const instr_t *i) {
    return (uint32_t)((i->rect.x1 - i->rect.x0 + 1) * (i->rect.y1 - i->rect.y0 + 1));
}

// Every tile offers its next reduction; one that all its tiles offer is done. What is left has no common order.
static bool common_order(check_ctx *c, uint32_t *offers) {
    uint32_t at[PROGRAM_TILES];
    const program_tile *tiles = c->p->tiles;
    for (int t = 0; t < PROGRAM_TILES; t++) {
        at[t] = next_reduce(&tiles[t], 0);
        if (at[t] < tiles[t].count) offers[c->reduction[c->base[t] + at[t]]]++;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int t = 0; t < PROGRAM_TILES; t++)
            while (at[t] < tiles[t].count &&
                   offers[c->reduction[c->base[t] + at[t]]] == area(&tiles[t].instrs[at[t]])) {
                moved = true;
                at[t] = next_reduce(&tiles[t], at[t] + 1);
                if (at[t] < tiles[t].count) offers[c->reduction[c->base[t] + at[t]]]++;
            }
    }
    for (int t = 0; t < PROGRAM_TILES; t++) {
        if (at[t] >= tiles[t].count) continue;
        rect_t r = tiles[t].instrs[at[t]].rect;
        for (int o = 0; o < PROGRAM_TILES; o++) {
            int x = o % CFG_TILES_X, y = o / CFG_TILES_X;
            if (x < r.x0 || x > r.x1 || y < r.y0 || y > r.y1 || at[o] >= tiles[o].count) continue;
            if (c->reduction[c->base[o] + at[o]] != c->reduction[c->base[t] + at[t]])
                return program_refuse(
                    c, t, at[t],
                    "tile %d %d issues another reduction first (its instruction %u): tiles must issue "
                    "reductions in one order",
                    x, y, at[o]);
        }
    }
    return true;
}

bool program_check_reductions(check_ctx *c) {
    size_t count = collect(c->p, NULL);
    issue_t *all = calloc(count + 1, sizeof *all);
    uint32_t *offers = calloc(count + 1, sizeof *offers);
    bool ok = all && offers;
    if (ok) {
        collect(c->p, all);
        number_turns(all, count);
        ok = number_reductions(c, all, count) && common_order(c, offers);
    } else {
        snprintf(c->error, PROGRAM_ERROR, "no memory for the check of %zu reductions", count);
    }
    free(all);
    free(offers);
    return ok;
}
