// One tile of RTL and its twin in lock-step: programs that stay inside the tile, faults in its SRAM, random links.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/seed.h"
#include "tile/tile_dut.h"

enum { MAX_CYCLES = 4000 };

typedef struct {
    tile twin;
    tile_dut *dut;
    uint64_t cycle;
} pair;

static const node_t here = {1, 0};

static pair *pair_new(uint32_t seed) {
    pair *p = calloc(1, sizeof *p);
    cr_assert(tile_init(&p->twin, here));
    p->dut = tile_dut_new(&(dut_options){.seed = seed}, &here, 1);
    return p;
}

static void pair_free(pair *p) {
    tile_free(&p->twin);
    tile_dut_free(p->dut);
    free(p);
}

static void pair_load(pair *p, const instr_t *instrs, int count) {
    static const instr_t end = {.op = OP_END, .engine = ENG_SEQ};
    for (int i = 0; i <= count; i++) {
        row_t row = isa_pack(i < count ? &instrs[i] : &end);
        instr_t instr = isa_unpack(&row);
        tile_seq_load(&p->twin.seq, i, &instr);
        tile_dut_load(p->dut, 0, i, &row);
    }
}

static bool same_link(const link_t *a, const link_t *b) {
    if (!a->valid || !b->valid) return a->valid == b->valid;
    return a->vc == b->vc && a->flit.addr == b->flit.addr && a->flit.kind == b->flit.kind &&
           !memcmp(&a->flit.data, &b->flit.data, sizeof a->flit.data);
}

// One clock of both; the outputs of the cycle are equal.
static tile_out pair_step(pair *p, const tile_in *in) {
    tile_out want = {0}, got = {0};
    tile_peek(&p->twin, &want);
    tile_dut_peek(p->dut, &got);
    cr_assert_eq(got.done, want.done, "done, cycle %llu: got %d, want %d", (unsigned long long)p->cycle, got.done, want.done);
    cr_assert_eq(got.error, want.error, "error, cycle %llu: got %d, want %d", (unsigned long long)p->cycle, got.error,
                 want.error);
    for (int l = 0; l < TILE_LINKS; l++) {
        cr_assert(same_link(&got.link[l], &want.link[l]), "link %d, cycle %llu", l, (unsigned long long)p->cycle);
        cr_assert_eq(got.credit[l], want.credit[l], "credit %d, cycle %llu", l, (unsigned long long)p->cycle);
    }
    for (int e = 0; e < NUM_ENGINES; e++) cr_assert_eq(got.wait[e].valid, want.wait[e].valid, "wait of engine %d", e);
    tile_step(&p->twin, in);
    tile_dut_step(p->dut, in);
    p->cycle++;
    return want;
}

static void same_counters(pair *p) {
    tile_in in = {.snapshot = true};
    pair_step(p, &in);
    uint64_t got[NUM_EVENTS];
    tile_dut_counters(p->dut, 0, got);
    for (int e = 0; e < NUM_EVENTS; e++) {
        uint64_t want = p->twin.count.snap[e];
        // a sum over all cycles since reset: the RTL has spent some on loading, in which only idle and gated events count
        bool idle = e == EV_MATMUL_IDLE || e == EV_MATMUL_GATED || e == EV_SRAM_GATED || e == EV_MOVE_IDLE || e == EV_SEND_IDLE ||
                    e == EV_RECV_IDLE || e == EV_VEC_IDLE || e == EV_SEQ_IDLE || e == EV_ROUTER_IDLE || e == EV_ROUTER_GATED;
        if (idle) cr_assert_geq(got[e], want);
        else cr_assert_eq(got[e], want, "counter %d: got %llu, want %llu", e, (unsigned long long)got[e], (unsigned long long)want);
    }
}

// A row arrives from the west for SRAM row 40; the program copies it to another bank, swaps its lanes with their
// neighbours and sends it east.
enum { ARRIVES = 40, COPIED = CFG_BANK_ROWS + 3, SWAPPED = COPIED + 9, TAG = 4 };
static const row_t arriving = {{0x0123456789abcdef, 2, 3, 0xfedcba9876543210}};
static const row_t leaving = {{0x89abcdef01234567, 2ull << 32, 3ull << 32, 0x76543210fedcba98}};

