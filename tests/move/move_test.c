#include "move/move.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/same.h"
#include "move/move_dut.h"

// SRAM: A is only read, COPYs write B and read A and B, LOADs write C. HBM: LOADs read the lower, STOREs write the
// upper half.
enum { A = 0, B = 1024, C = 2048, SRAM = 3072, HBM = 65536, UP = HBM / 2, SLOTS = CFG_NUM_SLOTS, PROG = 3000 };

typedef struct {
    bool active, acked; // acked: a STORE whose last flit has left
    instr_t instr;
    int done;
} slot_t;

typedef struct {
    move twin;
    move_dut *dut;
    rng_t rng;
    row_t mem[SRAM], hbm[HBM], want_mem[SRAM], want_hbm[HBM];
    const instr_t *prog;
    int n, next;
    int hold; // grants, ready and replies come in one of `hold` cycles
    bool no_replies, poison;
    slot_t slots[SLOTS];
    uint64_t cycle, copied, loaded, stored, due_copied[PROG], due_loaded[PROG], due_stored[PROG];
    int signals, most_slots, packet;
    int signal_at[PROG];
    mem_rsp rsp; // of the cycle to come
    move_out out, old;
    bool old_gnt[MOVE_PORTS], old_ready;
    move_events ev;
    uint64_t total[9];
} bench;

static bench *bench_new(uint64_t seed, bool rtl) {
    bench *b = calloc(1, sizeof *b);
    b->rng = rng_new(seed);
    b->hold = 1;
    for (int i = 0; i < SRAM; i++) b->mem[i] = (row_t){{rng_next(&b->rng), (uint64_t)i, rng_next(&b->rng), 1}};
    for (int i = 0; i < HBM; i++) b->hbm[i] = (row_t){{rng_next(&b->rng), (uint64_t)i, rng_next(&b->rng), 2}};
    memcpy(b->want_mem, b->mem, sizeof b->mem);
    memcpy(b->want_hbm, b->hbm, sizeof b->hbm);
    move_reset(&b->twin, (node_t){MOVE_DUT_X, MOVE_DUT_Y});
    if (rtl) b->dut = move_dut_new(&(dut_options){.seed = (uint32_t)seed});
    return b;
}

static void bench_free(bench *b) {
    if (b->dut) {
        cr_assert_eq(move_dut_errors(b->dut), 0, "checks of the RTL failed");
        move_dut_free(b->dut);
    }
    free(b);
}

static bool luck(bench *b) {
    return b->hold == 1 || rng_below(&b->rng, (uint64_t)b->hold) == 0;
}

// What the program must have done, in its order.
static void reference(bench *b) {
    uint64_t copied = 0, loaded = 0, stored = 0;
    int signals = 0;
    for (int i = 0; i < b->n; i++) {
        const instr_t *p = &b->prog[i];
        for (int r = 0; r < p->rows; r++) {
            if (p->op == OP_COPY) b->want_mem[p->addr_c + r] = b->want_mem[p->addr_a + r];
            if (p->op == OP_LOAD) b->want_mem[p->addr_c + r] = b->want_hbm[p->hbm_addr + (uint32_t)r];
            if (p->op == OP_STORE) b->want_hbm[p->hbm_addr + (uint32_t)r] = b->want_mem[p->addr_a + r];
        }
        if (p->op == OP_COPY) copied += p->rows;
        if (p->op == OP_LOAD) loaded += p->rows;
        if (p->op == OP_STORE) stored += p->rows;
        if (p->op != OP_SIGNAL) continue;
        b->due_copied[signals] = copied;
        b->due_loaded[signals] = loaded;
        b->due_stored[signals] = stored;
        b->signal_at[signals++] = i;
    }
}

static void compare(const bench *b, const move_out *got, const move_events *ev) {
    SAME_ENGINE(*got, b->out, b->cycle);
    for (int i = 0; i < MOVE_PORTS; i++) SAME_REQ(*got, b->out, req[i], b->cycle);
    SAME(*got, b->out, flit_valid, b->cycle);
    if (b->out.flit_valid) same_flit(&got->flit, &b->out.flit, b->cycle);
    same_events(&ev->busy, &b->ev.busy, 9, b->cycle);
}

