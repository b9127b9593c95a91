#include "sram/sram.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"
#include "sram/sram_dut.h"

// Both sides, and what each row must hold by the writes seen: a reference that shares nothing with the twin.
typedef struct {
    sram_dut *dut;
    sram twin;
    row_t shadow[SRAM_ROWS];
    bool rotten[SRAM_ROWS]; // written with a fault of more than one bit in a word
    bool armed;
    uint16_t inject_addr, read_addr[NUM_PORTS];
    bool inject_rotten;
    sram_flip flip;
    int cycle;
} bench;

typedef struct {
    mem_rsp rsp[NUM_PORTS];
    sram_events ev;
} result;

static void bench_init(bench *b, uint32_t seed) {
    memset(b, 0, sizeof *b);
    b->dut = sram_dut_new(&(dut_options){.seed = seed});
    cr_assert(sram_init(&b->twin));
}

static void bench_done(bench *b, int errors) {
    cr_assert_eq(sram_dut_errors(b->dut), errors, "CHK: %d fired, want %d", sram_dut_errors(b->dut), errors);
    sram_dut_free(b->dut);
    sram_free(&b->twin);
}

static void check_events(const bench *b, const sram_events *got, const sram_events *want) {
    const uint16_t *g = &got->reads, *w = &want->reads;
    for (size_t i = 0; i < sizeof *got / sizeof *g; i++)
        cr_assert_eq(g[i], w[i], "cycle %d: event %zu: got %d, want %d", b->cycle, i, g[i], w[i]);
    cr_assert_eq(got->reads + got->writes + got->gated, CFG_BANKS, "cycle %d: accesses + gated banks = banks", b->cycle);
}

// The data of port p against the writes seen.
static void check_shadow(const bench *b, const mem_rsp *rsp, int p) {
    uint16_t addr = b->read_addr[p];
    cr_assert_eq(rsp->rerr, b->rotten[addr], "cycle %d: port %d row %d: rerr %d", b->cycle, p, addr, rsp->rerr);
    for (int i = 0; i < ROW_WORDS; i++) {
        uint64_t want = rsp->rerr ? UINT64_MAX : b->shadow[addr].w[i];
        cr_assert_eq(rsp->rdata.w[i], want, "cycle %d: port %d row %d word %d: got %llx, want %llx", b->cycle, p, addr,
                     i, (unsigned long long)rsp->rdata.w[i], (unsigned long long)want);
    }
}

static void note(bench *b, const mem_req *req, int p) {
    b->read_addr[p] = req->addr;
    if (!req->we) return;
    b->shadow[req->addr] = req->wdata;
    b->rotten[req->addr] = b->armed && b->inject_addr == req->addr && b->inject_rotten;
    if (b->inject_addr == req->addr) b->armed = false;
}

// One cycle of both; every output and event is equal. A fault (or NULL) is injected in this cycle into row addr.
static result step_inject(bench *b, const mem_req req[NUM_PORTS], uint16_t addr, const sram_flip *flip) {
    result got = {0};
    mem_rsp want[NUM_PORTS] = {0};
    sram_events want_ev;
    if (flip) sram_dut_inject(b->dut, addr, flip);
    sram_dut_step(b->dut, req, got.rsp, &got.ev);
    sram_peek(&b->twin, want);
    sram_grant(&b->twin, req, want);
    sram_step(&b->twin, req, want, &want_ev);
    if (flip) sram_inject(&b->twin, addr, flip);
    for (int p = 0; p < NUM_PORTS; p++) {
        const mem_rsp *g = &got.rsp[p], *w = &want[p];
        cr_assert(g->gnt == w->gnt && g->rvalid == w->rvalid && g->rerr == w->rerr,
                  "cycle %d: port %d: gnt, rvalid, rerr: got %d %d %d, want %d %d %d", b->cycle, p, g->gnt, g->rvalid,
                  g->rerr, w->gnt, w->rvalid, w->rerr);
        cr_assert(!w->rvalid || !memcmp(&g->rdata, &w->rdata, sizeof g->rdata), "cycle %d: port %d: rdata", b->cycle, p);
        if (g->rvalid) check_shadow(b, g, p);
    }
    check_events(b, &got.ev, &want_ev);
    for (int p = 0; p < NUM_PORTS; p++)
        if (got.rsp[p].gnt) note(b, &req[p], p);
    if (flip) {
        b->armed = true;
        b->inject_addr = addr;
        b->inject_rotten = false;
        for (int i = 0; i < ROW_WORDS; i++)
            b->inject_rotten |= __builtin_popcountll(flip->data[i]) + __builtin_popcount(flip->check[i]) > 1;
    }
    b->cycle++;
    return got;
}

