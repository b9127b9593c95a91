// CONFIGS: tiny mini
#include "workload/kernel.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "workload/untimed.h"
#include "workload/kernel_pack.h"

enum { FORMATS = 6 };

typedef struct {
    gemm_spec spec;
    gemm_operands o;
    uint16_t *a, *w, *ws;
    uint8_t *as;
    float *init, *want, *got;
    kernel k;
} job;

static uint16_t random_code(rng_t *r, fmt_id fmt) {
    uint16_t code = (uint16_t)(rng_next(r) & ((1u << num_fmt_bits(fmt)) - 1));
    if (fmt == FMT_BF16) code = (uint16_t)((code & 0x80FF) | (120 + rng_below(r, 12)) << 7);
    bool rare = rng_below(r, 64) == 0; // NaN and infinities stay, but do not drown the rest
    while (!rare && (num_decode(fmt, code).nan || num_decode(fmt, code).inf)) code ^= 0x10;
    return code;
}

static void job_make(job *j, gemm_spec spec, bool init, uint64_t seed) {
    char error[KERNEL_ERROR];
    rng_t r = {seed};
    size_t kb = (spec.k + 31) / 32, na = (size_t)spec.m * spec.k, nw = (size_t)spec.n * spec.k;
    memset(j, 0, sizeof *j);
    j->spec = spec;
    j->a = malloc(na * 2);
    j->w = malloc(nw * 2);
    j->as = malloc(spec.m * kb);
    j->ws = malloc(spec.n * kb * 2);
    j->init = malloc((size_t)spec.m * spec.n * 4);
    j->want = malloc((size_t)spec.m * spec.n * 4);
    j->got = malloc((size_t)spec.m * spec.n * 4);
    for (size_t i = 0; i < na; i++) j->a[i] = random_code(&r, spec.fmt_a);
    for (size_t i = 0; i < nw; i++) j->w[i] = random_code(&r, spec.fmt_w);
    for (size_t i = 0; i < spec.m * kb; i++) j->as[i] = (uint8_t)(120 + rng_below(&r, 12));
    for (size_t i = 0; i < spec.n * kb; i++)
        j->ws[i] = (uint16_t)(spec.scale_w == SCALE_BF16 ? 0x3F00 + rng_below(&r, 256) : 120 + rng_below(&r, 12));
    for (size_t i = 0; i < (size_t)spec.m * spec.n; i++) j->init[i] = (float)(int)rng_below(&r, 2001) - 1000;
    j->o = (gemm_operands){j->a, j->as, j->w, j->ws, init ? j->init : NULL};
    cr_assert(kernel_gemm("job", &spec, &j->o, &j->k, error), "%s", error);
}

static void job_free(job *j) {
    kernel_free(&j->k);
    free(j->a);
    free(j->w);
    free(j->as);
    free(j->ws);
    free(j->init);
    free(j->want);
    free(j->got);
}

static void compare(const job *j, uint64_t seed) {
    const uint32_t *want = (const uint32_t *)j->want, *got = (const uint32_t *)j->got;
    for (size_t i = 0; i < (size_t)j->spec.m * j->spec.n; i++)
        cr_assert_eq(got[i], want[i], "seed %llu, %u x %u x %u, formats %d %d, element [%zu][%zu]: got %08x, want %08x",
                     (unsigned long long)seed, j->spec.m, j->spec.n, j->spec.k, j->spec.fmt_a, j->spec.fmt_w,
                     i / j->spec.n, i % j->spec.n, got[i], want[i]);
}

// Runs on the chip without time; the result equals the reference, the work and the traffic what the kernel says.
static void run(const job *j, uint64_t seed) {
    ut_chip *c = ut_new(seed);
    const char *fault = ut_run_kernel(c, &j->k);
    cr_assert_null(fault, "seed %llu, %u x %u x %u: %s", (unsigned long long)seed, j->spec.m, j->spec.n, j->spec.k,
                   fault);
    cr_assert(kernel_result(&j->k, &c->mem, j->got));
    cr_assert(kernel_reference(&j->k, &j->o, j->want));
    compare(j, seed);
    const kernel_traffic *t = &j->k.traffic;
    cr_assert_eq(c->macs, j->k.useful_macs);
    cr_assert_eq(c->loaded, t->a + t->a_scales + t->w + t->w_scales + t->init);
    cr_assert_eq(c->stored, t->result);
    ut_free(c);
}

