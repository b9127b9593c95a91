// Programs written by hand and at random on the chip: RTL and twin agree in cycles, counters and results.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "chip/harness.h"
#include "common/seed.h"

enum { WEST_ROW = 0, MAX_INSTRS = 200 };
enum { ADDR_A = 0, ADDR_AS = 300, ADDR_W = 512, ADDR_WS = 900, ADDR_C = 1024 }; // SRAM rows, in different banks

typedef struct {
    instr_t instrs[CHIP_TILES][MAX_INSTRS];
    harness_program program;
    harness_job job;
    harness_region images[64], results[64];
} plan;

static plan *plan_new(void) {
    plan *p = calloc(1, sizeof *p);
    for (int t = 0; t < CHIP_TILES; t++) p->program.instrs[t] = p->instrs[t];
    p->job.programs = &p->program;
    p->job.num_programs = 1;
    p->job.images = p->images;
    p->job.results = p->results;
    return p;
}

static void emit(plan *p, int tile, instr_t instr) {
    static const uint8_t engine_of[NUM_OPS] = {
        [OP_END] = ENG_SEQ,    [OP_MATMUL] = ENG_MATMUL, [OP_COPY] = ENG_MOVE,      [OP_LOAD] = ENG_MOVE,
        [OP_STORE] = ENG_MOVE, [OP_SEND] = ENG_SEND,     [OP_MULTICAST] = ENG_SEND, [OP_REDUCE] = ENG_SEND,
        [OP_RECEIVE] = ENG_RECV};
    if (instr.op != OP_WAIT && instr.op != OP_SIGNAL) instr.engine = engine_of[instr.op];
    cr_assert_lt(p->program.num_instrs[tile], MAX_INSTRS);
    p->instrs[tile][p->program.num_instrs[tile]++] = instr;
}

static void wait_for(plan *p, int tile, engine_id engine, int sem, int count) {
    emit(p, tile, (instr_t){.op = OP_WAIT, .engine = (uint8_t)engine, .sem = (uint8_t)sem, .count = (uint8_t)count});
}

static void signal_to(plan *p, int tile, engine_id engine, int sem) {
    emit(p, tile, (instr_t){.op = OP_SIGNAL, .engine = (uint8_t)engine, .sem = (uint8_t)sem, .count = 1});
}

// LOAD (rows from HBM to SRAM row `sram`) or STORE (the reverse) at the port west of mesh row y.
static instr_t hbm_access(op_id op, int y, uint32_t hbm_row, int sram, int rows) {
    return (instr_t){.op = (uint8_t)op,
                     .to = TO_WEST,
                     .rect = {0, (uint8_t)y, 0, (uint8_t)y},
                     .hbm_addr = hbm_row,
                     .addr_a = (uint16_t)sram,
                     .addr_c = (uint16_t)sram,
                     .rows = (uint16_t)rows};
}

static void image(plan *p, int port, uint32_t row, const row_t *data, uint32_t rows) {
    p->images[p->job.num_images++] = (harness_region){.port = port, .row = row, .rows = rows, .data = data};
}

static void result(plan *p, int port, uint32_t row, row_t *to, uint32_t rows) {
    p->results[p->job.num_results++] =
        (harness_region){.name = "C", .port = port, .row = row, .rows = rows, .result = to};
}

static void byte_put(row_t *rows, size_t at, uint8_t value) {
    rows[at / ROW_BYTES].w[at % ROW_BYTES / 8] |= (uint64_t)value << 8 * (at % 8);
}

// E4M3 code of a small integer (-8..8): exact.
static uint8_t e4m3_of(int value) {
    uint8_t sign = (uint8_t)(value < 0 ? 0x80 : 0);
    int magnitude = abs(value), exponent = 0;
    if (!magnitude) return 0;
    while (magnitude >> (exponent + 1)) exponent++;
    return (uint8_t)(sign | (exponent + 7) << 3 | ((magnitude << 3 >> exponent) & 7));
}