// A flit that the network takes: the memory behind it, and what a port expects of packets.
static void take_flit(bench *b) {
    const flit_t *f = &b->out.flit;
    cr_assert_lt(f->tag, SLOTS);
    slot_t *s = &b->slots[f->tag];
    cr_assert_eq(f->rect.x0, f->to == TO_EAST ? CFG_TILES_X - 1 : 0);
    cr_assert_eq(f->rect.x1, f->rect.x0);
    cr_assert_eq(f->rect.y1, f->rect.y0);
    cr_assert_eq(f->src.x, MOVE_DUT_X);
    cr_assert_eq(f->src.y, MOVE_DUT_Y);
    cr_assert_eq(f->head, b->packet == 0);
    b->packet++;
    cr_assert_eq(f->tail, b->packet == f->len_m1 + 1);
    if (f->tail) b->packet = 0;
    if (!s->active) *s = (slot_t){.active = true, .instr = {.op = f->kind == FLIT_LOAD_REQ ? OP_LOAD : OP_STORE}};
    if (f->kind == FLIT_LOAD_REQ) {
        cr_assert_eq(s->instr.rows, 0, "slot %u is taken: cycle %llu", f->tag, (unsigned long long)b->cycle);
        s->instr.rows = (uint16_t)f->data.w[0];
        s->instr.addr_c = (uint16_t)(f->data.w[0] >> 16);
        s->instr.hbm_addr = f->addr;
    } else {
        cr_assert_eq(f->kind, FLIT_STORE_DATA);
        cr_assert(s->instr.op == OP_STORE && !s->acked);
        cr_assert_eq(f->root.x << 5 | f->root.y, s->done++ / 8);
        b->hbm[f->addr] = f->data;
        b->stored++;
        s->acked = f->last;
    }
    int active = 0;
    for (int i = 0; i < SLOTS; i++) active += b->slots[i].active;
    if (active > b->most_slots) b->most_slots = active;
}

static void reply(bench *b, move_in *in) {
    if (b->no_replies || !luck(b)) return;
    int i = (int)rng_below(&b->rng, SLOTS);
    slot_t *s = &b->slots[i];
    if (!s->active) return;
    if (s->instr.op == OP_LOAD) {
        in->load_row = true;
        in->load_slot = (uint8_t)i;
        b->mem[s->instr.addr_c + s->done] = b->hbm[s->instr.hbm_addr + (uint32_t)s->done];
        b->loaded++;
        s->active = ++s->done < s->instr.rows;
    } else if (s->acked) {
        in->ack = true;
        in->ack_slot = (uint8_t)i;
        s->active = false;
    }
}

static void memory(bench *b, move_in *in) {
    in->rsp[MOVE_R] = b->rsp;
    b->rsp = (mem_rsp){0};
    for (int i = 0; i < MOVE_PORTS; i++) {
        const mem_req *r = &b->out.req[i], *old = &b->old.req[i];
        if (old->valid && !b->old_gnt[i])
            cr_assert(r->valid && r->addr == old->addr, "port %d: cycle %llu: a request holds", i,
                      (unsigned long long)b->cycle);
        b->old_gnt[i] = in->rsp[i].gnt = r->valid && luck(b);
        if (!in->rsp[i].gnt) continue;
        if (r->we)
            b->mem[r->addr] = r->wdata;
        else
            b->rsp = (mem_rsp){.rvalid = true, .rerr = b->poison, .rdata = b->mem[r->addr]};
        b->copied += r->we;
    }
}

static void bench_cycle(bench *b) {
    move_in in = {0};
    b->old = b->out;
    move_peek(&b->twin, &b->out);
    if (b->old.flit_valid && !b->old_ready)
        cr_assert(b->out.flit_valid && b->out.flit.addr == b->old.flit.addr && b->out.flit.tag == b->old.flit.tag,
                  "a flit holds: cycle %llu", (unsigned long long)b->cycle);
    if (b->out.signal_valid) {
        cr_assert(b->copied == b->due_copied[b->signals] && b->loaded == b->due_loaded[b->signals] &&
                      b->stored == b->due_stored[b->signals],
                  "signal %d: cycle %llu: %llu rows copied, %llu loaded, %llu stored", b->signals,
                  (unsigned long long)b->cycle, (unsigned long long)b->copied, (unsigned long long)b->loaded,
                  (unsigned long long)b->stored);
        for (int i = 0; i < SLOTS; i++) cr_assert(!b->slots[i].active, "signal before slot %d is done", i);
        b->signals++;
    }
    reply(b, &in);
    memory(b, &in);
    in.flit_ready = b->old_ready = luck(b);
    if (in.flit_ready && b->out.flit_valid) take_flit(b);
    in.instr_valid = b->next < b->n && luck(b);
    if (in.instr_valid) in.instr = b->prog[b->next];
    if (in.instr_valid && b->out.instr_ready) b->next++;
    in.wait_gnt = b->out.wait_valid && luck(b);
    move_out got;
    move_events ev;
    move_step(&b->twin, &in, &b->ev);
    if (b->dut) {
        move_dut_step(b->dut, &in, &got, &ev);
        compare(b, &got, &ev);
    }
    const move_events *e = &b->ev;
    cr_assert_eq(e->busy + e->stall_bank + e->stall_net + e->stall_slot + e->stall_sem + e->idle, 1);
    for (int i = 0; i < 9; i++) b->total[i] += (&e->busy)[i];
    b->cycle++;
}

