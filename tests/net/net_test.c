// Move, send, recv and the network interface of every tile, twins all, in a mesh of routers with HBM ports on its
// edges: programs of several tiles, memory checked row by row.
#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"
#include "hbm/hbm.h"
#include "move/move.h"
#include "net/ni.h"
#include "net/recv.h"
#include "net/send.h"
#include "noc/mesh.h"

enum { X = CFG_TILES_X, Y = CFG_TILES_Y, TILES = X * Y, ROWS = 2048, STEPS = 64 };
enum { P_MOVE_R, P_MOVE_W, P_SEND, P_RECV, PORTS }; // memory ports; no two ever wait for a bank, but grants come late

typedef struct {
    instr_t list[STEPS];
    int n, next;
} queue;

typedef struct {
    move mv;
    send tx;
    recv rx;
    ni net;
    queue q[NUM_ENGINES];
    row_t mem[ROWS];
    mem_rsp rsp[PORTS];
    int signals[NUM_ENGINES];
    move_out mo;
    send_out so;
    recv_out ro;
    ni_out no;
} tile_t;

typedef struct {
    tile_t tiles[TILES];
    mesh m;
    hbm memory;
    rng_t rng;
    int hold; // grants come in one of `hold` cycles
    uint64_t cycle, injected, ejected;
} system_t;

static system_t *system_new(uint64_t seed, int hold) {
    system_t *s = calloc(1, sizeof *s);
    s->rng = rng_new(seed);
    s->hold = hold;
    cr_assert(mesh_init(&s->m, X, Y));
    hbm_init(&s->memory);
    for (int p = 0; p < HBM_PORTS; p++) {
        row_t *r = hbm_rows(&s->memory, p, 0, 1024);
        for (int i = 0; i < 1024; i++) r[i] = (row_t){{(uint64_t)p << 32 | (uint64_t)i, rng_next(&s->rng), 3, 4}};
    }
    for (int t = 0; t < TILES; t++) {
        node_t here = {(uint8_t)(t % X), (uint8_t)(t / X)};
        move_reset(&s->tiles[t].mv, here);
        send_reset(&s->tiles[t].tx, here);
        recv_reset(&s->tiles[t].rx);
        ni_reset(&s->tiles[t].net);
    }
    return s;
}

static void system_free(system_t *s) {
    mesh_free(&s->m);
    hbm_free(&s->memory);
    free(s);
}

static void program(system_t *s, int tile, instr_t instr) {
    queue *q = &s->tiles[tile].q[instr.engine];
    q->list[q->n++] = instr;
}

static void memory_cycle(system_t *s, tile_t *t, int port, const mem_req *req, mem_rsp *now) {
    *now = t->rsp[port];
    t->rsp[port] = (mem_rsp){0};
    now->gnt = req->valid && rng_below(&s->rng, (uint64_t)s->hold) == 0;
    if (!now->gnt) return;
    cr_assert_lt(req->addr, ROWS);
    if (req->we)
        t->mem[req->addr] = req->wdata;
    else
        t->rsp[port] = (mem_rsp){.rvalid = true, .rdata = t->mem[req->addr]};
}

static const instr_t *head(const queue *q) {
    return q->next < q->n ? &q->list[q->next] : NULL;
}