static float float_of(const row_t *rows, size_t at) {
    uint32_t bits = (uint32_t)(rows[at / 8].w[at % 8 / 2] >> 32 * (at % 2));
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

enum { M = 5, N = 2 * CFG_COLS, K = 64, KB = K / 32, NT = N / CFG_COLS };
enum { A_ROWS = KB * M, AS_ROWS = KB, W_ROWS = NT * KB * CFG_COLS, WS_ROWS = (NT * KB * CFG_COLS + 31) / 32 };
enum { C_ROWS = NT * M * CFG_COLS / 8, HBM_A = 0, HBM_AS = 64, HBM_W = 128, HBM_WS = 256, HBM_C = 512 };

// Operands of one matmul of small integers, and the exact product.
typedef struct {
    int a[M][K], w[N][K];
    row_t a_rows[A_ROWS], as_rows[AS_ROWS], w_rows[W_ROWS], ws_rows[WS_ROWS], c_rows[C_ROWS];
} operands;

static void make_operands(operands *o, rng_t *rng) {
    memset(o, 0, sizeof *o);
    for (int k = 0; k < K; k++) {
        for (int m = 0; m < M; m++) o->a[m][k] = (int)rng_below(rng, 17) - 8;
        for (int n = 0; n < N; n++) o->w[n][k] = (int)rng_below(rng, 17) - 8;
    }
    for (int k = 0; k < K; k++) {
        for (int m = 0; m < M; m++)
            byte_put(o->a_rows, (size_t)((k / 32 * M + m) * 32 + k % 32), e4m3_of(o->a[m][k]));
        for (int n = 0; n < N; n++) {
            int block = n / CFG_COLS * KB + k / 32;
            byte_put(o->w_rows, (size_t)((block * CFG_COLS + n % CFG_COLS) * 32 + k % 32), e4m3_of(o->w[n][k]));
        }
    }
    for (size_t i = 0; i < AS_ROWS * ROW_BYTES; i++) byte_put(o->as_rows, i, 128); // 2
    for (size_t i = 0; i < WS_ROWS * ROW_BYTES; i++) byte_put(o->ws_rows, i, 126); // 1/2
}

static void check_product(const operands *o, const row_t *c) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int want = 0;
            for (int k = 0; k < K; k++) want += o->a[m][k] * o->w[n][k];
            float got = float_of(c, (size_t)((n / CFG_COLS * M + m) * CFG_COLS + n % CFG_COLS));
            cr_assert_eq(got, (float)want, "C[%d][%d]: got %g, want %d", m, n, (double)got, want);
        }
}

// LOAD of all operands, MATMUL, and where `store` is set STORE, on one tile.
static void matmul_program(plan *p, int t, bool store) {
    int y = t / CFG_TILES_X;
    emit(p, t, hbm_access(OP_LOAD, y, HBM_A, ADDR_A, A_ROWS));
    emit(p, t, hbm_access(OP_LOAD, y, HBM_AS, ADDR_AS, AS_ROWS));
    emit(p, t, hbm_access(OP_LOAD, y, HBM_W, ADDR_W, W_ROWS));
    emit(p, t, hbm_access(OP_LOAD, y, HBM_WS, ADDR_WS, WS_ROWS));
    signal_to(p, t, ENG_MOVE, 0);
    wait_for(p, t, ENG_MATMUL, 0, 1);
    emit(p, t,
         (instr_t){.op = OP_MATMUL,
                   .fmt_a = FMT_E4M3,
                   .fmt_w = FMT_E4M3,
                   .scale_a = SCALE_E8M0,
                   .scale_w = SCALE_E8M0,
                   .m = M,
                   .n = N,
                   .k = K,
                   .addr_a = ADDR_A,
                   .addr_as = ADDR_AS,
                   .addr_w = ADDR_W,
                   .addr_ws = ADDR_WS,
                   .addr_c = ADDR_C});
    signal_to(p, t, ENG_MATMUL, 1);
    if (!store) return;
    wait_for(p, t, ENG_MOVE, 1, 1);
    emit(p, t, hbm_access(OP_STORE, y, HBM_C, ADDR_C, C_ROWS));
}