static void load_forwarder(pair *p) {
    const instr_t list[] = {
        {.op = OP_RECEIVE, .engine = ENG_RECV, .rows = 1, .tag = TAG},
        {.op = OP_SIGNAL, .engine = ENG_RECV, .sem = 1, .count = 1},
        {.op = OP_WAIT, .engine = ENG_MOVE, .sem = 1, .count = 1},
        {.op = OP_COPY, .engine = ENG_MOVE, .rows = 1, .addr_a = ARRIVES, .addr_c = COPIED},
        {.op = OP_SIGNAL, .engine = ENG_MOVE, .sem = 2, .count = 1},
        {.op = OP_WAIT, .engine = ENG_VECTOR, .sem = 2, .count = 1},
        {.op = OP_VCOPY,
         .engine = ENG_VECTOR,
         .vec = {1, 1, 1, 1, 1, {[VEC_A] = {.addr = COPIED}, [VEC_C] = {.addr = SWAPPED}}}},
        {.op = OP_SIGNAL, .engine = ENG_VECTOR, .sem = 3, .count = 1},
        {.op = OP_WAIT, .engine = ENG_SEND, .sem = 3, .count = 1},
        {.op = OP_SEND, .engine = ENG_SEND, .rows = 1, .addr_a = SWAPPED, .addr_c = 7, .rect = {3, 0, 3, 0}, .tag = TAG}};
    pair_load(p, list, (int)(sizeof list / sizeof list[0]));
}

// Runs the forwarder with these bits of the arriving row's codewords flipped in SRAM; *sent: the row that left.
static bool forward(pair *p, const sram_flip *flip, row_t *sent) {
    load_forwarder(p);
    if (flip) {
        sram_inject(&p->twin.mem, ARRIVES, flip);
        tile_dut_inject(p->dut, 0, ARRIVES, flip);
    }
    tile_in in = {.start = true};
    pair_step(p, &in);
    in.start = false;
    flit_t flit = {.head = true, .tail = true, .kind = FLIT_WRITE, .rect = {1, 0, 1, 0}, .tag = TAG, .addr = ARRIVES};
    flit.data = arriving;
    in.link[NOC_WEST - 1] = (link_t){.valid = true, .flit = flit};
    bool error = false, seen = false;
    for (int i = 0;; i++) {
        tile_out out = pair_step(p, &in);
        in.link[NOC_WEST - 1].valid = false;
        in.credit[NOC_EAST - 1] = 0;
        error |= out.error;
        if (out.link[NOC_EAST - 1].valid) {
            *sent = out.link[NOC_EAST - 1].flit.data;
            seen = true;
            in.credit[NOC_EAST - 1] = (credit_t)(1 << out.link[NOC_EAST - 1].vc);
        }
        if (out.done) break;
        cr_assert_lt(i, MAX_CYCLES, "the program does not end");
    }
    cr_assert(seen);
    same_counters(p);
    return error;
}

Test(tile, forwards_a_row_through_every_engine_but_matmul) {
    pair *p = pair_new(3);
    row_t sent;
    cr_assert_not(forward(p, NULL, &sent));
    cr_assert_arr_eq(sent.w, leaving.w, sizeof sent);
    cr_assert_eq(p->twin.count.snap[EV_SRAM_CORRECTED], 0);
    cr_assert_eq(p->twin.count.snap[EV_SRAM_READS], 3);
    cr_assert_eq(p->twin.count.snap[EV_SRAM_WRITES], 3);
    cr_assert_eq(p->twin.count.snap[EV_VEC_ROWS_WRITTEN], 1);
    cr_assert_eq(p->twin.count.snap[EV_ROUTER_FLITS_EAST], 1);
    pair_free(p);
}

