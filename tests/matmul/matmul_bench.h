// Bench of the matmul engine: an SRAM of four ports with late grants, the twin, the RTL beside it where wanted, and the
// untimed reference that says what memory must hold.
#ifndef TESTS_MATMUL_BENCH_H
#define TESTS_MATMUL_BENCH_H
#include <criterion/criterion.h>
#include <string.h>

#include "common/same.h"
#include "matmul/matmul_dut.h"
#include "numerics/num.h"

enum { MEM_ROWS = 65536, GROUPS = CFG_COLS / 8, ZONE_AS = 0x4000, ZONE_W = 0x5000, ZONE_WS = 0xA000, ZONE_C = 0xB000 };

typedef struct {
    matmul twin;
    matmul_dut *dut; // or NULL
    row_t *mem, *want;
    mem_rsp rsp[MM_PORTS]; // of the cycle to come, without the grants
    uint8_t delay[MM_PORTS];
    int max_delay;  // grants come 0..max_delay cycles late
    uint8_t prompt; // bit mask of the ports whose grants are never late
    int instr_gap;  // an instruction is offered in one of so many cycles
    bool poison;    // every read fails
    rng_t rng;
    const instr_t *prog;
    int n, next, done_signals;
    uint64_t cycle, reads[MM_PORTS], writes;
    uint64_t total[sizeof(matmul_events) / sizeof(uint16_t)];
    uint64_t first_row, last_row;
    matmul_out out;
    mem_req waiting[MM_PORTS]; // not granted in the cycle before
} bench;

static void bench_fill(bench *b) {
    for (int i = 0; i < MEM_ROWS; i++) {
        bool wild = rng_below(&b->rng, 16) == 0;
        for (int w = 0; w < ROW_WORDS; w++) {
            uint64_t v = rng_next(&b->rng);
            if (!wild) v &= ~0x4040404040404040u;
            if (i >= ZONE_AS && i < ZONE_W) v = 0x7C7C7C7C7C7C7C7Cu + (v & 0x0707070707070707u);
            if (i >= ZONE_WS && i < ZONE_C)
                v = 0x3F3F3F3F3F3F3F3Fu + (v & 0x4040404040404040u) + (v & 0x0080008000800080u);
            b->mem[i].w[w] = v;
        }
    }
    for (int i = ZONE_C; i < MEM_ROWS; i++)
        for (int w = 0; w < ROW_WORDS; w++)
            b->mem[i].w[w] = 0x4060000041200000u + (rng_next(&b->rng) & 0x8000FFFF8000FFFFu);
    memcpy(b->want, b->mem, MEM_ROWS * sizeof(row_t));
}

static void bench_new(bench *b, uint64_t seed, bool rtl) {
    memset(b, 0, sizeof *b);
    b->rng = rng_new(seed);
    b->mem = malloc(MEM_ROWS * sizeof(row_t));
    b->want = malloc(MEM_ROWS * sizeof(row_t));
    b->instr_gap = 1;
    bench_fill(b);
    matmul_reset(&b->twin);
    if (rtl) b->dut = matmul_dut_new(&(dut_options){.seed = (uint32_t)seed});
}

static void bench_free(bench *b) {
    if (b->dut) {
        cr_assert_eq(matmul_dut_errors(b->dut), 0, "checks of the RTL failed");
        matmul_dut_free(b->dut);
    }
    free(b->mem);
    free(b->want);
}

// ---- the untimed reference
static uint16_t bits_at(const row_t *row, int bit, int width) {
    return (uint16_t)(row[bit / 256].w[bit % 256 / 64] >> (bit % 64) & ((1u << width) - 1));
}

static void ref_block(const row_t *mem, const instr_t *in, int m, int nt, int col, int kb, uint32_t *acc) {
    int kblocks = (in->k + 31) / 32, block = nt * kblocks + kb;
    int wa = num_fmt_bits(in->fmt_a), ww = num_fmt_bits(in->fmt_w), r = wa == 16 ? 2 : 1;
    int load = ww == 4 ? CFG_COLS / 2 : ww == 8 ? CFG_COLS : 2 * CFG_COLS;
    uint16_t a[32], w[32];
    const row_t *arow = mem + in->addr_a + (kb * in->m + m) * r, *wrow = mem + in->addr_w + block * load;
    for (int i = 0; i < 32; i++) {
        a[i] = bits_at(arow, i * wa, wa);
        w[i] = bits_at(wrow, col * 32 * ww + i * ww, ww);
    }
    int mp = (in->m + 31) / 32 * 32, sbits = in->scale_w == SCALE_BF16 ? 16 : 8;
    uint16_t sa = bits_at(mem + in->addr_as + kb * mp / 32, m * 8, 8);
    uint16_t sw = bits_at(mem + in->addr_ws, (block * CFG_COLS + col) * sbits, sbits);
    num_dot dot = num_block_dot(in->fmt_a, a, in->fmt_w, w);
    *acc = num_accumulate(*acc, dot, num_decode_scale(in->scale_a, sa), num_decode_scale(in->scale_w, sw));
}

