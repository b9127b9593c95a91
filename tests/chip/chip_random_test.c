// Random programs on all tiles: RTL and twin agree in cycles, every counter and all results, from any initial values.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "chip/harness.h"
#include "common/seed.h"

enum { MAX_INSTRS = CFG_IMEM_ROWS - 1, RESULT_ROWS = 64, STORES = 8 };
enum { HBM_RESULTS = 4096 }; // tile t of a port's mesh row stores from here on

typedef struct {
    rng_t rng;
    instr_t instrs[CHIP_TILES][MAX_INSTRS];
    harness_program program;
    harness_job job;
    harness_region images[CHIP_PORTS], results[CHIP_PORTS];
    row_t data[SRAM_ROWS];
    row_t out[CHIP_PORTS][CFG_TILES_X * STORES * RESULT_ROWS];
    int stores[CHIP_TILES];
} random_plan;

static int below(random_plan *p, int n) {
    return (int)rng_below(&p->rng, (uint64_t)n);
}

static void emit(random_plan *p, int tile, instr_t instr) {
    if (p->program.num_instrs[tile] < MAX_INSTRS) p->instrs[tile][p->program.num_instrs[tile]++] = instr;
}

enum { SEMS_EACH = CFG_NUM_SEMS / NUM_ENGINES };

// What follows in engine `to` waits for what precedes in engine `from`, or in another one that signals the same
// semaphore: signals are never fewer than waits, so all of it comes to its end.
static void order(random_plan *p, int tile, int from, int to) {
    uint8_t sem = (uint8_t)(to * SEMS_EACH + from % SEMS_EACH);
    emit(p, tile, (instr_t){.op = OP_SIGNAL, .engine = (uint8_t)from, .sem = sem, .count = 1});
    emit(p, tile, (instr_t){.op = OP_WAIT, .engine = (uint8_t)to, .sem = sem, .count = 1});
}

// Access to the HBM port on the west side of the tile's mesh row, or on the east side.
static instr_t hbm_access(random_plan *p, int tile, op_id op, int rows) {
    int y = tile / CFG_TILES_X, east = below(p, 2), x = east ? CFG_TILES_X - 1 : 0;
    return (instr_t){.op = (uint8_t)op,
                     .engine = ENG_MOVE,
                     .to = (uint8_t)(east ? TO_EAST : TO_WEST),
                     .rect = {(uint8_t)x, (uint8_t)y, (uint8_t)x, (uint8_t)y},
                     .hbm_addr = (uint32_t)below(p, SRAM_ROWS - rows),
                     .addr_a = (uint16_t)below(p, SRAM_ROWS - rows),
                     .addr_c = (uint16_t)below(p, SRAM_ROWS - rows),
                     .rows = (uint16_t)rows};
}

static void random_store(random_plan *p, int tile) {
    if (p->stores[tile] == STORES) return;
    instr_t store = hbm_access(p, tile, OP_STORE, 1 + below(p, RESULT_ROWS));
    int place = tile % CFG_TILES_X * STORES + p->stores[tile]++;
    store.hbm_addr = (uint32_t)(HBM_RESULTS + place * RESULT_ROWS);
    emit(p, tile, store);
}

static void random_matmul(random_plan *p, int tile) {
    static const uint8_t scales_w[] = {SCALE_NONE, SCALE_E8M0, SCALE_BF16};
    emit(p, tile,
         (instr_t){.op = OP_MATMUL,
                   .engine = ENG_MATMUL,
                   .fmt_a = (uint8_t)below(p, NUM_FMTS),
                   .fmt_w = (uint8_t)below(p, NUM_FMTS),
                   .scale_a = (uint8_t)below(p, 2),
                   .scale_w = scales_w[below(p, 3)],
                   .init = below(p, 2),
                   .m = (uint16_t)(1 + below(p, CFG_ROWS)),
                   .n = (uint16_t)(1 + below(p, 3 * CFG_COLS)),
                   .k = (uint16_t)(1 + below(p, 100)),
                   .addr_a = (uint16_t)below(p, SRAM_ROWS / 2),
                   .addr_as = (uint16_t)below(p, SRAM_ROWS / 2),
                   .addr_w = (uint16_t)below(p, SRAM_ROWS / 2),
                   .addr_ws = (uint16_t)below(p, SRAM_ROWS / 2),
                   .addr_c = (uint16_t)below(p, SRAM_ROWS / 2)});
}