Test(tile, a_single_error_is_corrected_and_counted) {
    pair *p = pair_new(4);
    row_t sent;
    cr_assert_not(forward(p, &(sram_flip){.data = {0, 1ull << 17}}, &sent));
    cr_assert_arr_eq(sent.w, leaving.w, sizeof sent);
    cr_assert_eq(p->twin.count.snap[EV_SRAM_CORRECTED], 1);
    pair_free(p);
}

Test(tile, a_double_error_poisons_and_is_raised) {
    pair *p = pair_new(5);
    row_t sent;
    cr_assert(forward(p, &(sram_flip){.data = {0, 1ull << 17 | 1}}, &sent));
    cr_assert_eq(p->twin.count.snap[EV_SRAM_UNCORRECTABLE], 1);
    cr_assert_eq(sent.w[0], UINT64_MAX);
    pair_free(p);
}

// Rows from all sides to random places, the tile's own and its neighbours': what leaves is equal in every cycle.
static void random_traffic(uint32_t seed) {
    pair *p = pair_new(seed);
    rng_t rng = rng_new(seed);
    uint8_t room[TILE_LINKS][NOC_NUM_VCS];
    link_t last[TILE_LINKS] = {0};
    memset(room, CFG_NOC_DEPTH, sizeof room);
    for (int cycle = 0; cycle < 10000; cycle++) {
        tile_in in = {.snapshot = cycle % 500 == 0};
        for (int l = 0; l < TILE_LINKS; l++) {
            uint8_t vc = (uint8_t)rng_below(&rng, NOC_DATA_VCS);
            if (!room[l][vc] || rng_below(&rng, 3)) continue;
            room[l][vc]--;
            // rows come from the side that XY leaves for this destination
            bool row = l == NOC_EAST - 1 || l == NOC_WEST - 1;
            uint8_t x = row ? (uint8_t)(l == NOC_EAST - 1 ? rng_below(&rng, 2) : 1 + rng_below(&rng, 2)) : 1;
            flit_t f = {.head = true, .tail = true, .kind = FLIT_WRITE, .tag = (uint8_t)rng_below(&rng, CFG_NUM_TAGS)};
            f.rect = (rect_t){x, 0, x, 0};
            f.addr = (uint32_t)rng_below(&rng, CFG_BANKS * CFG_BANK_ROWS);
            f.data.w[0] = rng_next(&rng);
            in.link[l] = (link_t){.valid = true, .vc = vc, .flit = f};
        }
        for (int l = 0; l < TILE_LINKS; l++) // what left one cycle ago has been taken
            if (last[l].valid) in.credit[l] = (credit_t)(1 << last[l].vc);
        tile_out out = pair_step(p, &in);
        for (int l = 0; l < TILE_LINKS; l++) {
            last[l] = out.link[l];
            for (int v = 0; v < NOC_NUM_VCS; v++) room[l][v] = (uint8_t)(room[l][v] + (out.credit[l] >> v & 1));
        }
    }
    same_counters(p);
    cr_assert_gt(p->twin.count.snap[EV_RECV_ROWS], 1000);
    pair_free(p);
}

Test(tile, equals_its_twin_under_random_traffic) {
    for (uint32_t seed = 1; seed <= 3; seed++) random_traffic(seed);
}

Test(tile, check_fires_where_the_host_writes_into_a_running_program) {
    pair *p = pair_new(1);
    const instr_t wait = {.op = OP_WAIT, .engine = ENG_MOVE, .sem = 1, .count = 1};
    instr_t list[24];
    for (int i = 0; i < 24; i++) list[i] = wait; // more than a queue holds: the sequencer goes on running
    pair_load(p, list, 24);
    cr_assert_eq(tile_dut_errors(p->dut), 0);
    pair_step(p, &(tile_in){.start = true});
    for (int i = 0; i < 40; i++) pair_step(p, &(tile_in){0});
    row_t row = isa_pack(&wait);
    tile_dut_load(p->dut, 0, 0, &row);
    cr_assert_gt(tile_dut_errors(p->dut), 0);
    pair_free(p);
}