static void tile_cycle(system_t *s, int index) {
    tile_t *t = &s->tiles[index];
    move_events mev;
    send_events sev;
    recv_events rev;
    move_in mi = {.flit_ready = t->no.ready[NI_MOVE],
                  .load_row = t->ro.load_row,
                  .load_slot = t->ro.load_slot,
                  .ack = t->ro.ack,
                  .ack_slot = t->ro.ack_slot,
                  .wait_gnt = true};
    send_in si = {.flit_ready = t->no.ready[NI_SEND], .left = t->no.left, .wait_gnt = true};
    recv_in ri = {.flit_valid = t->no.flit_valid, .wait_gnt = true};
    ni_in ni_input = {.valid = {t->so.flit_valid, t->mo.flit_valid},
                      .credit = s->m.credit_out[index][NOC_LOCAL],
                      .link = s->m.out[index][NOC_LOCAL],
                      .flit_ready = t->ro.flit_ready};
    if (t->so.flit_valid) ni_input.flit[NI_SEND] = t->so.flit;
    if (t->mo.flit_valid) ni_input.flit[NI_MOVE] = t->mo.flit;
    if (t->no.flit_valid) ri.flit = t->no.flit;
    memory_cycle(s, t, P_MOVE_R, &t->mo.req[MOVE_R], &mi.rsp[MOVE_R]);
    memory_cycle(s, t, P_MOVE_W, &t->mo.req[MOVE_W], &mi.rsp[MOVE_W]);
    memory_cycle(s, t, P_SEND, &t->so.req, &si.rsp);
    memory_cycle(s, t, P_RECV, &t->ro.req, &ri.rsp);
    const instr_t *m = head(&t->q[ENG_MOVE]), *x = head(&t->q[ENG_SEND]), *r = head(&t->q[ENG_RECV]);
    if ((mi.instr_valid = m != NULL)) mi.instr = *m;
    if ((si.instr_valid = x != NULL)) si.instr = *x;
    if ((ri.instr_valid = r != NULL)) ri.instr = *r;
    t->q[ENG_MOVE].next += m && t->mo.instr_ready;
    t->q[ENG_SEND].next += x && t->so.instr_ready;
    t->q[ENG_RECV].next += r && t->ro.instr_ready;
    t->signals[ENG_MOVE] += t->mo.signal_valid;
    t->signals[ENG_SEND] += t->so.signal_valid;
    t->signals[ENG_RECV] += t->ro.signal_valid;
    s->injected += t->no.link.valid;
    s->ejected += ri.flit_valid && t->ro.flit_ready;
    s->m.in[index][NOC_LOCAL] = t->no.link;
    s->m.credit_in[index][NOC_LOCAL] = t->no.credit;
    move_step(&t->mv, &mi, &mev);
    send_step(&t->tx, &si, &sev);
    recv_step(&t->rx, &ri, &rev);
    ni_step(&t->net, &ni_input);
}

// True while anything moves.
static bool system_cycle(system_t *s) {
    link_t to_hbm[HBM_PORTS];
    credit_t back[HBM_PORTS];
    bool busy = !hbm_idle(&s->memory) || !mesh_empty(&s->m);
    mesh_peek(&s->m);
    for (int t = 0; t < TILES; t++) {
        tile_t *tile = &s->tiles[t];
        move_peek(&tile->mv, &tile->mo);
        send_peek(&tile->tx, &tile->so);
        recv_peek(&tile->rx, &tile->ro);
        ni_peek(&tile->net, &tile->no);
        busy |= tile->mo.busy || tile->so.busy || tile->ro.busy || tile->no.busy;
        for (int e = 0; e < NUM_ENGINES; e++) busy |= tile->q[e].next < tile->q[e].n;
    }
    for (int p = 0; p < HBM_PORTS; p++) {
        int y = p % Y, side = p < Y ? NOC_WEST : NOC_EAST, t = y * X + (p < Y ? 0 : X - 1);
        to_hbm[p] = s->m.out[t][side];
        back[p] = s->m.credit_out[t][side];
        hbm_peek(&s->memory, p, &s->m.in[t][side], &s->m.credit_in[t][side]);
    }
    for (int t = 0; t < TILES; t++) tile_cycle(s, t);
    hbm_step(&s->memory, to_hbm, back);
    mesh_step(&s->m);
    s->cycle++;
    return busy;
}

static void run(system_t *s, uint64_t limit) {
    do cr_assert_lt(s->cycle, limit, "hangs");
    while (system_cycle(s));
    cr_assert(!s->memory.error, "%s", s->memory.text);
    for (int t = 0; t < TILES; t++)
        cr_assert(!s->tiles[t].mo.error && !s->tiles[t].so.error && !s->tiles[t].ro.error, "tile %d", t);
}