// Any vector operation, within its demands on groups and formats; rows may repeat, results may lie over operands.
static void random_vector(random_plan *p, int tile) {
    enum { MAX_STRIDE = 8, MAX_LINES = 70 };
    static const uint8_t formats[] = {FMT_E2M1, FMT_E4M3, FMT_E5M2, FMT_INT8};
    instr_t v = {.op = (uint8_t)(OP_VADD + below(p, OP_VQUANT - OP_VADD + 1)), .engine = ENG_VECTOR};
    vec_args *a = &v.vec;
    *a = (vec_args){.outer = (uint16_t)(1 + below(p, 3)),
                    .lines = (uint16_t)(1 + below(p, below(p, 8) ? 6 : MAX_LINES)),
                    .segs = (uint8_t)(1 + below(p, 3)),
                    .rows = (uint8_t)(1 + below(p, 4))};
    if (v.op == OP_VBF16 || v.op == OP_VQUANT) {
        a->segs = (uint8_t)(1 + below(p, 2));
        a->rows = (uint8_t)((v.op == OP_VBF16 ? 2 : 4) / a->segs);
    }
    if (v.op == OP_VCOPY) a->arg = (uint8_t)below(p, 8);
    if (v.op == OP_VQUANT) a->arg = (uint8_t)(formats[below(p, 4)] + 8 * below(p, 3));
    for (int x = 0; x < VEC_OPERANDS; x++)
        a->of[x] = (vec_operand){.addr = (uint16_t)below(p, SRAM_ROWS / 2),
                                 .line = (uint16_t)below(p, MAX_STRIDE),
                                 .seg = (uint16_t)below(p, MAX_STRIDE),
                                 .wide = below(p, 2)};
    emit(p, tile, v);
}

// A SEND, MULTICAST or REDUCE with the RECEIVEs that belong to it, in the programs of all tiles that take part.
static void random_transfer(random_plan *p) {
    int ax = below(p, CFG_TILES_X), bx = below(p, CFG_TILES_X), ay = below(p, CFG_TILES_Y), by = below(p, CFG_TILES_Y);
    rect_t rect = {(uint8_t)(ax < bx ? ax : bx), (uint8_t)(ay < by ? ay : by), (uint8_t)(ax < bx ? bx : ax),
                   (uint8_t)(ay < by ? by : ay)};
    int rows = 1 + below(p, 20), kind = below(p, 3), source = below(p, CHIP_TILES);
    node_t root = {(uint8_t)ax, (uint8_t)ay};
    if (kind == 0) rect = (rect_t){root.x, root.y, root.x, root.y};
    instr_t instr = {.op = (uint8_t)(kind == 0 ? OP_SEND : kind == 1 ? OP_MULTICAST : OP_REDUCE),
                     .engine = ENG_SEND,
                     .rows = (uint16_t)rows,
                     .addr_c = (uint16_t)below(p, SRAM_ROWS - 32),
                     .rect = rect,
                     .root = root,
                     .tag = (uint8_t)below(p, CFG_NUM_TAGS)};
    for (int t = 0; t < CHIP_TILES; t++) {
        int x = t % CFG_TILES_X, y = t / CFG_TILES_X;
        bool inside = x >= rect.x0 && x <= rect.x1 && y >= rect.y0 && y <= rect.y1;
        instr.addr_a = (uint16_t)below(p, SRAM_ROWS - 32);
        if (kind == 2 ? inside : t == source) emit(p, t, instr);
        if (kind == 2 ? x == root.x && y == root.y : inside)
            emit(p, t, (instr_t){.op = OP_RECEIVE, .engine = ENG_RECV, .rows = (uint16_t)rows, .tag = instr.tag});
    }
}

