// The instructions of a pass. They stand in the order in which they can run, because the sequencer hands them out in
// that order and stops at a full queue; semaphores say the rest.
#include <stdlib.h>
#include <string.h>

#include "workload/kernel_build.h"

// Semaphores of a tile; who signals -> who waits.
enum {
    S_A_LOADED,  // move -> send: a piece of the activations is here
    S_A_READY,   // recv or move -> matmul: all activations are here
    S_W_READY,   // move -> matmul: the next chunk's weights are here and its result buffer is free
    S_DONE,      // matmul -> move: a chunk is done
    S_STORED,    // move -> move: the result is out, initial values may come
    S_PARTIAL,   // matmul -> send: a chunk's partial sums are here
    S_C_FREE,    // send -> matmul: they have left
    S_LANDED,    // recv -> move: a sum has arrived
    S_LAND_FREE, // move -> send: the sum is stored
    NUM_USED
};
_Static_assert(NUM_USED <= CFG_NUM_SEMS && CFG_NUM_TAGS >= 3, "semaphores and tags of a kernel");
enum { TAG_A, TAG_SUM }; // TAG_SUM + 1 as well: a tag for each of the two sums that may be on their way

typedef struct {
    kernel_builder *b;
    const kernel_plan *p;
    const kernel_pass *pass;
    int tile;
    kernel_tile *list;
} emitter;

static void add(emitter *e, instr_t i) {
    kernel_tile *t = e->list;
    if (t->count == t->capacity) {
        uint32_t capacity = t->capacity ? 2 * t->capacity : 64;
        instr_t *instrs = realloc(t->instrs, capacity * sizeof *instrs);
        if (!instrs) {
            e->b->failed = true;
            return;
        }
        t->instrs = instrs;
        t->capacity = capacity;
    }
    t->instrs[t->count++] = i;
}

static void wait_for(emitter *e, engine_id engine, uint8_t sem) {
    add(e, (instr_t){.op = OP_WAIT, .engine = engine, .sem = sem, .count = 1});
}

static void signal_to(emitter *e, engine_id engine, uint8_t sem) {
    add(e, (instr_t){.op = OP_SIGNAL, .engine = engine, .sem = sem, .count = 1});
}

static void move_rows(emitter *e, op_id op, int tile, uint32_t hbm_row, uint32_t sram, uint32_t rows) {
    add(e, plan_hbm_access(op, plan_port(tile), hbm_row, sram, rows));
}

// ---- activations: loaded by one tile in pieces, each sent to all while the next one loads
static void a_piece(emitter *e, uint32_t hbm_row, uint32_t sram, uint32_t rows) {
    node_t source = plan_source(e->p, e->tile);
    rect_t to = plan_audience(e->p, e->tile);
    bool is_source = e->tile == source.y * CFG_TILES_X + source.x;
    bool alone = to.x0 == to.x1 && to.y0 == to.y1;
    if (is_source) {
        move_rows(e, OP_LOAD, e->tile, hbm_row, sram, rows);
        e->b->k->traffic.a += rows;
    }
    if (alone) return;
    if (is_source) {
        signal_to(e, ENG_MOVE, S_A_LOADED);
        wait_for(e, ENG_SEND, S_A_LOADED);
        add(e, (instr_t){.op = OP_MULTICAST,
                         .engine = ENG_SEND,
                         .rows = (uint16_t)rows,
                         .addr_a = (uint16_t)sram,
                         .addr_c = (uint16_t)sram,
                         .rect = to,
                         .tag = TAG_A});
    }
    add(e, (instr_t){.op = OP_RECEIVE, .engine = ENG_RECV, .rows = (uint16_t)rows, .tag = TAG_A});
}

static void load_activations(emitter *e) {
    const kernel_pass *s = e->pass;
    span_t blocks = plan_blocks(e->p, e->tile, s->phase);
    uint32_t rows = (blocks.end - blocks.first) * s->m * e->p->a_rows_k;
    uint32_t as_rows = plan_as_rows(e->p, s->m, blocks.end - blocks.first);
    uint32_t hbm_row =
        e->b->a_rows[(s->m_index * e->p->phases + s->phase) * KERNEL_SOURCES + plan_source(e->p, e->tile).y];
    uint32_t piece = ceil_div(rows, min_u32(BUILD_A_PIECES, ceil_div(rows, 256)));
    for (uint32_t at = 0; at < rows; at += piece) a_piece(e, hbm_row + at, at, min_u32(piece, rows - at));
    uint64_t before = e->b->k->traffic.a;
    if (as_rows) a_piece(e, hbm_row + rows, e->p->addr_as, as_rows);
    e->b->k->traffic.a_scales += e->b->k->traffic.a - before;
    e->b->k->traffic.a = before;
    bool alone = e->p->split_k ? CFG_TILES_X == 1 : KERNEL_TILES == 1;
    signal_to(e, alone ? ENG_MOVE : ENG_RECV, S_A_READY);
    wait_for(e, ENG_MATMUL, S_A_READY);
}