static void operand_images(plan *p, int port, const operands *o) {
    image(p, port, HBM_A, o->a_rows, A_ROWS);
    image(p, port, HBM_AS, o->as_rows, AS_ROWS);
    image(p, port, HBM_W, o->w_rows, W_ROWS);
    image(p, port, HBM_WS, o->ws_rows, WS_ROWS);
}

// Runs on the backend and demands HARNESS_OK.
static harness_result run_ok(const plan *p, harness_backend backend, uint32_t seed) {
    static harness_result r;
    harness_options options = {.backend = backend, .seed = seed, .max_cycles = 200000};
    harness_verdict verdict = harness_run(&p->job, &options, &r);
    cr_assert_eq(verdict, HARNESS_OK, "%s: %s", harness_verdict_name(verdict), r.text);
    return r;
}

Test(chip, one_matmul_is_the_exact_product) {
    rng_t rng = rng_new(21);
    static operands o;
    make_operands(&o, &rng);
    plan *p = plan_new();
    matmul_program(p, 0, true);
    operand_images(p, 0, &o);
    result(p, 0, HBM_C, o.c_rows, C_ROWS);
    harness_result r = run_ok(p, HARNESS_BOTH, 3);
    check_product(&o, o.c_rows);
    cr_assert_eq(r.counters[0][EV_MATMUL_MAC_USEFUL], M * N * K);
    cr_assert_eq(r.counters[0][EV_MOVE_ROWS_LOADED], A_ROWS + AS_ROWS + W_ROWS + WS_ROWS);
    cr_assert_eq(r.counters[0][EV_MOVE_ROWS_STORED], C_ROWS);
    cr_log_info("one matmul: %llu cycles", (unsigned long long)r.cycles);
    free(p);
}

static const struct {
    int first, last; // events of a unit of which exactly one is raised each cycle
} exclusive[] = {{EV_MATMUL_BUSY, EV_MATMUL_IDLE}, {EV_MOVE_BUSY, EV_MOVE_IDLE}, {EV_SEND_BUSY, EV_SEND_IDLE},
                 {EV_RECV_BUSY, EV_RECV_IDLE},     {EV_SEQ_BUSY, EV_SEQ_IDLE},   {EV_ROUTER_BUSY, EV_ROUTER_IDLE}};

// Every tile works on its own operands; each unit is busy, stalled or idle in every cycle.
Test(chip, all_tiles_at_once_and_every_cycle_is_accounted_for) {
    rng_t rng = rng_new(22);
    static operands o[CFG_TILES_Y];
    static row_t c[CHIP_TILES][C_ROWS];
    plan *p = plan_new();
    for (int y = 0; y < CFG_TILES_Y; y++) {
        make_operands(&o[y], &rng);
        operand_images(p, y, &o[y]);
    }
    for (int t = 0; t < CHIP_TILES; t++) {
        int x = t % CFG_TILES_X, y = t / CFG_TILES_X;
        matmul_program(p, t, false);
        wait_for(p, t, ENG_MOVE, 1, 1);
        uint32_t to = (uint32_t)(HBM_C + x * C_ROWS);
        emit(p, t, hbm_access(OP_STORE, y, to, ADDR_C, C_ROWS));
        result(p, y, to, c[t], C_ROWS);
    }
    harness_result r = run_ok(p, HARNESS_BOTH, 4);
    for (int t = 0; t < CHIP_TILES; t++) {
        check_product(&o[t / CFG_TILES_X], c[t]);
        for (size_t u = 0; u < sizeof exclusive / sizeof exclusive[0]; u++) {
            uint64_t sum = 0;
            for (int e = exclusive[u].first; e <= exclusive[u].last; e++) sum += r.counters[t][e];
            cr_assert_eq(sum, r.cycles, "tile %d, unit %zu: %llu of %llu cycles", t, u, (unsigned long long)sum,
                         (unsigned long long)r.cycles);
        }
    }
    free(p);
}

