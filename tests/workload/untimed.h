// A chip without time that runs the programs of a kernel: whatever the semaphores leave open happens in random order
// and as late as it may. Operands are read from the rows as docs/architecture.md lays them out, with csim/numerics.
#ifndef TESTS_WORKLOAD_UNTIMED_H
#define TESTS_WORKLOAD_UNTIMED_H
#include <stdlib.h>
#include <string.h>

#include "numerics/num.h"
#include "numerics/num_fp32.h"
#include "common/seed.h"
#include "workload/kernel.h"

enum { UT_SRAM = CFG_BANKS * CFG_BANK_ROWS, UT_PENDING = 4096, UT_FLIGHTS = 256 };

typedef struct {
    const instr_t *items[UT_PENDING];
    uint32_t head, count;
} ut_queue;

typedef struct {
    row_t sram[UT_SRAM];
    uint32_t sem[CFG_NUM_SEMS], arrived[CFG_NUM_TAGS];
    uint32_t pc;
    ut_queue queue[NUM_ENGINES];
    ut_queue matmuls;                    // taken from the queue, not executed: MATMUL and SIGNAL, in order
    const instr_t *moves[CFG_NUM_SLOTS]; // outstanding LOADs and STOREs
    uint32_t reduces;                    // issued
} ut_tile;

// Rows on their way to a tile; a reduction waits for all its shares first.
typedef struct {
    bool used;
    int tile;
    uint32_t shares, want, number; // of a reduction: those here, of how many; its number at its rectangle
    rect_t rect;
    uint16_t addr, rows;
    uint8_t tag;
    row_t *data, *by_row[CFG_TILES_Y]; // a reduction's share of each mesh row
    uint8_t root_y;
} ut_flight;

typedef struct {
    ut_tile tiles[KERNEL_TILES];
    ut_flight flights[UT_FLIGHTS];
    hbm mem;
    rng_t rng;
    uint64_t macs, loaded, stored; // of the instructions executed
    const char *fault;
} ut_chip;

static inline ut_chip *ut_new(uint64_t seed) {
    ut_chip *c = calloc(1, sizeof *c);
    c->rng = (rng_t){seed * 2 + 1};
    hbm_init(&c->mem);
    for (int t = 0; t < KERNEL_TILES; t++) // nothing in SRAM may matter before it is written
        for (int r = 0; r < UT_SRAM; r++)
            for (int w = 0; w < ROW_WORDS; w++) c->tiles[t].sram[r].w[w] = rng_next(&c->rng) | 0x7F007F007F007F00u;
    return c;
}

static inline void ut_free(ut_chip *c) {
    for (int f = 0; f < UT_FLIGHTS; f++) {
        free(c->flights[f].data);
        for (int y = 0; y < CFG_TILES_Y; y++) free(c->flights[f].by_row[y]);
    }
    hbm_free(&c->mem);
    free(c);
}

// ---- the matmul engine
static inline uint16_t ut_bits(const row_t *rows, uint32_t at, int width) {
    return (uint16_t)(rows[at / 256].w[at % 256 / 64] >> at % 64 & ((1u << width) - 1));
}

static inline uint16_t ut_w_code(const ut_tile *t, const instr_t *i, uint32_t block, uint32_t col, uint32_t k) {
    const row_t *w = &t->sram[i->addr_w];
    if (i->fmt_w == FMT_BF16) return ut_bits(w + block * 2 * CFG_COLS + 2 * col + k / 16, k % 16 * 16, 16);
    if (i->fmt_w == FMT_E2M1 || i->fmt_w == FMT_INT4)
        return ut_bits(w + block * (CFG_COLS / 2) + col / 2, col % 2 * 128 + k * 4, 4);
    return ut_bits(w + block * CFG_COLS + col, k * 8, 8);
}

static inline uint16_t ut_a_code(const ut_tile *t, const instr_t *i, uint32_t kb, uint32_t m, uint32_t k) {
    int width = num_fmt_bits((fmt_id)i->fmt_a);
    uint32_t r = i->fmt_a == FMT_BF16 ? 2 : 1;
    return ut_bits(&t->sram[i->addr_a + (kb * i->m + m) * r], k * (uint32_t)width, width);
}