static uint64_t total(const bench *b, int event) {
    return b->total[event - EV_MOVE_BUSY];
}

static void bench_run(bench *b, const instr_t *prog, int n, uint64_t limit) {
    b->prog = prog;
    b->n = n;
    b->next = 0;
    reference(b);
    do {
        bench_cycle(b);
        cr_assert_lt(b->cycle, limit, "hangs at instruction %d of %d", b->next, n);
    } while (b->next < n || b->twin.front.cur_valid || b->out.busy);
    for (int i = 0; i < SRAM; i++) cr_assert_eq(memcmp(&b->mem[i], &b->want_mem[i], ROW_BYTES), 0, "SRAM row %d", i);
    for (int i = 0; i < HBM; i++) cr_assert_eq(memcmp(&b->hbm[i], &b->want_hbm[i], ROW_BYTES), 0, "HBM row %d", i);
}

static int random_program(rng_t *rng, instr_t *prog, int n) {
    static const int sizes[] = {1, 1, 2, 7, 8, 9, 15, 16, 17, 20, 40, 0};
    int load_at = 0, store_at = 0;
    for (int i = 0; i < n; i++) {
        int rows = sizes[rng_below(rng, 12)];
        instr_t p = {.engine = ENG_MOVE,
                     .rows = (uint16_t)rows,
                     .to = rng_below(rng, 2) ? TO_EAST : TO_WEST,
                     .rect = {.y0 = rng_below(rng, 2) & 1}};
        uint64_t what = rng_below(rng, 10);
        p.op = what < 3 ? OP_COPY : what < 6 ? OP_LOAD : what < 8 ? OP_STORE : what == 8 ? OP_WAIT : OP_SIGNAL;
        p.addr_a = (uint16_t)rng_below(rng, C - 64);
        p.sem = (uint8_t)rng_below(rng, CFG_NUM_SEMS);
        p.count = (uint8_t)rng_below(rng, 256);
        p.addr_c = (uint16_t)(B + rng_below(rng, C - B - 64));
        if (p.op == OP_COPY && p.addr_a < p.addr_c + rows && p.addr_c < p.addr_a + rows)
            p.addr_a = (uint16_t)rng_below(rng, B - 64);
        if (p.op == OP_LOAD) {
            if (load_at + rows > SRAM - C) load_at = 0;
            p.addr_c = (uint16_t)(C + load_at);
            load_at += rows;
            p.hbm_addr = (uint32_t)rng_below(rng, UP - 64);
        }
        if (p.op == OP_STORE) {
            if (store_at + rows > HBM - UP) store_at = 0;
            p.hbm_addr = (uint32_t)(UP + store_at);
            store_at += rows;
        }
        if (p.op == OP_WAIT || p.op == OP_SIGNAL) p.rows = 0;
        prog[i] = p;
    }
    return n;
}

static void lock_step(uint64_t seed) {
    for (int hold = 1; hold <= 4; hold++) {
        bench *b = bench_new(seed, true);
        instr_t *prog = calloc(PROG, sizeof *prog);
        b->hold = hold;
        int n = random_program(&b->rng, prog, hold == 1 ? 1000 : 400);
        bench_run(b, prog, n, 200000);
        for (int i = 0; i < 20; i++) bench_cycle(b);
        cr_assert(b->ev.idle && b->total[EV_MOVE_BUSY - EV_MOVE_BUSY], "activity after the end");
        cr_assert_eq(total(b, EV_MOVE_ROWS_COPIED), b->copied);
        cr_assert_eq(total(b, EV_MOVE_ROWS_LOADED), b->loaded);
        cr_assert_eq(total(b, EV_MOVE_ROWS_STORED), b->stored);
        cr_assert_gt(b->signals, 20);
        cr_assert_gt(b->cycle, 4000);
        free(prog);
        bench_free(b);
    }
}

Test(move, equals_its_twin_1) {
    lock_step(1);
}
Test(move, equals_its_twin_2) {
    lock_step(2);
}
Test(move, equals_its_twin_3) {
    lock_step(3);
}

// The results do not depend on the stalls (60 seeds, twin alone).
Test(move, results_do_not_depend_on_stalls) {
    instr_t *prog = calloc(PROG, sizeof *prog);
    rng_t rng = rng_new(77);
    int n = random_program(&rng, prog, 200);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        bench *b = bench_new(seed, false);
        b->hold = 2 + (int)(seed % 5);
        bench_run(b, prog, n, 200000);
        bench_free(b);
    }
    free(prog);
}

static uint64_t cycles_of(const instr_t *prog, int n) {
    bench *b = bench_new(5, false);
    bench_run(b, prog, n, 10000);
    uint64_t cycles = b->cycle;
    bench_free(b);
    return cycles;
}

