#include "net/recv.h"

#include "common/isa.h"
#include "net/recv_dut.h"
#include "common/same.h"

enum { SRAM = 65536, TAGS = CFG_NUM_TAGS };

typedef struct {
    recv twin;
    recv_dut *dut;
    rng_t rng;
    int hold;
    row_t *mem, *want;
    flit_t offer;
    bool offered;
    uint64_t cycle;
    uint32_t arrived[TAGS], received[TAGS]; // rows written, rows that retired RECEIVEs took
    int rows, acks, loads, want_acks, want_loads, retired;
    instr_t prog;      // the next instruction
    bool ready;        // it is waiting to be taken
    instr_t inside[4]; // instructions taken and not yet retired
    int num_inside;
    recv_out out, old;
    bool old_gnt;
    recv_events ev;
    uint64_t total[6];
} bench;

static bench *bench_new(uint64_t seed, bool rtl) {
    bench *b = calloc(1, sizeof *b);
    b->rng = rng_new(seed);
    b->hold = 1;
    b->mem = calloc(SRAM, sizeof *b->mem);
    b->want = calloc(SRAM, sizeof *b->want);
    recv_reset(&b->twin);
    if (rtl) b->dut = recv_dut_new(&(dut_options){.seed = (uint32_t)seed});
    return b;
}

static void bench_free(bench *b) {
    if (b->dut) {
        cr_assert_eq(recv_dut_errors(b->dut), 0, "checks of the RTL failed");
        recv_dut_free(b->dut);
    }
    free(b->mem);
    free(b->want);
    free(b);
}

static bool luck(bench *b) {
    return b->hold == 1 || rng_below(&b->rng, (uint64_t)b->hold) == 0;
}

static void compare(const bench *b, const recv_out *got, const recv_events *ev) {
    SAME_ENGINE(*got, b->out, b->cycle);
    SAME_REQ(*got, b->out, req, b->cycle);
    SAME(*got, b->out, flit_ready, b->cycle);
    SAME(*got, b->out, load_row, b->cycle);
    SAME(*got, b->out, ack, b->cycle);
    if (b->out.load_row) SAME(*got, b->out, load_slot, b->cycle);
    if (b->out.ack) SAME(*got, b->out, ack_slot, b->cycle);
    same_events(&ev->busy, &b->ev.busy, 6, b->cycle);
}

// Retirements, told from outside: an instruction retires in each busy cycle.
static void account(bench *b) {
    if (!b->ev.busy) return;
    cr_assert_gt(b->num_inside, 0);
    instr_t done = b->inside[0];
    memmove(b->inside, b->inside + 1, sizeof b->inside - sizeof b->inside[0]);
    b->num_inside--;
    b->retired++;
    if (done.op == OP_SIGNAL)
        cr_assert(b->out.signal_valid && b->out.signal_sem == done.sem && b->out.signal_count == done.count);
    if (done.op != OP_RECEIVE || done.tag >= TAGS) return;
    b->received[done.tag] += done.rows;
    cr_assert_leq(b->received[done.tag], b->arrived[done.tag], "tag %u: cycle %llu: more received than arrived",
                  done.tag, (unsigned long long)b->cycle);
}

