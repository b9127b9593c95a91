#include "net/send.h"

#include "common/isa.h"
#include "common/same.h"
#include "net/send_dut.h"

enum { SRAM = 4096, PROG = 1000, FLITS = 20000 };

typedef struct {
    send twin;
    send_dut *dut;
    rng_t rng;
    row_t mem[SRAM];
    const instr_t *prog;
    int n, next;
    int hold; // grants, ready and departures come in one of `hold` cycles
    bool poison;
    flit_t want[FLITS]; // all flits of the program, in order
    int num_want, taken, left, signals;
    int due[PROG]; // flits that have left before each SIGNAL
    mem_rsp rsp;
    send_out out, old;
    bool old_gnt, old_ready;
    uint64_t cycle, total[5];
    send_events ev;
} bench;

static bench *bench_new(uint64_t seed, bool rtl) {
    bench *b = calloc(1, sizeof *b);
    b->rng = rng_new(seed);
    b->hold = 1;
    for (int i = 0; i < SRAM; i++) b->mem[i] = random_row(&b->rng);
    send_reset(&b->twin, (node_t){SEND_DUT_X, SEND_DUT_Y});
    if (rtl) b->dut = send_dut_new(&(dut_options){.seed = (uint32_t)seed});
    return b;
}

static void bench_free(bench *b) {
    if (b->dut) {
        cr_assert_eq(send_dut_errors(b->dut), 0, "checks of the RTL failed");
        send_dut_free(b->dut);
    }
    free(b);
}

static bool luck(bench *b) {
    return b->hold == 1 || rng_below(&b->rng, (uint64_t)b->hold) == 0;
}

static rect_t rect_of(const instr_t *p) {
    return p->op == OP_SEND ? (rect_t){p->rect.x0, p->rect.y0, p->rect.x0, p->rect.y0} : p->rect;
}

// What the program must send, in its order.
static void reference(bench *b) {
    int signals = 0;
    b->num_want = 0;
    for (int i = 0; i < b->n; i++) {
        const instr_t *p = &b->prog[i];
        if (p->op == OP_SIGNAL) b->due[signals++] = b->num_want;
        if (p->op != OP_SEND && p->op != OP_MULTICAST && p->op != OP_REDUCE) continue;
        for (int r = 0; r < p->rows; r++) {
            int first = r / 8 * 8, len = p->rows - first < 8 ? p->rows - first : 8;
            b->want[b->num_want++] = (flit_t){.head = r == first,
                                              .tail = r == first + len - 1,
                                              .len_m1 = (uint8_t)(len - 1),
                                              .kind = p->op == OP_REDUCE ? FLIT_REDUCE : FLIT_WRITE,
                                              .to = TO_TILE,
                                              .rect = rect_of(p),
                                              .root = p->op == OP_REDUCE ? p->root : (node_t){0, 0},
                                              .src = {SEND_DUT_X, SEND_DUT_Y},
                                              .tag = p->tag,
                                              .last = r == p->rows - 1,
                                              .addr = (uint32_t)p->addr_c + (uint32_t)r,
                                              .data = b->mem[p->addr_a + r]};
        }
    }
}

static void compare(const bench *b, const send_out *got, const send_events *ev) {
    SAME_ENGINE(*got, b->out, b->cycle);
    SAME_REQ(*got, b->out, req, b->cycle);
    SAME(*got, b->out, flit_valid, b->cycle);
    if (b->out.flit_valid) same_flit(&got->flit, &b->out.flit, b->cycle);
    same_events(&ev->busy, &b->ev.busy, 5, b->cycle);
}

static void bench_cycle(bench *b) {
    send_in in = {.rsp = b->rsp};
    b->old = b->out;
    send_peek(&b->twin, &b->out);
    b->rsp = (mem_rsp){0};
    if (b->old.req.valid && !b->old_gnt)
        cr_assert(b->out.req.valid && b->out.req.addr == b->old.req.addr, "a request holds: cycle %llu",
                  (unsigned long long)b->cycle);
    if (b->old.flit_valid && !b->old_ready)
        cr_assert(b->out.flit_valid && b->out.flit.addr == b->old.flit.addr, "a flit holds: cycle %llu",
                  (unsigned long long)b->cycle);
    if (b->out.signal_valid)
        cr_assert_eq(b->left, b->due[b->signals], "signal %d: cycle %llu: %d flits have left, want %d", b->signals,
                     (unsigned long long)b->cycle, b->left, b->due[b->signals]);
    b->signals += b->out.signal_valid;
    in.rsp.gnt = b->old_gnt = b->out.req.valid && luck(b);
    if (in.rsp.gnt) b->rsp = (mem_rsp){.rvalid = true, .rerr = b->poison, .rdata = b->mem[b->out.req.addr]};
    // the network interface: two flits
    in.left = b->taken > b->left && luck(b);
    in.flit_ready = b->old_ready = b->taken - b->left < 2;
    b->left += in.left;
    if (in.flit_ready && b->out.flit_valid) {
        cr_assert_lt(b->taken, b->num_want, "a flit too many: cycle %llu", (unsigned long long)b->cycle);
        same_flit(&b->out.flit, &b->want[b->taken++], b->cycle);
    }
    in.instr_valid = b->next < b->n && luck(b);
    if (in.instr_valid) in.instr = b->prog[b->next];
    if (in.instr_valid && b->out.instr_ready) b->next++;
    in.wait_gnt = b->out.wait_valid && luck(b);
    send_step(&b->twin, &in, &b->ev);
    if (b->dut) {
        send_out got;
        send_events ev;
        send_dut_step(b->dut, &in, &got, &ev);
        compare(b, &got, &ev);
    }
    cr_assert_eq(b->ev.busy + b->ev.stall_bank + b->ev.stall_net + b->ev.stall_sem + b->ev.idle, 1);
    for (int i = 0; i < 5; i++) b->total[i] += (&b->ev.busy)[i];
    b->cycle++;
}