Test(move, copies_a_row_a_cycle) {
    instr_t copy = {.op = OP_COPY, .rows = 512, .addr_a = A, .addr_c = B};
    cr_assert_leq(cycles_of(&copy, 1), 512 + 6);
    instr_t one = {.op = OP_COPY, .rows = 1, .addr_a = A, .addr_c = B};
    cr_assert_eq(cycles_of(&copy, 1) - cycles_of(&one, 1), 511);
}

Test(move, stores_a_row_a_cycle) {
    instr_t store = {.op = OP_STORE, .rows = 512, .addr_a = A, .hbm_addr = UP, .to = TO_WEST}, one = store;
    one.rows = 8;
    bench *b = bench_new(6, false);
    bench_run(b, &store, 1, 1000);
    cr_assert_eq(total(b, EV_MOVE_BUSY), 512);
    cr_assert_leq(total(b, EV_MOVE_STALL_BANK) + total(b, EV_MOVE_STALL_NET), 2);
    bench_free(b);
    // eight STOREs in a row leave no gaps
    instr_t eight[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        eight[i] = one;
        eight[i].hbm_addr = (uint32_t)(UP + 8 * i);
    }
    b = bench_new(6, false);
    b->prog = eight;
    b->n = SLOTS;
    for (int i = 0; i < 3 + 8 * SLOTS; i++) bench_cycle(b);
    cr_assert_eq(total(b, EV_MOVE_ROWS_STORED), 8 * SLOTS);
    bench_free(b);
}

// All slots are outstanding at once, one request a cycle; the next LOAD waits and the SIGNAL behind it too.
Test(move, loads_are_outstanding_in_every_slot) {
    instr_t prog[SLOTS + 2];
    for (int i = 0; i <= SLOTS; i++)
        prog[i] = (instr_t){
            .op = OP_LOAD, .rows = 4, .addr_c = (uint16_t)(C + 4 * i), .hbm_addr = (uint32_t)(4 * i), .to = TO_EAST};
    prog[SLOTS + 1] = (instr_t){.op = OP_SIGNAL, .sem = 3, .count = 1};
    bench *b = bench_new(7, true);
    b->no_replies = true;
    b->prog = prog;
    b->n = SLOTS + 2;
    for (int i = 0; i < 3 + SLOTS; i++) bench_cycle(b);
    cr_assert_eq(b->most_slots, SLOTS);
    cr_assert_eq(total(b, EV_MOVE_BUSY), SLOTS);
    for (int i = 0; i < 50; i++) bench_cycle(b);
    cr_assert_eq(total(b, EV_MOVE_BUSY), SLOTS);
    cr_assert_eq(total(b, EV_MOVE_STALL_SLOT), 50);
    b->no_replies = false;
    reference(b);
    while (b->out.busy && b->cycle < 1000) bench_cycle(b);
    cr_assert_eq(b->signals, 1);
    cr_assert_eq(b->loaded, 4 * (SLOTS + 1));
    bench_free(b);
}

Test(move, poisoned_read_is_an_error) {
    instr_t copy = {.op = OP_COPY, .rows = 2, .addr_a = A, .addr_c = B};
    bench *b = bench_new(8, true);
    b->poison = true;
    bench_run(b, &copy, 1, 100);
    cr_assert(b->out.error);
    bench_free(b);
}

Test(move, foreign_instruction_is_an_error_and_passes) {
    instr_t prog[2] = {{.op = OP_SEND, .rows = 2}, {.op = OP_SIGNAL, .sem = 1, .count = 1}};
    bench *b = bench_new(9, true);
    bench_run(b, prog, 2, 100);
    cr_assert(b->out.error);
    cr_assert_eq(b->signals, 1);
    bench_free(b);
}

static void fires(move_in in, int cycles) {
    move_dut *dut = move_dut_new(&(dut_options){.seed = 1});
    move_out out;
    move_events ev;
    move_dut_step(dut, &(move_in){0}, &out, &ev);
    cr_assert_eq(move_dut_errors(dut), 0);
    for (int i = 0; i < cycles; i++) move_dut_step(dut, &in, &out, &ev);
    cr_assert_gt(move_dut_errors(dut), 0);
    move_dut_free(dut);
}

Test(move, row_without_a_load_fires) {
    fires((move_in){.load_row = true, .load_slot = 1}, 1);
}
Test(move, ack_without_a_store_fires) {
    fires((move_in){.ack = true, .ack_slot = 0}, 1);
}
Test(move, late_read_data_fires) {
    fires((move_in){.instr_valid = true, .instr = {.op = OP_COPY, .rows = 4}, .rsp = {{.gnt = true}}}, 4);
}