static void bench_cycle(bench *b) {
    recv_in in = {0};
    b->old = b->out;
    recv_peek(&b->twin, &b->out);
    if (b->old.req.valid && !b->old_gnt)
        cr_assert(b->out.req.valid && b->out.req.addr == b->old.req.addr, "a request holds: cycle %llu",
                  (unsigned long long)b->cycle);
    in.rsp.gnt = b->old_gnt = b->out.req.valid && luck(b);
    b->acks += b->out.ack;
    b->loads += b->out.load_row;
    if ((in.flit_valid = b->offered)) in.flit = b->offer;
    bool taken = b->offered && b->out.flit_ready;
    in.instr_valid = b->ready && luck(b);
    if (in.instr_valid) in.instr = b->prog;
    bool accepted = in.instr_valid && b->out.instr_ready;
    in.wait_gnt = b->out.wait_valid && luck(b);
    recv_step(&b->twin, &in, &b->ev);
    if (b->dut) {
        recv_out got;
        recv_events ev;
        recv_dut_step(b->dut, &in, &got, &ev);
        compare(b, &got, &ev);
    }
    account(b);
    if (in.rsp.gnt) {
        b->mem[b->out.req.addr] = b->out.req.wdata;
        b->rows++;
    }
    if (taken) {
        const flit_t *f = &b->offer;
        b->want_acks += f->kind == FLIT_STORE_ACK;
        b->want_loads += f->kind == FLIT_LOAD_DATA;
        if (f->kind == FLIT_WRITE || f->kind == FLIT_REDUCE || f->kind == FLIT_LOAD_DATA)
            b->want[f->addr & 0xFFFF] = f->data;
        if (f->tag < TAGS && (f->kind == FLIT_WRITE || f->kind == FLIT_REDUCE)) b->arrived[f->tag]++;
        b->offered = false;
    }
    if (accepted) {
        b->inside[b->num_inside++] = b->prog;
        b->ready = false;
    }
    cr_assert_eq(b->ev.busy + b->ev.stall_tag + b->ev.stall_sem + b->ev.idle, 1);
    for (int i = 0; i < 6; i++) b->total[i] += (&b->ev.busy)[i];
    b->cycle++;
}

static flit_t random_flit(rng_t *rng) {
    static const flit_kind kinds[] = {FLIT_WRITE,     FLIT_WRITE,     FLIT_REDUCE,
                                      FLIT_LOAD_DATA, FLIT_LOAD_DATA, FLIT_STORE_ACK};
    return (flit_t){.kind = (uint8_t)kinds[rng_below(rng, 6)],
                    .tag = (uint8_t)rng_below(rng, TAGS < 4 ? TAGS : 4),
                    .addr = (uint32_t)rng_next(rng),
                    .data = random_row(rng)};
}

static void lock_step(uint64_t seed) {
    static const op_id ops[] = {OP_RECEIVE, OP_RECEIVE, OP_RECEIVE, OP_RECEIVE, OP_WAIT, OP_SIGNAL};
    for (int hold = 1; hold <= 4; hold++) {
        bench *b = bench_new(seed, true);
        b->hold = hold;
        for (int cycle = 0; cycle < 4000; cycle++) {
            int phase = cycle / 500 % 3; // all, no programs, few flits
            if (!b->offered && (phase != 2 || rng_below(&b->rng, 6) == 0)) {
                b->offered = true;
                b->offer = random_flit(&b->rng);
            }
            if (!b->ready && phase != 1) {
                b->ready = true;
                b->prog = (instr_t){.op = (uint8_t)ops[rng_below(&b->rng, 6)],
                                    .tag = (uint8_t)rng_below(&b->rng, TAGS < 4 ? TAGS : 4),
                                    .rows = (uint16_t)rng_below(&b->rng, 6),
                                    .sem = (uint8_t)rng_below(&b->rng, 16),
                                    .count = (uint8_t)rng_below(&b->rng, 256)};
            }
            bench_cycle(b);
        }
        b->ready = false;
        for (int i = 0; i < 100; i++) bench_cycle(b);
        cr_assert_eq(memcmp(b->mem, b->want, SRAM * sizeof *b->mem), 0, "rows at their addresses");
        cr_assert(b->acks == b->want_acks && b->loads == b->want_loads && b->acks > 100 / hold &&
                  b->loads > 100 / hold);
        cr_assert_eq(b->total[EV_RECV_ROWS - EV_RECV_BUSY], (uint64_t)b->rows);
        cr_assert_gt(b->retired, 200);
        cr_assert_gt(b->total[EV_RECV_STALL_TAG - EV_RECV_BUSY], 100);
        cr_assert(!b->out.error);
        bench_free(b);
    }
}

Test(recv, equals_its_twin_1) {
    lock_step(1);
}
Test(recv, equals_its_twin_2) {
    lock_step(2);
}
Test(recv, equals_its_twin_3) {
    lock_step(3);
}

static void arrive(bench *b, flit_t flit) {
    while (b->offered) bench_cycle(b);
    b->offered = true;
    b->offer = flit;
    while (b->offered) bench_cycle(b);
}

static void issue(bench *b, instr_t instr) {
    b->ready = true;
    b->prog = instr;
    while (b->ready) bench_cycle(b);
}

static void drain(bench *b) {
    for (int i = 0; i < 5; i++) bench_cycle(b);
}