static gemm_spec spec_of(uint32_t m, uint32_t n, uint32_t k, fmt_id a, fmt_id w, scale_id sa, scale_id sw, bool split) {
    return (gemm_spec){m, n, k, a, w, sa, sw, split};
}

static void check(gemm_spec spec, bool init, uint64_t seed) {
    job j;
    job_make(&j, spec, init, seed);
    run(&j, seed);
    job_free(&j);
}

// Sizes around every internal one.
Test(kernel, edges_of_every_size_equal_the_reference) {
    const uint32_t ms[] = {1, CFG_ROWS - 1, CFG_ROWS, CFG_ROWS + 1}, ks[] = {1, 31, 32, 33, 64, 65};
    const uint32_t all = CFG_COLS * KERNEL_TILES,
                   ns[] = {1, CFG_COLS - 1, CFG_COLS, CFG_COLS + 1, all - 1, all, all + 1};
    uint64_t seed = 1;
    for (size_t m = 0; m < sizeof ms / sizeof *ms; m++)
        for (size_t n = 0; n < sizeof ns / sizeof *ns; n++)
            for (size_t k = 0; k < sizeof ks / sizeof *ks; k++, seed++)
                check(spec_of(ms[m], ns[n], ks[k], FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_E8M0, seed % 2), seed % 3 == 0,
                      seed);
}

Test(kernel, every_pair_of_formats_equals_the_reference) {
    for (int a = 0; a < FORMATS; a++)
        for (int w = 0; w < FORMATS; w++)
            for (int s = 0; s < 6; s++)
                check(spec_of(5, 3 * CFG_COLS, 100, (fmt_id)a, (fmt_id)w, (scale_id)(s % 2), (scale_id)(s / 2), s == 3),
                      s == 4, (uint64_t)(100 + a * 36 + w * 6 + s));
}

// Random shapes in random orders of execution, with and without sums in the network.
Test(kernel, random_shapes_equal_the_reference_in_every_order, .timeout = 100) {
    rng_t r = rng_new(7);
    for (int i = 0; i < 40; i++) {
        uint64_t seed = rng_next(&r);
        uint32_t m = 1 + (uint32_t)rng_below(&r, i % 4 ? 8 : 3 * CFG_ROWS),
                 n = 1 + (uint32_t)rng_below(&r, 20 * CFG_COLS);
        uint32_t k = 1 + (uint32_t)rng_below(&r, m > 8 ? 200 : 1500);
        fmt_id a = (fmt_id)rng_below(&r, FORMATS), w = (fmt_id)rng_below(&r, FORMATS);
        bool init = rng_below(&r, 4) == 0, split = rng_below(&r, 2) == 0;
        job j;
        job_make(&j, spec_of(m, n, k, a, w, SCALE_E8M0, i % 3 ? SCALE_E8M0 : SCALE_BF16, split), init, seed);
        for (uint64_t order = 0; order < 2; order++) run(&j, seed + order);
        job_free(&j);
    }
}

// k too long for SRAM: phases whose partial sums stay in SRAM; m too long: groups of rows.
Test(kernel, k_and_m_beyond_sram_equal_the_reference, .timeout = 100) {
    uint32_t k = CFG_BANK_ROWS / CFG_COLS * 32 * 2 + 77;
    job j;
    job_make(&j, spec_of(3, CFG_COLS * KERNEL_TILES + 1, k, FMT_E4M3, FMT_INT8, SCALE_E8M0, SCALE_E8M0, false), true,
             5);
    cr_assert_gt(j.k.num_programs, 1);
    run(&j, 5);
    job_free(&j);
    check(spec_of(CFG_BANK_ROWS, 2, 40, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, false), false, 6);
    check(spec_of(1, CFG_COLS * KERNEL_TILES * 40, 33, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_NONE, true), false, 7);
}