// ---- chunks of weights
static uint32_t c_rows(const emitter *e, span_t tiles) {
    return (tiles.end - tiles.first) * e->pass->m * C_ROWS;
}

// SRAM row of the results of a chunk; those of several phases stay where they are.
static uint32_t c_addr(const emitter *e, uint32_t chunk) {
    if (e->p->phases > 1) return e->p->addr_c[0] + chunk * e->p->chunk * e->pass->m * C_ROWS;
    return e->p->addr_c[chunk & 1];
}

static bool initial_values(const emitter *e) {
    return e->p->has_init && e->pass->phase == 0;
}

static void load_initial(emitter *e, uint32_t chunk, span_t tiles) {
    uint32_t rows = c_rows(e, tiles), row;
    row_t *at = build_rows(e->b, plan_port(e->tile), rows, &row);
    if (!at) return;
    for (uint32_t m = 0; m < e->pass->m; m += CFG_ROWS) {
        uint32_t part = min_u32(CFG_ROWS, e->pass->m - m);
        pack_c(e->b->o->init, e->p->spec.n, e->pass->m0 + m, part, tiles, at);
        at += (tiles.end - tiles.first) * part * C_ROWS;
    }
    move_rows(e, OP_LOAD, e->tile, row, c_addr(e, chunk), rows);
    e->b->k->traffic.init += rows;
}

static void load_weights(emitter *e, uint32_t chunk, span_t tiles) {
    span_t blocks = plan_blocks(e->p, e->tile, e->pass->phase);
    uint32_t count = (tiles.end - tiles.first) * (blocks.end - blocks.first), rows = count * e->p->w_rows_block;
    uint32_t ws_rows = plan_ws_rows(e->p, tiles.end - tiles.first, blocks.end - blocks.first);
    const weight_place *at = build_weights_at(e->b, e->tile, e->pass->group, e->pass->phase, chunk);
    move_rows(e, OP_LOAD, e->tile, at->w, e->p->addr_w[chunk & 1], rows);
    if (ws_rows) move_rows(e, OP_LOAD, e->tile, at->ws, e->p->addr_ws[chunk & 1], ws_rows);
    if (initial_values(e)) load_initial(e, chunk, tiles);
    e->b->k->traffic.w += rows;
    e->b->k->traffic.w_scales += ws_rows;
}

static void multiply(emitter *e, uint32_t chunk, span_t tiles) {
    const kernel_plan *p = e->p;
    const kernel_pass *s = e->pass;
    span_t blocks = plan_blocks(p, e->tile, s->phase);
    uint32_t n_blocks = blocks.end - blocks.first, first_col = tiles.first * CFG_COLS, a = 0, as = 0,
             c = c_addr(e, chunk);
    for (uint32_t m = 0; m < s->m; m += CFG_ROWS) {
        uint32_t part = min_u32(CFG_ROWS, s->m - m);
        add(e, (instr_t){.op = OP_MATMUL,
                         .engine = ENG_MATMUL,
                         .fmt_a = (uint8_t)p->spec.fmt_a,
                         .fmt_w = (uint8_t)p->spec.fmt_w,
                         .scale_a = (uint8_t)p->spec.scale_a,
                         .scale_w = (uint8_t)p->spec.scale_w,
                         .init = s->phase > 0 || p->has_init,
                         .m = (uint16_t)part,
                         .n = (uint16_t)min_u32(p->spec.n - first_col, (tiles.end - tiles.first) * CFG_COLS),
                         .k = (uint16_t)min_u32(p->spec.k - blocks.first * BLOCK, n_blocks * BLOCK),
                         .addr_a = (uint16_t)a,
                         .addr_as = (uint16_t)(p->addr_as + as),
                         .addr_w = p->addr_w[chunk & 1],
                         .addr_ws = p->addr_ws[chunk & 1],
                         .addr_c = (uint16_t)c});
        a += n_blocks * part * p->a_rows_k;
        as += n_blocks * (p->spec.scale_a == SCALE_NONE ? 0 : ceil_div(part, BLOCK));
        c += (tiles.end - tiles.first) * part * C_ROWS;
    }
}

static void store(emitter *e, span_t tiles, uint32_t sram) {
    kernel *k = e->b->k;
    uint32_t rows = c_rows(e, tiles), row;
    kernel_region *regions = realloc(k->regions, (k->num_regions + 1) * sizeof *regions);
    if (regions) k->regions = regions;
    if (!regions || !build_rows(e->b, plan_port(e->tile), rows, &row)) {
        e->b->failed = true;
        return;
    }
    regions[k->num_regions++] = (kernel_region){(uint8_t)plan_port(e->tile), row, e->pass->m0, e->pass->m, tiles.first,
                                                tiles.end - tiles.first};
    move_rows(e, OP_STORE, e->tile, row, sram, rows);
    k->traffic.result += rows;
}