Test(recv, writes_a_row_a_cycle) {
    bench *b = bench_new(4, true);
    for (uint32_t i = 0; i < 200; i++) {
        b->offered = true;
        b->offer = (flit_t){.kind = FLIT_WRITE, .addr = i, .data = random_row(&b->rng)};
        bench_cycle(b);
        cr_assert(!b->offered, "row %u", i);
    }
    bench_cycle(b);
    cr_assert_eq(b->rows, 200);
    bench_free(b);
}

// A RECEIVE retires in the cycle after the last of its rows was granted, not before; the rest stays for the next one.
Test(recv, receive_waits_for_its_rows) {
    bench *b = bench_new(5, true);
    issue(b, (instr_t){.op = OP_RECEIVE, .tag = 2, .rows = 3});
    for (int i = 0; i < 5; i++) arrive(b, (flit_t){.kind = FLIT_WRITE, .tag = (uint8_t)(i == 1 ? 3 : 2), .addr = 7});
    drain(b);
    cr_assert_eq(b->retired, 1);
    issue(b, (instr_t){.op = OP_RECEIVE, .tag = 2, .rows = 2});
    drain(b);
    cr_assert_eq(b->retired, 1);
    arrive(b, (flit_t){.kind = FLIT_REDUCE, .tag = 2, .addr = 7});
    drain(b);
    cr_assert_eq(b->retired, 2);
    cr_assert(!b->out.busy && !b->out.error);
    bench_free(b);
}

Test(recv, counter_that_overflows_is_an_error) {
    bench *b = bench_new(6, true);
    for (int i = 0; i < 65535; i++) arrive(b, (flit_t){.kind = FLIT_WRITE, .tag = 1});
    drain(b);
    cr_assert(!b->out.error);
    arrive(b, (flit_t){.kind = FLIT_WRITE, .tag = 1});
    drain(b);
    cr_assert(b->out.error);
    cr_assert_eq(b->twin.arrivals[1], 65535);
    bench_free(b);
}

// A full counter from which rows are taken in the same cycle has room for one more.
Test(recv, full_counter_takes_one_while_it_gives) {
    bench *b = bench_new(6, true);
    for (int i = 0; i < 65535; i++) arrive(b, (flit_t){.kind = FLIT_WRITE, .tag = 1});
    drain(b);
    b->ready = b->offered = true;
    b->prog = (instr_t){.op = OP_RECEIVE, .tag = 1, .rows = 10};
    b->offer = (flit_t){.kind = FLIT_WRITE, .tag = 1};
    drain(b);
    cr_assert(!b->out.error);
    cr_assert_eq(b->twin.arrivals[1], 65526);
    bench_free(b);
}

static void is_error(flit_t flit, instr_t instr) {
    bench *b = bench_new(7, true);
    if (instr.op)
        issue(b, instr);
    else
        arrive(b, flit);
    drain(b);
    cr_assert(b->out.error && !b->out.busy);
    bench_free(b);
}

Test(recv, what_does_not_exist_here_is_an_error) {
    is_error((flit_t){.kind = FLIT_LOAD_REQ}, (instr_t){0});
    is_error((flit_t){.kind = FLIT_STORE_DATA}, (instr_t){0});
    is_error((flit_t){.kind = 6}, (instr_t){0});
    is_error((flit_t){0}, (instr_t){.op = OP_SEND});
    if (TAGS < 32) is_error((flit_t){.kind = FLIT_WRITE, .tag = TAGS & 31}, (instr_t){0});
    if (TAGS < 32) is_error((flit_t){0}, (instr_t){.op = OP_RECEIVE, .tag = TAGS & 31});
}

Test(recv, flit_that_is_withdrawn_fires) {
    recv_dut *dut = recv_dut_new(&(dut_options){.seed = 1});
    recv_out out;
    recv_events ev;
    for (int i = 0; i < 3; i++) recv_dut_step(dut, &(recv_in){.flit_valid = true}, &out, &ev);
    cr_assert_eq(recv_dut_errors(dut), 0);
    recv_dut_step(dut, &(recv_in){0}, &out, &ev);
    cr_assert_gt(recv_dut_errors(dut), 0);
    recv_dut_free(dut);
}