static inline uint32_t ut_element(const ut_tile *t, const instr_t *i, uint32_t n, uint32_t m, uint32_t acc) {
    uint32_t blocks = (i->k + 31u) / 32;
    for (uint32_t kb = 0; kb < blocks; kb++) {
        uint16_t a[NUM_BLOCK], w[NUM_BLOCK], as, ws;
        uint32_t block = n / CFG_COLS * blocks + kb, col = n % CFG_COLS;
        for (uint32_t k = 0; k < NUM_BLOCK; k++) {
            a[k] = ut_a_code(t, i, kb, m, k);
            w[k] = ut_w_code(t, i, block, col, k);
        }
        as = i->scale_a ? ut_bits(&t->sram[i->addr_as], (kb * ((i->m + 31u) & ~31u) + m) * 8, 8) : 0;
        int width = i->scale_w == SCALE_BF16 ? 16 : 8;
        ws = i->scale_w ? ut_bits(&t->sram[i->addr_ws], (block * CFG_COLS + col) * (uint32_t)width, width) : 0;
        acc = num_accumulate(acc, num_block_dot((fmt_id)i->fmt_a, a, (fmt_id)i->fmt_w, w),
                             num_decode_scale((scale_id)i->scale_a, as), num_decode_scale((scale_id)i->scale_w, ws));
    }
    return acc;
}

static inline void ut_matmul(ut_chip *c, ut_tile *t, const instr_t *i) {
    for (uint32_t n = 0; n < i->n; n++)
        for (uint32_t m = 0; m < i->m; m++) {
            row_t *row = &t->sram[i->addr_c + (n / CFG_COLS * i->m + m) * (CFG_COLS / 8) + n % CFG_COLS / 8];
            uint32_t *y = (uint32_t *)row->w + n % 8;
            *y = ut_element(t, i, n, m, i->init ? *y : 0);
        }
    c->macs += (uint64_t)i->m * i->n * i->k;
}

// ---- flights
static inline ut_flight *ut_new_flight(ut_chip *c, int tile, const instr_t *i) {
    for (int f = 0; f < UT_FLIGHTS; f++)
        if (!c->flights[f].used) {
            c->flights[f] = (ut_flight){.used = true, .tile = tile, .addr = i->addr_c, .rows = i->rows, .tag = i->tag};
            return &c->flights[f];
        }
    c->fault = "too many flights";
    return NULL;
}

static inline row_t *ut_copy(const row_t *rows, uint32_t count) {
    row_t *copy = malloc(count * sizeof *copy);
    memcpy(copy, rows, count * sizeof *copy);
    return copy;
}

static inline void ut_multicast(ut_chip *c, ut_tile *t, const instr_t *i) {
    for (int y = i->rect.y0; y <= i->rect.y1; y++)
        for (int x = i->rect.x0; x <= i->rect.x1; x++) {
            ut_flight *f = ut_new_flight(c, y * CFG_TILES_X + x, i);
            if (f) f->data = ut_copy(&t->sram[i->addr_a], i->rows);
        }
}

// Reductions over a mesh column only. The shares meet in ut_deliver.
static inline void ut_reduce(ut_chip *c, int tile, const instr_t *i) {
    ut_tile *t = &c->tiles[tile];
    uint32_t number = t->reduces++;
    ut_flight *f = NULL;
    for (int j = 0; j < UT_FLIGHTS && !f; j++) {
        ut_flight *g = &c->flights[j];
        if (g->used && g->want && g->number == number && !memcmp(&g->rect, &i->rect, sizeof g->rect)) f = g;
    }
    if (!f && (f = ut_new_flight(c, i->root.y * CFG_TILES_X + i->root.x, i))) {
        f->want = (uint32_t)(i->rect.y1 - i->rect.y0 + 1);
        f->number = number;
        f->rect = i->rect;
        f->root_y = i->root.y;
    }
    if (!f) return;
    if (i->rect.x0 != i->rect.x1 || f->root_y != i->root.y || f->addr != i->addr_c || f->rows != i->rows)
        c->fault = "shares of a reduction differ";
    f->by_row[tile / CFG_TILES_X] = ut_copy(&t->sram[i->addr_a], i->rows);
    f->shares++;
}