// ---- structure
static void bounds_hold(const instr_t *i) {
    uint32_t rows = CFG_BANKS * CFG_BANK_ROWS;
    if (i->op != OP_WAIT && i->op != OP_SIGNAL && i->op != OP_END && i->op != OP_MATMUL) cr_assert_gt(i->rows, 0);
    cr_assert_leq(i->addr_a + i->rows, rows);
    cr_assert_leq(i->addr_c + i->rows, rows);
    if (i->op != OP_MATMUL) return;
    cr_assert(i->m >= 1 && i->m <= CFG_ROWS && i->n >= 1 && i->k >= 1);
    uint32_t blocks = (i->k + 31u) / 32, tiles = (i->n + CFG_COLS - 1u) / CFG_COLS;
    cr_assert_leq(i->addr_a + blocks * i->m * (i->fmt_a == FMT_BF16 ? 2 : 1), rows);
    cr_assert_leq(i->addr_w + blocks * tiles * CFG_COLS * (uint32_t)num_fmt_bits((fmt_id)i->fmt_w) / 8, rows);
    cr_assert_leq(i->addr_c + tiles * i->m * CFG_COLS / 8, rows);
}

Test(kernel, signals_equal_waits_and_addresses_stay_inside) {
    for (int split = 0; split < 2; split++) {
        job j;
        job_make(&j, spec_of(CFG_ROWS, 2880, 640, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, split), false, 3);
        cr_assert_eq(j.k.split_k, split);
        for (uint32_t p = 0; p < j.k.num_programs; p++)
            for (int t = 0; t < KERNEL_TILES; t++) {
                const kernel_tile *list = &j.k.programs[p].tiles[t];
                int sem[CFG_NUM_SEMS] = {0};
                cr_assert_leq(list->count, CFG_IMEM_ROWS);
                cr_assert_eq(list->instrs[list->count - 1].op, OP_END);
                for (uint32_t i = 0; i < list->count; i++) {
                    const instr_t *n = &list->instrs[i];
                    bounds_hold(n);
                    if (n->op == OP_SIGNAL) sem[n->sem] += n->count;
                    if (n->op == OP_WAIT) sem[n->sem] -= n->count;
                }
                for (int s = 0; s < CFG_NUM_SEMS; s++) cr_assert_eq(sem[s], 0, "semaphore %d: %d left", s, sem[s]);
            }
        job_free(&j);
    }
}

// M3: activations that fit in SRAM are loaded once, weights once, the result is stored once.
Test(kernel, bytes_moved_equal_the_analytic_minimum_when_operands_fit) {
    const uint32_t m = CFG_ROWS / 2, n = 2880, k = 640, kb = k / 32;
    for (int split = 0; split < 2; split++) {
        job j;
        job_make(&j, spec_of(m, n, k, FMT_E4M3, FMT_E2M1, SCALE_E8M0, SCALE_NONE, split), false, 3);
        uint32_t tiles = (n + CFG_COLS - 1) / CFG_COLS;
        cr_assert_eq(j.k.traffic.a, m * kb);
        cr_assert_eq(j.k.traffic.a_scales, (m + 31) / 32 * kb);
        cr_assert_eq(j.k.traffic.w, tiles * kb * CFG_COLS / 2);
        cr_assert_eq(j.k.traffic.result, tiles * m * CFG_COLS / 8);
        cr_assert_eq(j.k.useful_macs, (uint64_t)m * n * k);
        cr_assert_geq(j.k.bounds.cycles * 32 * CFG_COLS * KERNEL_TILES, j.k.useful_macs);
        cr_assert_geq(j.k.bounds.cycles, j.k.bounds.compute);
        cr_assert_geq(j.k.bounds.cycles, j.k.bounds.weights);
        cr_assert_geq(j.k.bounds.cycles, j.k.bounds.hbm);
        job_free(&j);
    }
}