static void same_row(const row_t *got, const row_t *want, const char *what, int tile, int row) {
    cr_assert_eq(memcmp(got, want, ROW_BYTES), 0, "%s: tile %d, row %d: got %llx, want %llx", what, tile, row,
                 (unsigned long long)got->w[0], (unsigned long long)want->w[0]);
}

// Every tile loads from every port, stores what came to another place, loads that again through the port: the same
// rows.
static void hbm_round_trip(uint64_t seed, int hold) {
    system_t *s = system_new(seed, hold);
    for (int t = 0; t < TILES; t++) {
        for (int p = 0; p < HBM_PORTS; p++) {
            instr_t load = {.op = OP_LOAD,
                            .engine = ENG_MOVE,
                            .rows = 37,
                            .addr_c = (uint16_t)(40 * p),
                            .hbm_addr = (uint32_t)(t + 3 * p),
                            .to = p < Y ? TO_WEST : TO_EAST,
                            .rect = {.y0 = (uint8_t)(p % Y)}};
            program(s, t, load);
        }
        program(s, t, (instr_t){.op = OP_SIGNAL, .engine = ENG_MOVE});
        for (int p = 0; p < HBM_PORTS; p++)
            program(s, t,
                    (instr_t){.op = OP_STORE,
                              .engine = ENG_MOVE,
                              .rows = 37,
                              .addr_a = (uint16_t)(40 * p),
                              .hbm_addr = (uint32_t)(400 + 40 * t),
                              .to = p < Y ? TO_EAST : TO_WEST,
                              .rect = {.y0 = (uint8_t)(p % Y)}});
        program(s, t, (instr_t){.op = OP_SIGNAL, .engine = ENG_MOVE});
        for (int p = 0; p < HBM_PORTS; p++)
            program(s, t,
                    (instr_t){.op = OP_LOAD,
                              .engine = ENG_MOVE,
                              .rows = 37,
                              .addr_c = (uint16_t)(1000 + 40 * p),
                              .hbm_addr = (uint32_t)(400 + 40 * t),
                              .to = p < Y ? TO_EAST : TO_WEST,
                              .rect = {.y0 = (uint8_t)(p % Y)}});
    }
    run(s, 100000);
    for (int t = 0; t < TILES; t++) {
        cr_assert_eq(s->tiles[t].signals[ENG_MOVE], 2);
        for (int p = 0; p < HBM_PORTS; p++)
            for (int i = 0; i < 37; i++) {
                same_row(&s->tiles[t].mem[40 * p + i], &hbm_rows(&s->memory, p, 0, 1024)[t + 3 * p + i], "loaded", t,
                         i);
                same_row(&s->tiles[t].mem[1000 + 40 * p + i], &s->tiles[t].mem[40 * p + i], "stored and loaded", t, i);
            }
    }
    system_free(s);
}

Test(net, rows_go_to_hbm_and_back) {
    for (uint64_t seed = 1; seed <= 20; seed++) hbm_round_trip(seed, (int)(seed % 4) + 1);
}

