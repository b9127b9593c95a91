// How fast one tile simulates on one core, waves off: RTL and twin in one run, on a product that keeps the array busy.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/seed.h"
#include "tile/tile_dut.h"

enum { M = CFG_ROWS, NT = 8, KB = 8, REPEATS = 12 };
enum { A_ROWS = KB * M, W_ROWS = NT * KB * CFG_COLS, AS_ROWS = (KB * M + 31) / 32, WS_ROWS = (NT * KB * CFG_COLS + 31) / 32 };
enum { ADDR_A = 0, ADDR_W = CFG_BANK_ROWS, ADDR_AS = 2 * CFG_BANK_ROWS, ADDR_WS = 3 * CFG_BANK_ROWS, ADDR_C = 4 * CFG_BANK_ROWS };

static const node_t here = {0, 0};

typedef struct {
    tile twin;
    tile_dut *dut; // NULL: the twin
    bool done;
} side;

static void step(side *s, const tile_in *in) {
    tile_out out;
    if (s->dut) {
        tile_dut_peek(s->dut, &out);
        tile_dut_step(s->dut, in);
    } else {
        tile_peek(&s->twin, &out);
        tile_step(&s->twin, in);
    }
    s->done = out.done;
}

// Rows of E4M3 codes near 1 and scales near 1 arrive from the east.
static void fill(side *s, uint32_t addr, int rows, bool scales, rng_t *rng) {
    for (int i = 0; i < rows; i++) {
        tile_in in = {0};
        flit_t f = {.head = true, .tail = true, .kind = FLIT_WRITE, .addr = addr + (uint32_t)i};
        for (int b = 0; b < ROW_BYTES; b++) {
            uint64_t code = scales ? 124 + rng_below(rng, 8) : (rng_next(rng) & 0x87) | (5 + rng_below(rng, 6)) << 3;
            f.data.w[b / 8] |= code << 8 * (b % 8);
        }
        in.link[NOC_EAST - 1] = (link_t){.valid = true, .flit = f};
        step(s, &in);
        for (int wait = 0; wait < 4; wait++) step(s, &(tile_in){0});
    }
}

static void load(side *s) {
    const instr_t product = {.op = OP_MATMUL, .engine = ENG_MATMUL, .fmt_a = FMT_E4M3, .fmt_w = FMT_E4M3, .scale_a = SCALE_E8M0,
                             .scale_w = SCALE_E8M0, .m = M, .n = NT * CFG_COLS, .k = KB * 32, .addr_a = ADDR_A, .addr_as = ADDR_AS,
                             .addr_w = ADDR_W, .addr_ws = ADDR_WS, .addr_c = ADDR_C};
    const instr_t end = {.op = OP_END, .engine = ENG_SEQ};
    for (int i = 0; i <= REPEATS; i++) {
        row_t row = isa_pack(i < REPEATS ? &product : &end);
        instr_t instr = isa_unpack(&row);
        if (s->dut) tile_dut_load(s->dut, 0, i, &row);
        else tile_seq_load(&s->twin.seq, i, &instr);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// CPU seconds of the products; *cycles: how many they took.
static double run(side *s, uint64_t *cycles) {
    rng_t rng = rng_new(1);
    fill(s, ADDR_A, A_ROWS, false, &rng);
    fill(s, ADDR_W, W_ROWS, false, &rng);
    fill(s, ADDR_AS, AS_ROWS, true, &rng);
    fill(s, ADDR_WS, WS_ROWS, true, &rng);
    load(s);
    double start = seconds();
    step(s, &(tile_in){.start = true});
    for (*cycles = 0, s->done = false; !s->done; ++*cycles) step(s, &(tile_in){0});
    return seconds() - start;
}

static void print(const char *name, double took, uint64_t cycles) {
    double macs = (double)REPEATS * M * NT * CFG_COLS * KB * 32;
    printf("%-5s %8.1f kcycles/s  %8.1f million MAC/s  (%llu cycles)\n", name, (double)cycles / took / 1e3, macs / took / 1e6,
           (unsigned long long)cycles);
}

int main(void) {
    static side rtl, twin;
    uint64_t cycles, model;
    rtl.dut = tile_dut_new(&(dut_options){.seed = 1}, &here, 1);
    if (!tile_init(&twin.twin, here)) return 2;
    double a = run(&rtl, &cycles), b = run(&twin, &model);
    print("RTL", a, cycles);
    print("twin", b, model);
    printf("one tile, E4M3, M = %d: RTL time / twin time %.1f\n", M, a / b);
    tile_dut_free(rtl.dut);
    tile_free(&twin.twin);
    return cycles == model ? 0 : 1;
}