// Two matmuls of two chunks never share a bank with what is loaded or stored beside them, results and scales apart.
Test(kernel, weight_buffers_have_banks_of_their_own) {
    job j;
    job_make(&j, spec_of(4, 2880, 320, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, false), false, 3);
    const kernel_tile *list = &j.k.programs[0].tiles[0];
    const instr_t *first = NULL, *second = NULL;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->instrs[i].op == OP_MATMUL) {
            if (!first)
                first = &list->instrs[i];
            else if (!second)
                second = &list->instrs[i];
        }
    cr_assert(first && second);
    int banks[] = {first->addr_a / CFG_BANK_ROWS, first->addr_w / CFG_BANK_ROWS, second->addr_w / CFG_BANK_ROWS,
                   first->addr_c / CFG_BANK_ROWS, first->addr_ws / CFG_BANK_ROWS};
    for (int i = 0; i < 5; i++)
        for (int l = 0; l < i; l++)
            cr_assert_neq(banks[i], banks[l], "operands %d and %d share bank %d", l, i, banks[i]);
    cr_assert_neq(first->addr_c, second->addr_c);
    job_free(&j);
}

// Places in SRAM of random products never overlap, at the largest size that their loops give them.
Test(kernel, operands_never_overlap_in_sram) {
    rng_t r = rng_new(21);
    for (int i = 0; i < 20000; i++) {
        kernel_plan p;
        char error[KERNEL_ERROR];
        gemm_spec s = {1 + (uint32_t)rng_below(&r, 4 * CFG_ROWS),
                       1 + (uint32_t)rng_below(&r, 6000),
                       1 + (uint32_t)rng_below(&r, i % 2 ? 300 : 9000),
                       (fmt_id)rng_below(&r, FORMATS),
                       (fmt_id)rng_below(&r, FORMATS),
                       (scale_id)rng_below(&r, 2),
                       (scale_id)rng_below(&r, 3),
                       rng_below(&r, 2)};
        cr_assert(plan_make(&s, rng_below(&r, 2), &p, error), "%s", error);
        uint32_t c = p.chunk * p.m_group * CFG_COLS / 8, held = p.phases > 1 ? p.n_group : p.chunk;
        uint32_t w = p.chunk * p.k_phase * p.w_rows_block, ws = plan_ws_rows(&p, p.chunk, p.k_phase);
        // in the order of their places; each ends where the next begins, or before
        struct {
            uint32_t first, rows;
        } place[] = {{0, p.m_group * p.k_phase * p.a_rows_k},
                     {p.addr_w[0], w},
                     {p.addr_w[1], w},
                     {p.addr_c[0], held * p.m_group * CFG_COLS / 8},
                     {p.phases > 1 ? p.addr_as : p.addr_c[1], p.phases > 1 ? 0 : c},
                     {p.split_k ? p.addr_land[0] : p.addr_as, p.split_k ? c : 0},
                     {p.split_k ? p.addr_land[1] : p.addr_as, p.split_k ? c : 0},
                     {p.addr_as, plan_as_rows(&p, p.m_group, p.k_phase)},
                     {p.addr_ws[0], ws},
                     {p.addr_ws[1], ws},
                     {CFG_BANKS * CFG_BANK_ROWS, 0}};
        for (size_t n = 0; n + 1 < sizeof place / sizeof *place; n++)
            cr_assert_leq(place[n].first + place[n].rows, place[n + 1].first,
                          "%u x %u x %u, formats %d %d: place %zu, 0x%x + %u rows, meets the next at 0x%x", s.m, s.n,
                          s.k, s.fmt_a, s.fmt_w, n, place[n].first, place[n].rows, place[n + 1].first);
        cr_assert_leq(place[0].rows, (uint32_t)p.addr_w[0] / CFG_BANK_ROWS * CFG_BANK_ROWS);
        cr_assert_leq(place[1].rows, p.addr_w[1] / CFG_BANK_ROWS * CFG_BANK_ROWS - p.addr_w[0]);
        cr_assert_eq(p.addr_w[1] % CFG_BANK_ROWS, 0); // a bank that both buffers touch would cost conflicts
    }
}