static uint64_t total(const bench *b, int event) {
    return b->total[event - EV_SEND_BUSY];
}

static void bench_run(bench *b, const instr_t *prog, int n, uint64_t limit) {
    b->prog = prog;
    b->n = n;
    reference(b);
    do {
        bench_cycle(b);
        cr_assert_lt(b->cycle, limit, "hangs at instruction %d of %d", b->next, n);
    } while (b->next < n || b->twin.front.cur_valid || b->out.busy);
    cr_assert_eq(b->taken, b->num_want);
}

static void random_program(rng_t *rng, instr_t *prog, int n) {
    static const int sizes[] = {1, 1, 2, 7, 8, 9, 15, 16, 17, 20, 40, 0};
    static const op_id ops[] = {OP_SEND, OP_SEND, OP_MULTICAST, OP_MULTICAST, OP_REDUCE, OP_REDUCE, OP_WAIT, OP_SIGNAL};
    for (int i = 0; i < n; i++) {
        row_t bits = random_row(rng);
        prog[i] = isa_unpack(&bits);
        prog[i].op = (uint8_t)ops[rng_below(rng, 8)];
        prog[i].rows = (uint16_t)sizes[rng_below(rng, 12)];
        prog[i].addr_a = (uint16_t)rng_below(rng, SRAM - 64);
        prog[i].addr_c = (uint16_t)rng_below(rng, 65536 - 64);
    }
}

static void lock_step(uint64_t seed) {
    static instr_t prog[PROG];
    for (int hold = 1; hold <= 4; hold++) {
        bench *b = bench_new(seed, true);
        b->hold = hold;
        int n = hold == 1 ? 900 : 300;
        random_program(&b->rng, prog, n);
        bench_run(b, prog, n, 200000);
        for (int i = 0; i < 20; i++) bench_cycle(b);
        cr_assert(b->ev.idle && total(b, EV_SEND_IDLE) >= 20, "activity after the end");
        cr_assert_gt(b->signals, 20);
        cr_assert_gt(b->cycle, 3000);
        bench_free(b);
    }
}

Test(send, equals_its_twin_1) {
    lock_step(1);
}
Test(send, equals_its_twin_2) {
    lock_step(2);
}
Test(send, equals_its_twin_3) {
    lock_step(3);
}

Test(send, sends_a_row_a_cycle_without_gaps) {
    instr_t prog[16];
    for (int i = 0; i < 16; i++)
        prog[i] = (instr_t){
            .op = i % 2 ? OP_SEND : OP_MULTICAST, .rows = 13, .addr_a = (uint16_t)(13 * i), .rect = {0, 0, 1, 1}};
    bench *b = bench_new(4, true);
    bench_run(b, prog, 16, 1000);
    cr_assert_eq(total(b, EV_SEND_BUSY), 13 * 16);
    cr_assert_leq(total(b, EV_SEND_STALL_BANK) + total(b, EV_SEND_STALL_NET),
                  4); // the first row's latency, the last one's way
    bench_free(b);
}

Test(send, poisoned_read_is_an_error) {
    instr_t p = {.op = OP_SEND, .rows = 2};
    bench *b = bench_new(5, true);
    b->poison = true;
    bench_run(b, &p, 1, 100);
    cr_assert(b->out.error);
    bench_free(b);
}

Test(send, foreign_instruction_is_an_error_and_passes) {
    instr_t prog[2] = {{.op = OP_RECEIVE, .rows = 2}, {.op = OP_SIGNAL, .sem = 1, .count = 1}};
    bench *b = bench_new(6, true);
    bench_run(b, prog, 2, 100);
    cr_assert(b->out.error);
    cr_assert_eq(b->signals, 1);
    bench_free(b);
}

static void fires(send_in in, int cycles) {
    send_dut *dut = send_dut_new(&(dut_options){.seed = 1});
    send_out out;
    send_events ev;
    send_dut_step(dut, &(send_in){0}, &out, &ev);
    cr_assert_eq(send_dut_errors(dut), 0);
    for (int i = 0; i < cycles; i++) send_dut_step(dut, &in, &out, &ev);
    cr_assert_gt(send_dut_errors(dut), 0);
    send_dut_free(dut);
}

Test(send, departure_of_no_flit_fires) {
    fires((send_in){.left = true}, 1);
}
Test(send, late_read_data_fires) {
    fires((send_in){.instr_valid = true, .instr = {.op = OP_SEND, .rows = 4}, .rsp = {.gnt = true}}, 4);
}