static result step(bench *b, const mem_req req[NUM_PORTS]) {
    return step_inject(b, req, 0, NULL);
}

static row_t random_row(rng_t *rng) {
    return (row_t){{rng_next(rng), rng_next(rng), rng_next(rng), rng_next(rng)}};
}

enum { ROWS_USED = 8 }; // of each bank
static uint16_t row_of(int bank, int row) {
    return (uint16_t)(bank * CFG_BANK_ROWS + row * (CFG_BANK_ROWS / ROWS_USED));
}

// Writes every row that the random requests use, since the RTL begins with random contents.
static void fill(bench *b, rng_t *rng) {
    for (int bank = 0; bank < CFG_BANKS; bank++)
        for (int row = 0; row < ROWS_USED; row++) {
            mem_req req[NUM_PORTS] = {{.valid = true, .we = true, .addr = row_of(bank, row), .wdata = random_row(rng)}};
            step(b, req);
        }
}

// Faults of none, one or two bits in each word, data or check.
static sram_flip random_flip(rng_t *rng) {
    sram_flip flip = {{0}, {0}};
    for (int i = 0; i < ROW_WORDS; i++)
        for (uint64_t n = rng_below(rng, 4) ? rng_below(rng, 2) : 2; n > 0; n--) {
            uint64_t bit;
            do bit = rng_below(rng, 72);
            while (bit < 64 ? flip.data[i] >> bit & 1 : flip.check[i] >> (bit - 64) & 1);
            if (bit < 64) flip.data[i] |= 1ull << bit;
            else flip.check[i] = (uint8_t)(flip.check[i] | 1u << (bit - 64));
        }
    return flip;
}

// Random requests of every port that hold until granted; phases of little and of full load, on few banks and on all.
static void lock_step(uint32_t seed) {
    static bench b;
    rng_t rng = rng_new(seed);
    bench_init(&b, seed);
    fill(&b, &rng);
    mem_req req[NUM_PORTS] = {0};
    uint64_t corrected = 0, uncorrectable = 0, conflicts = 0;
    for (int i = 0; i < 12000; i++) {
        uint64_t idle = (uint64_t)i / 500 % 4, banks = i / 2000 % 2 ? 2 : CFG_BANKS;
        for (int p = 0; p < NUM_PORTS; p++)
            if (!req[p].valid && rng_below(&rng, 4) >= idle)
                req[p] = (mem_req){.valid = true,
                                   .we = rng_below(&rng, 3) == 0,
                                   .addr = row_of((int)rng_below(&rng, banks), (int)rng_below(&rng, ROWS_USED)),
                                   .wdata = random_row(&rng)};
        sram_flip flip = random_flip(&rng);
        uint16_t addr = row_of((int)rng_below(&rng, banks), (int)rng_below(&rng, ROWS_USED));
        result r = step_inject(&b, req, addr, rng_below(&rng, 8) ? NULL : &flip);
        for (int p = 0; p < NUM_PORTS; p++)
            if (r.rsp[p].gnt) req[p].valid = false;
        corrected += r.ev.corrected;
        uncorrectable += r.ev.uncorrectable;
        conflicts += r.ev.conflicts;
    }
    cr_assert(corrected > 100 && uncorrectable > 100 && conflicts > 1000, "stimulus: %llu corrected, %llu not, %llu waits",
              (unsigned long long)corrected, (unsigned long long)uncorrectable, (unsigned long long)conflicts);
    bench_done(&b, 0);
}