static void random_step(random_plan *p) {
    int tile = below(p, CHIP_TILES);
    switch (below(p, 9)) {
    case 0: random_matmul(p, tile); break;
    case 1: emit(p, tile, hbm_access(p, tile, OP_LOAD, 1 + below(p, 40))); break;
    case 2: random_store(p, tile); break;
    case 3: {
        instr_t copy = hbm_access(p, tile, OP_COPY, 1 + below(p, 30));
        emit(p, tile, copy);
        break;
    }
    case 4: order(p, tile, below(p, NUM_ENGINES), below(p, NUM_ENGINES)); break;
    case 5:
    case 6: random_vector(p, tile); break;
    default: random_transfer(p); break;
    }
}

// Every tile first loads all of its SRAM, so that nothing is read before it is written.
static random_plan *random_plan_new(uint64_t seed, int steps) {
    random_plan *p = calloc(1, sizeof *p);
    p->rng = rng_new(seed);
    for (int i = 0; i < SRAM_ROWS * ROW_WORDS; i++) p->data[i / ROW_WORDS].w[i % ROW_WORDS] = rng_next(&p->rng);
    for (int port = 0; port < CHIP_PORTS; port++) {
        p->images[port] = (harness_region){.port = port, .rows = SRAM_ROWS, .data = p->data};
        p->results[port] = (harness_region){.name = "stores",
                                            .port = port,
                                            .row = HBM_RESULTS,
                                            .rows = CFG_TILES_X * STORES * RESULT_ROWS,
                                            .result = p->out[port]};
    }
    p->job = (harness_job){.programs = &p->program, .num_programs = 1, .images = p->images, .num_images = CHIP_PORTS, .results = p->results, .num_results = CHIP_PORTS};
    for (int t = 0; t < CHIP_TILES; t++) {
        p->program.instrs[t] = p->instrs[t];
        instr_t load = hbm_access(p, t, OP_LOAD, SRAM_ROWS - 1);
        load.rows = SRAM_ROWS;
        load.hbm_addr = 0;
        load.addr_c = 0;
        emit(p, t, load);
        order(p, t, ENG_MOVE, ENG_MATMUL);
        order(p, t, ENG_MOVE, ENG_SEND);
        order(p, t, ENG_MOVE, ENG_RECV);
        order(p, t, ENG_MOVE, ENG_VECTOR);
    }
    for (int i = 0; i < steps; i++) random_step(p);
    for (int t = 0; t < CHIP_TILES; t++) {
        for (int e = 0; e < NUM_ENGINES; e++)
            if (e != ENG_MOVE) order(p, t, e, ENG_MOVE);
        random_store(p, t);
    }
    return p;
}

static void run_random(uint64_t seed, int steps, uint32_t dut_seed) {
    random_plan *p = random_plan_new(seed, steps);
    static harness_result r;
    harness_options options = {.backend = HARNESS_BOTH, .seed = dut_seed, .max_cycles = 100000};
    harness_verdict verdict = harness_run(&p->job, &options, &r);
    cr_assert_eq(verdict, HARNESS_OK, "seed %llu: %s: %s", (unsigned long long)seed, harness_verdict_name(verdict), r.text);
    cr_assert_gt(r.rows_compared, 0);
    free(p);
}

Test(chip_random, programs_equal_their_twin) {
    for (uint64_t seed = 100; seed < 112; seed++) run_random(seed, 60, (uint32_t)seed);
}

// Three sets of random initial values: the same bits, cycles and counters.
Test(chip_random, initial_values_do_not_matter) {
    random_plan *p = random_plan_new(7, 60);
    static harness_result r[3];
    static row_t out[3][sizeof p->out / sizeof(row_t)];
    for (int i = 0; i < 3; i++) {
        harness_options options = {.backend = HARNESS_RTL, .seed = 1000u * (uint32_t)i + 1, .max_cycles = 100000};
        cr_assert_eq(harness_run(&p->job, &options, &r[i]), HARNESS_OK, "%s", r[i].text);
        memcpy(out[i], p->out, sizeof p->out);
        cr_assert_eq(r[i].cycles, r[0].cycles);
        cr_assert_arr_eq(r[i].counters, r[0].counters, sizeof r[0].counters);
        cr_assert_arr_eq(out[i], out[0], sizeof p->out);
    }
    free(p);
}