// One float32 of the sum: each router adds its own share to what comes from the far end, the root north, then south.
static inline uint32_t ut_sum(const ut_flight *f, uint32_t word) {
    int root = f->root_y;
#define UT_SHARE(y) ((const uint32_t *)f->by_row[y])[word]
    uint32_t north = UT_SHARE(f->rect.y1), south = UT_SHARE(f->rect.y0), sum = UT_SHARE(root);
    for (int y = f->rect.y1 - 1; y > root; y--) north = num_fp32_add(UT_SHARE(y), north);
    for (int y = f->rect.y0 + 1; y < root; y++) south = num_fp32_add(UT_SHARE(y), south);
#undef UT_SHARE
    if (root < f->rect.y1) sum = num_fp32_add(sum, north);
    if (root > f->rect.y0) sum = num_fp32_add(sum, south);
    return sum;
}

static inline bool ut_deliver(ut_chip *c, ut_flight *f) {
    if (!f->used || f->shares < f->want) return false;
    ut_tile *t = &c->tiles[f->tile];
    if (f->want) {
        uint32_t *out = (uint32_t *)t->sram[f->addr].w;
        for (uint32_t i = 0; i < f->rows * 8u; i++) out[i] = ut_sum(f, i);
    } else {
        memcpy(&t->sram[f->addr], f->data, f->rows * sizeof(row_t));
    }
    t->arrived[f->tag] += f->rows;
    free(f->data);
    for (int y = 0; y < CFG_TILES_Y; y++) free(f->by_row[y]);
    *f = (ut_flight){0};
    return true;
}

// ---- the move engine
static inline bool ut_move_busy(const ut_tile *t) {
    for (int s = 0; s < CFG_NUM_SLOTS; s++)
        if (t->moves[s]) return true;
    return false;
}

static inline bool ut_finish_move(ut_chip *c, ut_tile *t, int slot) {
    const instr_t *i = t->moves[slot];
    if (!i) return false;
    int port = i->rect.y0 + (i->to == TO_EAST ? CFG_TILES_Y : 0);
    if (i->hbm_addr + i->rows > c->mem.ports[port].num_rows) {
        c->fault = "outside of the HBM";
        return false;
    }
    row_t *rows = hbm_rows(&c->mem, port, i->hbm_addr, i->rows);
    if (i->op == OP_LOAD) {
        memcpy(&t->sram[i->addr_c], rows, i->rows * sizeof *rows);
        c->loaded += i->rows;
    } else {
        memcpy(rows, &t->sram[i->addr_a], i->rows * sizeof *rows);
        c->stored += i->rows;
    }
    t->moves[slot] = NULL;
    return true;
}

// ---- engines
static inline bool ut_start(ut_chip *c, int tile, const instr_t *i) {
    ut_tile *t = &c->tiles[tile];
    if (i->op == OP_WAIT) {
        if (t->sem[i->sem] < i->count) return false;
        t->sem[i->sem] -= i->count;
        return true;
    }
    if (i->engine == ENG_MATMUL) { // MATMUL and SIGNAL run later, in order
        if (t->matmuls.count == 8) return false;
        t->matmuls.items[(t->matmuls.head + t->matmuls.count++) % UT_PENDING] = i;
        return true;
    }
    switch (i->op) {
    case OP_SIGNAL:
        if (i->engine == ENG_MOVE && ut_move_busy(t)) return false;
        t->sem[i->sem] += i->count;
        return true;
    case OP_LOAD:
    case OP_STORE:
        for (int s = 0; s < CFG_NUM_SLOTS; s++)
            if (!t->moves[s]) {
                t->moves[s] = i;
                return true;
            }
        return false;
    case OP_MULTICAST:
        ut_multicast(c, t, i);
        return true;
    case OP_REDUCE:
        ut_reduce(c, tile, i);
        return true;
    case OP_RECEIVE:
        if (t->arrived[i->tag] < i->rows) return false;
        t->arrived[i->tag] -= i->rows;
        return true;
    default:
        c->fault = "unknown operation";
        return false;
    }
}