Test(sram, equals_its_twin_seed_1) {
    lock_step(1);
}

Test(sram, equals_its_twin_seed_2) {
    lock_step(2);
}

Test(sram, equals_its_twin_seed_3) {
    lock_step(3);
}

// Every set of ports that hold requests for one bank: each is granted once in any n cycles, n the ports of the set.
Test(sram, every_requester_is_served_within_n_grants) {
    static bench b;
    rng_t rng = rng_new(4);
    bench_init(&b, 4);
    fill(&b, &rng);
    for (unsigned set = 1; set < 1u << NUM_PORTS; set++) {
        int n = __builtin_popcount(set), last[NUM_PORTS];
        mem_req req[NUM_PORTS] = {0};
        for (int p = 0; p < NUM_PORTS; p++) {
            last[p] = -1;
            if (set >> p & 1) req[p] = (mem_req){.valid = true, .addr = row_of(3, p % ROWS_USED)};
        }
        for (int cycle = 0; cycle < 3 * n; cycle++) {
            result r = step(&b, req);
            for (int p = 0; p < NUM_PORTS; p++) {
                cr_assert(!r.rsp[p].gnt || (set >> p & 1));
                if (r.rsp[p].gnt) {
                    cr_assert(last[p] < 0 ? cycle < n : cycle - last[p] == n, "set %x port %d: granted in %d and %d", set,
                              p, last[p], cycle);
                    last[p] = cycle;
                }
            }
        }
        for (int p = 0; p < NUM_PORTS; p++)
            cr_assert(!(set >> p & 1) || last[p] >= 2 * n, "set %x port %d: last granted in %d", set, p, last[p]);
        // all are served once more before the set changes
        for (int left = n; left > 0; left--) {
            result r = step(&b, req);
            for (int p = 0; p < NUM_PORTS; p++)
                if (r.rsp[p].gnt) req[p].valid = false;
        }
    }
    bench_done(&b, 0);
}

// Ports on different banks: all are granted in every cycle, reads are answered back to back.
Test(sram, each_bank_serves_one_access_a_cycle) {
    static bench b;
    rng_t rng = rng_new(5);
    bench_init(&b, 5);
    fill(&b, &rng);
    enum { USED = NUM_PORTS < CFG_BANKS ? NUM_PORTS : CFG_BANKS, CYCLES = 200 };
    int reads = 0, writes = 0, answers = 0;
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        mem_req req[NUM_PORTS] = {0};
        for (int p = 0; p < USED; p++)
            req[p] = (mem_req){.valid = true,
                               .we = (cycle + p) % 2 != 0,
                               .addr = row_of((p + cycle) % CFG_BANKS, cycle % ROWS_USED),
                               .wdata = random_row(&rng)};
        result r = step(&b, req);
        for (int p = 0; p < USED; p++) {
            cr_assert(r.rsp[p].gnt, "cycle %d: port %d", cycle, p);
            answers += r.rsp[p].rvalid;
        }
        reads += r.ev.reads;
        writes += r.ev.writes;
    }
    result r = step(&b, (mem_req[NUM_PORTS]){{0}});
    for (int p = 0; p < USED; p++) answers += r.rsp[p].rvalid;
    cr_assert(reads + writes == USED * CYCLES && answers == reads, "%d reads, %d answers, %d writes in %d cycles", reads,
              answers, writes, CYCLES);
    bench_done(&b, 0);
}