// Tile 0 computes, sends its result to its neighbour, which stores it.
Test(chip, send_moves_a_result_to_the_neighbour) {
    rng_t rng = rng_new(23);
    static operands o;
    make_operands(&o, &rng);
    plan *p = plan_new();
    operand_images(p, 0, &o);
    matmul_program(p, 0, false);
    wait_for(p, 0, ENG_SEND, 1, 1);
    emit(p, 0, (instr_t){.op = OP_SEND, .rows = C_ROWS, .addr_a = ADDR_C, .addr_c = ADDR_A, .rect = {1, 0, 1, 0}, .tag = 3});
    emit(p, 1, (instr_t){.op = OP_RECEIVE, .tag = 3, .rows = C_ROWS});
    signal_to(p, 1, ENG_RECV, 2);
    wait_for(p, 1, ENG_MOVE, 2, 1);
    emit(p, 1, hbm_access(OP_STORE, 0, HBM_C, ADDR_A, C_ROWS));
    result(p, 0, HBM_C, o.c_rows, C_ROWS);
    harness_result r = run_ok(p, HARNESS_BOTH, 5);
    check_product(&o, o.c_rows);
    cr_assert_eq(r.counters[1][EV_RECV_ROWS], C_ROWS);
    free(p);
}

// Tile 0 multicasts float32 rows to all tiles (itself too); all add them up into tile 0: the sum is CHIP_TILES times.
Test(chip, multicast_then_reduce_sums_over_all_tiles) {
    enum { ROWS = 12, SRC = 0, COPIED = 256, SUM = 512 };
    static row_t data[ROWS], sum[ROWS];
    for (int i = 0; i < ROWS * 8; i++) {
        float value = (float)(i + 1);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        data[i / 8].w[i % 8 / 2] |= (uint64_t)bits << 32 * (i % 2);
    }
    plan *p = plan_new();
    image(p, 0, 0, data, ROWS);
    emit(p, 0, hbm_access(OP_LOAD, 0, 0, SRC, ROWS));
    signal_to(p, 0, ENG_MOVE, 0);
    wait_for(p, 0, ENG_SEND, 0, 1);
    rect_t all = {0, 0, CFG_TILES_X - 1, CFG_TILES_Y - 1};
    emit(p, 0, (instr_t){.op = OP_MULTICAST, .rows = ROWS, .addr_a = SRC, .addr_c = COPIED, .rect = all, .tag = 1});
    for (int t = 0; t < CHIP_TILES; t++) {
        emit(p, t, (instr_t){.op = OP_RECEIVE, .tag = 1, .rows = ROWS});
        signal_to(p, t, ENG_RECV, 1);
        wait_for(p, t, ENG_SEND, 1, 1);
        emit(p, t,
             (instr_t){.op = OP_REDUCE, .rows = ROWS, .addr_a = COPIED, .addr_c = SUM, .rect = all, .root = {0, 0}, .tag = 2});
    }
    emit(p, 0, (instr_t){.op = OP_RECEIVE, .tag = 2, .rows = ROWS});
    signal_to(p, 0, ENG_RECV, 2);
    wait_for(p, 0, ENG_MOVE, 2, 1);
    emit(p, 0, hbm_access(OP_STORE, 0, 100, SUM, ROWS));
    result(p, 0, 100, sum, ROWS);
    run_ok(p, HARNESS_BOTH, 6);
    for (size_t i = 0; i < ROWS * 8; i++)
        cr_assert_eq(float_of(sum, i), (float)(i + 1) * CHIP_TILES, "element %zu: got %g", i, (double)float_of(sum, i));
    free(p);
}