static inline bool ut_engine(ut_chip *c, int tile, int engine) {
    ut_queue *q = &c->tiles[tile].queue[engine];
    if (!q->count || !ut_start(c, tile, q->items[q->head % UT_PENDING])) return false;
    q->head = (q->head + 1) % UT_PENDING;
    q->count--;
    return true;
}

static inline bool ut_matmul_finish(ut_chip *c, ut_tile *t) {
    ut_queue *q = &t->matmuls;
    if (!q->count) return false;
    const instr_t *i = q->items[q->head % UT_PENDING];
    if (i->op == OP_SIGNAL)
        t->sem[i->sem] += i->count;
    else
        ut_matmul(c, t, i);
    q->head = (q->head + 1) % UT_PENDING;
    q->count--;
    return true;
}

static inline bool ut_dispatch(ut_tile *t, const kernel_tile *p) {
    if (t->pc >= p->count || p->instrs[t->pc].op == OP_END) return false;
    ut_queue *q = &t->queue[p->instrs[t->pc].engine];
    if (q->count == CFG_QUEUE_DEPTH) return false;
    q->items[(q->head + q->count++) % UT_PENDING] = &p->instrs[t->pc++];
    return true;
}

// Actions of a tile: dispatch, four engines, finish a matmul, finish a move; and one for each flight.
enum { UT_ACTIONS = 1 + NUM_ENGINES + 1 + CFG_NUM_SLOTS, UT_ALL = KERNEL_TILES * UT_ACTIONS + UT_FLIGHTS };

static inline bool ut_act(ut_chip *c, const kernel_program *p, int action) {
    if (action >= KERNEL_TILES * UT_ACTIONS) return ut_deliver(c, &c->flights[action - KERNEL_TILES * UT_ACTIONS]);
    int tile = action / UT_ACTIONS, what = action % UT_ACTIONS;
    ut_tile *t = &c->tiles[tile];
    if (what == 0) return ut_dispatch(t, &p->tiles[tile]);
    if (what <= NUM_ENGINES) return ut_engine(c, tile, what - 1);
    if (what == NUM_ENGINES + 1) return ut_matmul_finish(c, t);
    return ut_finish_move(c, t, what - NUM_ENGINES - 2);
}

static inline bool ut_left_over(const ut_chip *c, const kernel_program *p) {
    for (int t = 0; t < KERNEL_TILES; t++) {
        const ut_tile *tile = &c->tiles[t];
        if (tile->pc + 1 != p->tiles[t].count || ut_move_busy(tile) || tile->matmuls.count) return true;
        for (int e = 0; e < NUM_ENGINES; e++)
            if (tile->queue[e].count) return true;
        for (int s = 0; s < CFG_NUM_SEMS; s++)
            if (tile->sem[s]) return true;
        for (int g = 0; g < CFG_NUM_TAGS; g++)
            if (tile->arrived[g]) return true;
    }
    return false;
}

// Runs one program to its end; what is wrong with it, or NULL. Nothing may be left in queues, semaphores, arrivals.
static inline const char *ut_run(ut_chip *c, const kernel_program *p) {
    for (int t = 0; t < KERNEL_TILES; t++) c->tiles[t].pc = c->tiles[t].reduces = 0;
    for (bool moved = true; moved && !c->fault;) {
        moved = false;
        // some actions at random, then all from a random one on, so that nothing that can move is overlooked
        for (int i = 0; i < 8; i++) moved |= ut_act(c, p, (int)rng_below(&c->rng, KERNEL_TILES * UT_ACTIONS));
        int first = (int)rng_below(&c->rng, UT_ALL);
        for (int i = 0; i < UT_ALL && !moved; i++) moved = ut_act(c, p, (first + i) % UT_ALL);
    }
    if (c->fault) return c->fault;
    return ut_left_over(c, p) ? "deadlock, or semaphores and arrivals left over" : NULL;
}

// The whole kernel.
static inline const char *ut_run_kernel(ut_chip *c, const kernel *k) {
    if (!kernel_place(k, &c->mem)) return "no memory";
    for (uint32_t p = 0; p < k->num_programs; p++) {
        const char *fault = ut_run(c, &k->programs[p]);
        if (fault) return fault;
    }
    return NULL;
}
#endif