// A row written in one cycle is read in the next, the last row of the last bank included.
Test(sram, a_write_is_read_in_the_next_cycle) {
    static bench b;
    bench_init(&b, 6);
    const uint16_t edges[] = {0, CFG_BANK_ROWS - 1, CFG_BANK_ROWS, SRAM_ROWS - 1};
    for (int i = 0; i < 4; i++) {
        mem_req req[NUM_PORTS] = {0};
        req[i] = (mem_req){.valid = true, .we = true, .addr = edges[i], .wdata = {{(uint64_t)i + 1, 2, 3, UINT64_MAX}}};
        cr_assert(step(&b, req).rsp[i].gnt);
        req[i].we = false;
        cr_assert(step(&b, req).rsp[i].gnt);
        req[i].valid = false;
        result r = step(&b, req);
        cr_assert(r.rsp[i].rvalid && r.rsp[i].rdata.w[0] == (uint64_t)i + 1 && r.rsp[i].rdata.w[3] == UINT64_MAX);
        cr_assert(!step(&b, req).rsp[i].rvalid);
    }
    bench_done(&b, 0);
}

// A fault stays until its row is written again, hits that row alone, and is counted at each read.
Test(sram, a_fault_hits_the_named_row_once) {
    static bench b;
    bench_init(&b, 7);
    mem_req req[NUM_PORTS] = {{.valid = true, .we = true, .addr = 4, .wdata = {{1, 2, 3, 4}}}};
    sram_flip one = {{0, 1ull << 40, 0, 0}, {0}};
    step_inject(&b, req, 5, &one); // row 4 is another row
    step(&b, req);
    req[0].addr = 5;
    step(&b, req);
    for (int addr = 4; addr <= 5; addr++)
        for (int again = 0; again < 2; again++) {
            req[0] = (mem_req){.valid = true, .addr = (uint16_t)addr};
            step(&b, req);
            result r = step(&b, (mem_req[NUM_PORTS]){{0}});
            cr_assert(r.ev.corrected == (addr == 5) && r.rsp[0].rdata.w[1] == 2, "row %d: %d corrected", addr,
                      r.ev.corrected);
        }
    req[0] = (mem_req){.valid = true, .we = true, .addr = 5, .wdata = {{1, 2, 3, 4}}};
    step(&b, req);
    req[0].we = false;
    step(&b, req);
    cr_assert_eq(step(&b, (mem_req[NUM_PORTS]){{0}}).ev.corrected, 0);
    bench_done(&b, 0);
}

// Each check fires: a request that changes, or goes, while it waits; a row, and a fault's row, that does not exist.
Test(sram, checks_fire) {
    static bench b;
    bench_init(&b, 8);
    mem_req req[NUM_PORTS] = {{.valid = true, .we = true, .addr = 1}, {.valid = true, .we = true, .addr = 2}};
    cr_assert(step(&b, req).rsp[0].gnt);
    req[0].valid = false;
    req[1].addr = 3; // waited for row 2
    step(&b, req);
    cr_assert_eq(sram_dut_errors(b.dut), 1);
    req[0] = req[1];
    req[1].addr = 3;
    step(&b, req); // port 1 was served last, so port 0 is granted and port 1 waits
    req[1].valid = req[0].valid = false;
    step(&b, req);
    cr_assert_eq(sram_dut_errors(b.dut), 2);
    if (SRAM_ROWS < 65536) {
        mem_req out[NUM_PORTS] = {{.valid = true, .we = true, .addr = (uint16_t)SRAM_ROWS}};
        mem_rsp rsp[NUM_PORTS];
        sram_events ev;
        sram_dut_step(b.dut, out, rsp, &ev);
        cr_assert_eq(sram_dut_errors(b.dut), 3);
        sram_dut_inject(b.dut, (uint16_t)SRAM_ROWS, &(sram_flip){{0}, {0}});
        sram_dut_step(b.dut, (mem_req[NUM_PORTS]){{0}}, rsp, &ev);
        cr_assert_eq(sram_dut_errors(b.dut), 4);
    }
    bench_done(&b, SRAM_ROWS < 65536 ? 4 : 2);
}