// All tiles multicast to all, send to each other and reduce, while they load: every row is where it belongs.
static void storm(uint64_t seed, int hold) {
    system_t *s = system_new(seed, hold);
    const rect_t all = {0, 0, X - 1, Y - 1};
    for (int t = 0; t < TILES; t++) {
        for (int i = 0; i < 200; i++)
            for (int w = 0; w < 8; w++)
                ((uint32_t *)s->tiles[t].mem[i].w)[w] = i < 100 ? 0x3F800000 : (uint32_t)(t << 16 | i << 4 | w);
        program(s, t,
                (instr_t){.op = OP_LOAD,
                          .engine = ENG_MOVE,
                          .rows = 50,
                          .addr_c = 1900,
                          .to = TO_WEST,
                          .rect = {.y0 = (uint8_t)(t / X)}});
        program(s, t,
                (instr_t){.op = OP_MULTICAST,
                          .engine = ENG_SEND,
                          .rows = 30,
                          .addr_a = 100,
                          .addr_c = (uint16_t)(500 + 30 * t),
                          .tag = 1,
                          .rect = all});
        program(s, t,
                (instr_t){.op = OP_REDUCE,
                          .engine = ENG_SEND,
                          .rows = 20,
                          .addr_a = 10,
                          .addr_c = 900,
                          .tag = 2,
                          .rect = all,
                          .root = {X - 1, 0}});
        program(s, t,
                (instr_t){.op = OP_SEND,
                          .engine = ENG_SEND,
                          .rows = 25,
                          .addr_a = 140,
                          .addr_c = (uint16_t)(1000 + 25 * t),
                          .tag = 3,
                          .rect = {(uint8_t)((t + 1) % TILES % X), (uint8_t)((t + 1) % TILES / X), 0, 0}});
        program(s, t, (instr_t){.op = OP_SIGNAL, .engine = ENG_SEND});
        program(s, t, (instr_t){.op = OP_RECEIVE, .engine = ENG_RECV, .rows = 30 * TILES, .tag = 1});
        if (t == X - 1) program(s, t, (instr_t){.op = OP_RECEIVE, .engine = ENG_RECV, .rows = 20, .tag = 2});
        program(s, t, (instr_t){.op = OP_RECEIVE, .engine = ENG_RECV, .rows = 25, .tag = 3});
        program(s, t, (instr_t){.op = OP_SIGNAL, .engine = ENG_RECV});
    }
    run(s, 100000);
    row_t sum;
    float n = TILES;
    for (int w = 0; w < 8; w++) memcpy((uint32_t *)sum.w + w, &n, 4);
    for (int t = 0; t < TILES; t++) {
        cr_assert(s->tiles[t].signals[ENG_SEND] == 1 && s->tiles[t].signals[ENG_RECV] == 1);
        for (int u = 0; u < TILES; u++)
            for (int i = 0; i < 30; i++)
                same_row(&s->tiles[t].mem[500 + 30 * u + i], &s->tiles[u].mem[100 + i], "multicast", t, i);
        for (int i = 0; i < 25; i++)
            same_row(&s->tiles[(t + 1) % TILES].mem[1000 + 25 * t + i], &s->tiles[t].mem[140 + i], "sent", t, i);
        for (int i = 0; i < 50; i++)
            same_row(&s->tiles[t].mem[1900 + i], &hbm_rows(&s->memory, t / X, 0, 1024)[i], "loaded", t, i);
    }
    for (int i = 0; i < 20; i++) same_row(&s->tiles[X - 1].mem[900 + i], &sum, "sum", X - 1, i);
    cr_assert_eq(s->ejected, (uint64_t)(TILES * TILES * 30 + TILES * (25 + 50) + 20));
    for (int t = 0; t < TILES; t++)
        for (int v = 0; v < NOC_NUM_VCS; v++)
            cr_assert_eq(s->tiles[t].net.credits[v], CFG_NOC_DEPTH, "credits of tile %d are back", t);
    system_free(s);
}

Test(net, all_to_all_multicasts_sends_and_reductions) {
    for (uint64_t seed = 1; seed <= 20; seed++) storm(seed, (int)(seed % 4) + 1);
}

// A LOAD of n rows costs its round trip and one cycle a row; the latency is stated in the page of the room.
Test(net, load_streams_a_row_a_cycle) {
    uint64_t cycles[2];
    for (int i = 0; i < 2; i++) {
        system_t *s = system_new(1, 1);
        program(
            s, 0,
            (instr_t){.op = OP_LOAD, .engine = ENG_MOVE, .rows = (uint16_t)(i ? 500 : 1), .addr_c = 0, .to = TO_WEST});
        run(s, 2000);
        cycles[i] = s->cycle;
        system_free(s);
    }
    cr_assert_eq(cycles[1] - cycles[0], 499);
    cr_assert_eq(cycles[0], CFG_HBM_LATENCY + 12, "%llu cycles", (unsigned long long)cycles[0]);
}