// 1 + 2^-24 + 2^-58 rounds up; with a rounding to double first it would be a tie and fall to even.
Test(kernel, reference_rounds_once) {
    const uint16_t codes[2] = {0x78, 0x01}; // E4M3 2^8 and 2^-9, so the block is 2^16 + 2^-18
    const uint8_t a_scale = 127 - 40;
    const uint16_t w_scale = 127;
    const float one = 1;
    float y;
    uint32_t bits;
    char error[KERNEL_ERROR];
    kernel k;
    gemm_spec s = spec_of(1, 1, 2, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, false);
    gemm_operands o = {codes, &a_scale, codes, &w_scale, &one};
    cr_assert(kernel_gemm("tie", &s, &o, &k, error), "%s", error);
    cr_assert(kernel_reference(&k, &o, &y));
    memcpy(&bits, &y, sizeof bits);
    cr_assert_eq(bits, 0x3F800001, "got %08x", bits);
    kernel_free(&k);
}

// ---- the reference against one block after the other
Test(kernel, reference_rounds_as_numerics_does) {
    for (int f = 0; f < FORMATS; f++) {
        job j;
        job_make(&j, spec_of(6, 40, 333, (fmt_id)f, FMT_E4M3, SCALE_E8M0, SCALE_BF16, false), true, (uint64_t)f + 9);
        cr_assert(kernel_reference(&j.k, &j.o, j.want));
        for (uint32_t m = 0; m < 6; m++)
            for (uint32_t n = 0; n < 40; n++) {
                uint32_t acc, got;
                memcpy(&acc, &j.init[m * 40 + n], 4);
                memcpy(&got, &j.want[m * 40 + n], 4);
                for (uint32_t b = 0; b < 11; b++) {
                    uint16_t a[32] = {0}, w[32] = {0};
                    for (uint32_t i = 0; i < 32 && b * 32 + i < 333; i++) {
                        a[i] = j.a[m * 333 + b * 32 + i];
                        w[i] = j.w[n * 333 + b * 32 + i];
                    }
                    acc = num_accumulate(acc, num_block_dot((fmt_id)f, a, FMT_E4M3, w),
                                         num_decode_scale(SCALE_E8M0, j.as[m * 11 + b]),
                                         num_decode_scale(SCALE_BF16, j.ws[n * 11 + b]));
                }
                cr_assert_eq(got, acc, "format %d [%u][%u]: got %08x, want %08x", f, m, n, got, acc);
            }
        job_free(&j);
    }
}

Test(kernel, bad_specs_are_refused_in_one_line) {
    const gemm_spec good = spec_of(1, 1, 1, FMT_E4M3, FMT_E4M3, SCALE_E8M0, SCALE_E8M0, false);
    gemm_spec bad[6] = {good, good, good, good, good, good};
    bad[0].m = 0;
    bad[1].n = (1 << 24) + 1;
    bad[2].k = 0;
    bad[3].fmt_w = NUM_FMTS;
    bad[4].scale_a = SCALE_BF16;
    bad[5].fmt_a = (fmt_id)99;
    const char *const because[] = {
        "m: ", "n: ", "k: ", "format of the weights", "none or e8m0", "format of the activations"};
    for (int i = 0; i < 6; i++) {
        kernel k;
        char error[KERNEL_ERROR] = "";
        cr_assert_not(kernel_gemm("bad", &bad[i], &(gemm_operands){0}, &k, error));
        cr_assert(strstr(error, because[i]), "got \"%s\", want \"%s\"", error, because[i]);
        cr_assert_null(strchr(error, '\n'));
        kernel_free(&k);
    }
}
