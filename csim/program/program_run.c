// A program executed without time: sequencers dispatch into queues of CFG_QUEUE_DEPTH, engines take one instruction
// after the other, WAIT, RECEIVE and REDUCE block. What is not finished when nothing can move any more is a deadlock.
// Where two engines of a tile wait for one semaphore this is one of several orders that the hardware may take.
#include "program/program_check.h"
#include "program/program_text.h"

#include <stdlib.h>

typedef struct {
    uint32_t items[CFG_QUEUE_DEPTH]; // instruction numbers
    uint32_t head, count;
    bool joined; // the REDUCE at the head is counted
} run_queue;

typedef struct {
    run_queue queue[NUM_ENGINES];
    uint64_t sem[CFG_NUM_SEMS], arrived[CFG_NUM_TAGS];
    uint32_t pc;
} run_tile;

typedef struct {
    check_ctx *c;
    run_tile *tiles;
    uint32_t *joined; // per reduction: tiles that stand at it
} run_t;

static void arrive(run_t *r, const instr_t *i) {
    for (int y = i->rect.y0; y <= i->rect.y1; y++)
        for (int x = i->rect.x0; x <= i->rect.x1; x++) r->tiles[y * CFG_TILES_X + x].arrived[i->tag] += i->rows;
}

static bool reduce(run_t *r, int tile, run_queue *q, uint32_t index, const instr_t *i) {
    uint32_t *joined = &r->joined[r->c->reduction[r->c->base[tile] + index]];
    uint32_t all = (uint32_t)((i->rect.x1 - i->rect.x0 + 1) * (i->rect.y1 - i->rect.y0 + 1));
    if (!q->joined) {
        q->joined = true;
        if (++*joined == all) r->tiles[i->root.y * CFG_TILES_X + i->root.x].arrived[i->tag] += i->rows;
    }
    if (*joined < all) return false;
    q->joined = false;
    return true;
}

// Whether the instruction at the head of a queue completes.
static bool execute(run_t *r, int tile, run_queue *q, uint32_t index) {
    run_tile *t = &r->tiles[tile];
    const instr_t *i = &r->c->p->tiles[tile].instrs[index];
    switch (i->op) {
    case OP_WAIT:
        if (t->sem[i->sem] < i->count) return false;
        t->sem[i->sem] -= i->count;
        return true;
    case OP_SIGNAL:
        t->sem[i->sem] += i->count;
        return true;
    case OP_RECEIVE:
        if (t->arrived[i->tag] < i->rows) return false;
        t->arrived[i->tag] -= i->rows;
        return true;
    case OP_SEND:
    case OP_MULTICAST:
        arrive(r, i);
        return true;
    case OP_REDUCE:
        return reduce(r, tile, q, index, i);
    default:
        return true;
    }
}

// Runs a tile as far as it goes by itself; whether anything moved.
static bool advance(run_t *r, int tile) {
    run_tile *t = &r->tiles[tile];
    const program_tile *p = &r->c->p->tiles[tile];
    bool any = false;
    for (bool moved = true; moved; any |= moved) {
        moved = false;
        while (t->pc < p->count && p->instrs[t->pc].op != OP_END) {
            run_queue *q = &t->queue[p->instrs[t->pc].engine];
            if (q->count == CFG_QUEUE_DEPTH) break;
            q->items[(q->head + q->count++) % CFG_QUEUE_DEPTH] = t->pc++;
            moved = true;
        }
        for (int e = 0; e < NUM_ENGINES; e++) {
            run_queue *q = &t->queue[e];
            while (q->count && execute(r, tile, q, q->items[q->head])) {
                q->head = (q->head + 1) % CFG_QUEUE_DEPTH;
                q->count--;
                moved = true;
            }
        }
    }
    return any;
}

static bool stuck(run_t *r, int tile, int engine) {
    const run_tile *t = &r->tiles[tile];
    const run_queue *q = &t->queue[engine];
    const program_tile *p = &r->c->p->tiles[tile];
    uint32_t index = q->items[q->head];
    const instr_t *i = &p->instrs[index];
    char full[96] = "", what[96];
    if (t->pc < p->count && p->instrs[t->pc].op != OP_END)
        snprintf(full, sizeof full, "; the queue of %s is full, so instruction %u is not dispatched",
                 engine_names[p->instrs[t->pc].engine], t->pc);
    if (i->op == OP_WAIT)
        snprintf(what, sizeof what, "waits for s%u to reach %u, it stays at %llu", i->sem, i->count,
                 (unsigned long long)t->sem[i->sem]);
    else if (i->op == OP_RECEIVE)
        snprintf(what, sizeof what, "waits for %u rows of tag %u, %llu arrive", i->rows, i->tag,
                 (unsigned long long)t->arrived[i->tag]);
    else
        snprintf(what, sizeof what, "waits for the other tiles of the reduction");
    return program_refuse(r->c, tile, index, "deadlock: %s%s", what, full);
}

bool program_check_run(check_ctx *c) {
    run_t r = {.c = c};
    r.tiles = calloc(PROGRAM_TILES, sizeof *r.tiles);
    r.joined = calloc((size_t)c->num_reductions + 1, sizeof *r.joined);
    bool ok = r.tiles && r.joined;
    if (!ok) snprintf(c->error, PROGRAM_ERROR, "no memory for the check of deadlocks");
    for (bool moved = ok; moved;) {
        moved = false;
        for (int tile = 0; tile < PROGRAM_TILES; tile++) moved |= advance(&r, tile);
    }
    for (int tile = 0; ok && tile < PROGRAM_TILES; tile++)
        for (int e = 0; ok && e < NUM_ENGINES; e++)
            if (r.tiles[tile].queue[e].count) ok = stuck(&r, tile, e);
    free(r.tiles);
    free(r.joined);
    return ok;
}