// ---- steps of a chunk
static span_t chunk_of(const emitter *e, uint32_t chunk) {
    if (chunk >= e->pass->end) return (span_t){0, 0};
    return plan_chunk(e->p, e->tile, e->pass->group, chunk);
}

static bool is_empty(span_t s) {
    return s.first == s.end;
}

static void load_step(emitter *e, uint32_t chunk) {
    span_t tiles = chunk_of(e, chunk);
    if (is_empty(tiles)) return;
    load_weights(e, chunk, tiles);
    signal_to(e, ENG_MOVE, S_W_READY);
}

// The sums of a chunk meet at the tiles of the mesh column in turn.
static void reduce_step(emitter *e, uint32_t chunk, span_t tiles) {
    const kernel_pass *s = e->pass;
    uint8_t x = (uint8_t)(e->tile % CFG_TILES_X), y = (uint8_t)(e->tile / CFG_TILES_X);
    uint8_t root = (uint8_t)(chunk % CFG_TILES_Y);
    uint32_t turn = chunk / CFG_TILES_Y & 1;
    uint16_t land = e->p->addr_land[turn], rows = (uint16_t)c_rows(e, tiles);
    uint8_t tag = (uint8_t)(TAG_SUM + turn);
    wait_for(e, ENG_SEND, S_PARTIAL);
    if (y == root && chunk >= s->first + 2 * CFG_TILES_Y) wait_for(e, ENG_SEND, S_LAND_FREE);
    add(e, (instr_t){.op = OP_REDUCE,
                     .engine = ENG_SEND,
                     .rows = rows,
                     .addr_a = (uint16_t)c_addr(e, chunk),
                     .addr_c = land,
                     .rect = {x, 0, x, CFG_TILES_Y - 1},
                     .root = {x, root},
                     .tag = tag});
    if (!is_empty(chunk_of(e, chunk + 2))) signal_to(e, ENG_SEND, S_C_FREE);
    if (y != root) return;
    add(e, (instr_t){.op = OP_RECEIVE, .engine = ENG_RECV, .rows = rows, .tag = tag});
    signal_to(e, ENG_RECV, S_LANDED);
    wait_for(e, ENG_MOVE, S_LANDED);
    store(e, tiles, land);
    if (!is_empty(chunk_of(e, chunk + 2 * CFG_TILES_Y))) signal_to(e, ENG_MOVE, S_LAND_FREE);
}

static void chunk_step(emitter *e, uint32_t chunk) {
    span_t tiles = chunk_of(e, chunk), next = chunk_of(e, chunk + 2);
    const kernel_plan *p = e->p;
    if (is_empty(tiles)) return;
    wait_for(e, ENG_MATMUL, S_W_READY);
    if (p->split_k && chunk >= e->pass->first + 2) wait_for(e, ENG_MATMUL, S_C_FREE);
    multiply(e, chunk, tiles);
    signal_to(e, ENG_MATMUL, S_DONE);
    if (p->split_k) signal_to(e, ENG_MATMUL, S_PARTIAL);
    wait_for(e, ENG_MOVE, S_DONE);
    bool stores = !p->split_k && e->pass->phase + 1 == p->phases;
    bool store_first = stores && !is_empty(next) && initial_values(e) && p->phases == 1;
    if (store_first) {
        store(e, tiles, c_addr(e, chunk));
        signal_to(e, ENG_MOVE, S_STORED);
        wait_for(e, ENG_MOVE, S_STORED);
    }
    if (!is_empty(next)) load_weights(e, chunk + 2, next);
    if (stores && !store_first) store(e, tiles, c_addr(e, chunk));
    if (!is_empty(next)) signal_to(e, ENG_MOVE, S_W_READY);
    if (p->split_k) reduce_step(e, chunk, tiles);
}

uint32_t build_chunk_instrs(const kernel_plan *p) {
    return ceil_div(p->m_group, CFG_ROWS) + (p->split_k ? 18 : 12);
}

void build_pass(kernel_builder *b, const kernel_pass *pass) {
    kernel *k = b->k;
    kernel_program *programs = realloc(k->programs, (k->num_programs + 1) * sizeof *programs);
    if (!programs) {
        b->failed = true;
        return;
    }
    k->programs = programs;
    kernel_program *program = &programs[k->num_programs++];
    memset(program, 0, sizeof *program);
    for (int tile = 0; tile < KERNEL_TILES && !b->failed; tile++) {
        emitter e = {.b = b, .p = b->p, .pass = pass, .tile = tile, .list = &program->tiles[tile]};
        if (pass->load_a) load_activations(&e);
        load_step(&e, pass->first);
        load_step(&e, pass->first + 1);
        for (uint32_t c = pass->first; c < pass->end; c++) chunk_step(&e, c);
        add(&e, (instr_t){.op = OP_END, .engine = ENG_SEQ});
    }
}