// One MATMUL on the memory.
static void ref_matmul(row_t *mem, const instr_t *in) {
    int tiles = (in->n + CFG_COLS - 1) / CFG_COLS, kblocks = (in->k + 31) / 32;
    for (int nt = 0; nt < tiles; nt++)
        for (int m = 0; m < in->m; m++)
            for (int col = 0; col < CFG_COLS; col++) {
                uint64_t *word = &mem[in->addr_c + (nt * in->m + m) * GROUPS + col / 8].w[col % 8 / 2];
                int shift = col % 2 * 32;
                uint32_t acc = in->init ? (uint32_t)(*word >> shift) : 0;
                for (int kb = 0; kb < kblocks; kb++) ref_block(mem, in, m, nt, col, kb, &acc);
                *word = (*word & ~((uint64_t)0xFFFFFFFF << shift)) | (uint64_t)acc << shift;
            }
}

static inline void check_memory(const bench *b, int from, int rows, const char *when) {
    for (int i = from; i < from + rows; i++)
        for (int w = 0; w < ROW_WORDS; w++)
            cr_assert_eq(b->mem[i].w[w], b->want[i].w[w], "%s: cycle %llu, row %04x word %d: got %016llx, want %016llx",
                         when, (unsigned long long)b->cycle, (unsigned)i, w, (unsigned long long)b->mem[i].w[w],
                         (unsigned long long)b->want[i].w[w]);
}

// ---- a cycle
static void compare(const bench *b, const matmul_out *got, const matmul_events *ev, const matmul_events *want) {
    SAME_ENGINE(*got, b->out, b->cycle);
    for (int i = 0; i < MM_PORTS; i++) SAME_REQ(*got, b->out, req[i], b->cycle);
    same_events(&ev->busy, &want->busy, sizeof *ev / sizeof ev->busy, b->cycle);
}

static void bench_grants(bench *b, matmul_in *in) {
    for (int i = 0; i < MM_PORTS; i++) {
        in->rsp[i] = b->rsp[i];
        memset(&b->rsp[i], 0, sizeof b->rsp[i]);
        const mem_req *old = &b->waiting[i], *now = &b->out.req[i];
        if (old->valid)
            cr_assert(now->valid && now->we == old->we && now->addr == old->addr,
                      "port %d: cycle %llu: a request must hold", i, (unsigned long long)b->cycle);
        b->waiting[i].valid = false;
        if (!b->out.req[i].valid) continue;
        if (b->delay[i]) {
            b->waiting[i] = *now;
            b->delay[i]--;
            continue;
        }
        in->rsp[i].gnt = true;
        if (b->max_delay && !(b->prompt >> i & 1))
            b->delay[i] = (uint8_t)rng_below(&b->rng, (uint64_t)b->max_delay + 1);
        if (b->out.req[i].we) {
            b->mem[b->out.req[i].addr] = b->out.req[i].wdata;
            b->writes++;
        } else {
            b->rsp[i] = (mem_rsp){.rvalid = true, .rerr = b->poison, .rdata = b->mem[b->out.req[i].addr]};
            b->reads[i]++;
        }
    }
}

static void bench_cycle(bench *b) {
    matmul_in in = {0};
    matmul_events ev, got_ev;
    matmul_out got;
    matmul_peek(&b->twin, &b->out);
    bench_grants(b, &in);
    bool offer = b->next < b->n && (b->instr_gap == 1 || !rng_below(&b->rng, (uint64_t)b->instr_gap));
    in.instr_valid = offer && b->out.instr_ready; // the queue shows one where it is taken
    if (offer) in.instr = b->prog[b->next];
    if (in.instr_valid) b->next++;
    in.wait_gnt = b->out.wait_valid && !rng_below(&b->rng, 8);
    if (b->dut) matmul_dut_step(b->dut, &in, &got, &got_ev);
    matmul_step(&b->twin, &in, &ev);
    if (b->dut) {
        compare(b, &got, &got_ev, &ev);
    }
    cr_assert_eq(ev.busy + ev.stall_weights + ev.stall_operand + ev.stall_scale + ev.stall_acc + ev.stall_sem + ev.idle,
                 1);
    for (size_t i = 0; i < sizeof ev / sizeof(uint16_t); i++) b->total[i] += (&ev.busy)[i];
    if (ev.busy && b->total[0] == 1) b->first_row = b->cycle;
    if (ev.busy) b->last_row = b->cycle;
    if (b->out.signal_valid) b->done_signals++;
    b->cycle++;
}

static inline uint64_t total(const bench *b, int event) {
    return b->total[event - EV_MATMUL_BUSY];
}

// Runs a program to its end; a bound on the cycles catches a hang.
static void bench_run(bench *b, const instr_t *prog, int n, uint64_t limit) {
    b->prog = prog;
    b->n = n;
    b->next = 0;
    uint64_t end = b->cycle + limit;
    do {
        bench_cycle(b);
        cr_assert_lt(b->cycle, end, "hangs: cycle %llu, instruction %d of %d", (unsigned long long)b->cycle, b->next,
                     n);
    } while (b->next < n || b->out.busy || b->twin.front.cur_valid);
}
#endif
