#include "net/ni.h"

#include "net/ni_dut.h"
#include "net/recv.h"
#include "common/same.h"
#include "net/send.h"

enum { VCS = NOC_NUM_VCS, DEPTH = CFG_NOC_DEPTH, LOG = 40000 };

// A stream of flits in order: what went in, what came out.
typedef struct {
    flit_t flits[LOG];
    int in, out;
} stream;

// A buffer at the router's side of a link.
typedef struct {
    int count; // flits in the buffer of each channel
    int left;  // flits left of the packet under way
    int src;   // who sends it
} channel;

typedef struct {
    ni twin;
    ni_dut *dut;
    rng_t rng;
    int hold,
        rest;  // the router gives a credit, recv takes a flit in one of `hold` cycles; engines offer in one of `rest`
    bool stop; // engines start no new packet
    bool no_credits;
    int reduce; // one of so many packets is a REDUCE, 0 none
    stream from[NI_SOURCES], to[VCS];
    flit_t offer[NI_SOURCES];
    bool offered[NI_SOURCES];
    int left[NI_SOURCES]; // flits of the packet still to offer
    channel router[VCS];
    int credits[VCS]; // the router's, towards the NI
    int left_count;   // flits of send seen on the link
    ni_out out, old;
    bool old_ready;
    uint64_t cycle, sent, taken;
    int packets[NI_SOURCES];
} bench;

static bench *bench_new(uint64_t seed, bool rtl) {
    bench *b = calloc(1, sizeof *b);
    b->rng = rng_new(seed);
    b->hold = b->rest = 1;
    b->reduce = 4;
    for (int v = 0; v < VCS; v++) b->credits[v] = DEPTH;
    ni_reset(&b->twin);
    if (rtl) b->dut = ni_dut_new(&(dut_options){.seed = (uint32_t)seed});
    return b;
}

static void bench_free(bench *b) {
    if (b->dut) {
        cr_assert_eq(ni_dut_errors(b->dut), 0, "checks of the RTL failed");
        ni_dut_free(b->dut);
    }
    free(b);
}

static bool luck(bench *b, int n) {
    return n == 1 || rng_below(&b->rng, (uint64_t)n) == 0;
}

// The next flit of the engine's packet; serial numbers in the data tell flits apart.
static void offer(bench *b, int src) {
    if (b->offered[src] || (b->left[src] == 0 && b->stop) || !luck(b, b->rest)) return;
    flit_t *f = &b->offer[src];
    f->head = b->left[src] == 0;
    if (f->head) {
        *f = (flit_t){.head = true,
                      .len_m1 = (uint8_t)rng_below(&b->rng, 8),
                      .kind = b->reduce && luck(b, b->reduce) ? FLIT_REDUCE : FLIT_WRITE,
                      .rect = {1, 2, 3, 4},
                      .tag = (uint8_t)src};
        b->left[src] = f->len_m1 + 1;
    }
    f->tail = --b->left[src] == 0;
    f->data = random_row(&b->rng);
    f->addr++;
    b->offered[src] = true;
}

// A flit on the link: whole packets, in a channel of their class, never more than its buffer holds.
static void check_link(bench *b) {
    const link_t *l = &b->out.link;
    int src = l->flit.tag;
    stream *s = &b->from[src];
    cr_assert_lt(s->out, s->in, "a flit from nowhere: cycle %llu", (unsigned long long)b->cycle);
    same_flit(&l->flit, &s->flits[s->out++], b->cycle);
    cr_assert_eq(l->vc == NOC_VC_REDUCE, l->flit.kind == FLIT_REDUCE);
    channel *c = &b->router[l->vc];
    if (l->flit.head) {
        cr_assert_eq(c->left, 0, "a packet inside a packet: cycle %llu", (unsigned long long)b->cycle);
        cr_assert_leq(c->count + l->flit.len_m1 + 1, DEPTH, "a packet that does not fit: cycle %llu",
                      (unsigned long long)b->cycle);
        c->left = l->flit.len_m1 + 1;
        c->src = src;
        b->packets[src]++;
    }
    cr_assert(c->left > 0 && c->src == src);
    c->left--;
    cr_assert_eq(l->flit.tail, c->left == 0);
    c->count++;
    b->sent++;
}

static void router_side(bench *b, ni_in *in) {
    for (int v = 0; v < VCS; v++) {
        if (b->router[v].count && !b->no_credits && luck(b, b->hold)) {
            in->credit |= (credit_t)(1 << v);
            b->router[v].count--;
        }
        b->credits[v] += b->out.credit >> v & 1;
        cr_assert_leq(b->credits[v], DEPTH);
    }
    int v = (int)rng_below(&b->rng, VCS);
    if (b->credits[v] && !b->stop && luck(b, b->rest)) {
        flit_t f = {.tag = (uint8_t)v, .data = random_row(&b->rng), .addr = (uint32_t)b->cycle};
        in->link = (link_t){true, (uint8_t)v, f};
        b->to[v].flits[b->to[v].in++] = f;
        b->credits[v]--;
    }
}

static void check_offer_to_recv(bench *b, bool ready) {
    if (b->old.flit_valid && !b->old_ready)
        cr_assert(b->out.flit_valid && b->out.flit.tag == b->old.flit.tag && b->out.flit.addr == b->old.flit.addr,
                  "a flit holds: cycle %llu", (unsigned long long)b->cycle);
    b->old_ready = ready;
    if (!b->out.flit_valid || !ready) return;
    stream *s = &b->to[b->out.flit.tag];
    cr_assert_lt(s->out, s->in);
    same_flit(&b->out.flit, &s->flits[s->out++], b->cycle);
    b->taken++;
}

static void compare(const bench *b, const ni_out *got) {
    SAME(*got, b->out, ready[NI_SEND], b->cycle);
    SAME(*got, b->out, ready[NI_MOVE], b->cycle);
    SAME(*got, b->out, left, b->cycle);
    SAME(*got, b->out, credit, b->cycle);
    SAME(*got, b->out, busy, b->cycle);
    SAME(*got, b->out, link.valid, b->cycle);
    SAME(*got, b->out, flit_valid, b->cycle);
    if (b->out.link.valid) SAME(*got, b->out, link.vc, b->cycle);
    if (b->out.link.valid) same_flit(&got->link.flit, &b->out.link.flit, b->cycle);
    if (b->out.flit_valid) same_flit(&got->flit, &b->out.flit, b->cycle);
}

static void bench_cycle(bench *b) {
    ni_in in = {0};
    b->old = b->out;
    ni_peek(&b->twin, &b->out);
    in.flit_ready = luck(b, b->hold);
    check_offer_to_recv(b, in.flit_ready);
    if (b->out.link.valid) check_link(b);
    b->left_count += b->out.left;
    cr_assert_eq(b->left_count, b->from[NI_SEND].out);
    router_side(b, &in);
    for (int i = 0; i < NI_SOURCES; i++) {
        offer(b, i);
        if ((in.valid[i] = b->offered[i])) in.flit[i] = b->offer[i];
        if (!b->offered[i] || !b->out.ready[i]) continue;
        b->from[i].flits[b->from[i].in++] = b->offer[i];
        b->offered[i] = false;
    }
    if (b->dut) {
        ni_out got;
        ni_dut_step(b->dut, &in, &got);
        compare(b, &got);
    }
    ni_step(&b->twin, &in);
    b->cycle++;
}

static void lock_step(uint64_t seed) {
    static const int mixes[][2] = {{1, 1}, {3, 1}, {1, 3}, {4, 2}};
    for (int i = 0; i < 4; i++) {
        bench *b = bench_new(seed + 10 * (uint64_t)i, true);
        b->hold = mixes[i][0];
        b->rest = mixes[i][1];
        while (b->cycle < 4000) bench_cycle(b);
        b->stop = true;
        for (int j = 0; j < 400; j++) bench_cycle(b);
        for (int s = 0; s < NI_SOURCES; s++) cr_assert(b->from[s].in == b->from[s].out && b->from[s].in > 200);
        for (int v = 0; v < VCS; v++) cr_assert(b->to[v].in == b->to[v].out && b->to[v].in > 100);
        for (int v = 0; v < VCS; v++) cr_assert_eq(b->twin.credits[v] + b->router[v].count, DEPTH);
        cr_assert(!b->out.busy);
        bench_free(b);
    }
}

Test(ni, equals_its_twin_1) {
    lock_step(1);
}
Test(ni, equals_its_twin_2) {
    lock_step(2);
}
Test(ni, equals_its_twin_3) {
    lock_step(3);
}

// Both ways one flit a cycle, packets of both engines in turn.
Test(ni, moves_a_flit_a_cycle_each_way_and_is_fair) {
    bench *b = bench_new(4, true);
    while (b->cycle < 10) bench_cycle(b);
    uint64_t sent = b->sent, taken = b->taken;
    int in = b->to[0].in + b->to[1].in + b->to[2 % VCS].in;
    while (b->cycle < 1010) bench_cycle(b);
    cr_assert_geq(b->sent - sent, 995);
    cr_assert_geq((int)(b->taken - taken), (b->to[0].in + b->to[1].in + b->to[2 % VCS].in - in) - 2);
    cr_assert_leq(abs(b->packets[NI_SEND] - b->packets[NI_MOVE]), 1);
    bench_free(b);
}

// A reduction that finds no room does not hold up the other engine.
Test(ni, blocked_reduction_lets_others_pass) {
    bench *b = bench_new(5, true);
    b->reduce = 1;
    b->no_credits = true;
    while (b->cycle < 200) bench_cycle(b);
    uint64_t stuck = b->sent;
    cr_assert_leq(stuck, DEPTH);
    b->no_credits = false;
    for (int i = 0; i < 50; i++) bench_cycle(b);
    cr_assert_geq(b->sent, stuck + 40);
    bench_free(b);
    ni s;
    ni_out out;
    ni_reset(&s);
    ni_in in = {.valid = {true, false}, .flit = {{.head = true, .tail = true, .kind = FLIT_REDUCE}}};
    for (int i = 0; i < 3 * DEPTH; i++) ni_step(&s, &in);
    ni_peek(&s, &out);
    cr_assert(!out.link.valid && !out.ready[NI_SEND]);
    in = (ni_in){.valid = {false, true}, .flit = {{0}, {.head = true, .tail = true, .kind = FLIT_LOAD_REQ}}};
    ni_step(&s, &in);
    ni_peek(&s, &out);
    cr_assert(out.link.valid && out.link.flit.kind == FLIT_LOAD_REQ);
}

// ---- two tiles: send -> ni -> link -> ni -> recv
typedef struct {
    send tx;
    recv rx;
    ni a, b;
    row_t src[1024], dst[2048];
    int max_delay;
    rng_t rng;
    uint64_t cycle, first, last; // cycles of the first and last row written
    int rows, signals;
} pair;

static void pair_cycle(pair *p, const instr_t *tx, const instr_t *rx, bool *tx_taken, bool *rx_taken, mem_rsp *read) {
    send_out so;
    recv_out ro;
    ni_out ao, bo;
    send_events sev;
    recv_events rev;
    send_peek(&p->tx, &so);
    recv_peek(&p->rx, &ro);
    ni_peek(&p->a, &ao);
    ni_peek(&p->b, &bo);
    send_in si = {.instr_valid = tx != NULL, .rsp = *read, .flit_ready = ao.ready[NI_SEND], .left = ao.left};
    recv_in ri = {.instr_valid = rx != NULL, .flit_valid = bo.flit_valid};
    if (tx) si.instr = *tx;
    if (rx) ri.instr = *rx;
    if (bo.flit_valid) ri.flit = bo.flit;
    si.rsp.gnt = so.req.valid && (!p->max_delay || rng_below(&p->rng, (uint64_t)p->max_delay) == 0);
    ri.rsp.gnt = ro.req.valid && (!p->max_delay || rng_below(&p->rng, (uint64_t)p->max_delay) == 0);
    *read = (mem_rsp){.rvalid = si.rsp.gnt};
    if (si.rsp.gnt) read->rdata = p->src[so.req.addr];
    if (ri.rsp.gnt) {
        p->dst[ro.req.addr] = ro.req.wdata;
        if (!p->rows++) p->first = p->cycle;
        p->last = p->cycle;
    }
    p->signals += ro.signal_valid;
    ni_in ai = {.valid = {so.flit_valid, false}, .credit = bo.credit};
    ni_in bi = {.link = ao.link, .flit_ready = ro.flit_ready};
    if (so.flit_valid) ai.flit[NI_SEND] = so.flit;
    *tx_taken = tx && so.instr_ready;
    *rx_taken = rx && ro.instr_ready;
    send_step(&p->tx, &si, &sev);
    recv_step(&p->rx, &ri, &rev);
    ni_step(&p->a, &ai);
    ni_step(&p->b, &bi);
    p->cycle++;
}

static pair *pair_run(int max_delay, uint64_t seed) {
    static const instr_t tx[] = {
        {.op = OP_SEND, .rows = 100, .addr_a = 0, .addr_c = 1000, .tag = 1, .rect = {1, 0, 0, 0}},
        {.op = OP_SEND, .rows = 13, .addr_a = 200, .addr_c = 0, .tag = 2},
        {.op = OP_REDUCE, .rows = 20, .addr_a = 300, .addr_c = 500, .tag = 3}};
    static const instr_t rx[] = {{.op = OP_RECEIVE, .rows = 100, .tag = 1},
                                 {.op = OP_RECEIVE, .rows = 13, .tag = 2},
                                 {.op = OP_RECEIVE, .rows = 20, .tag = 3},
                                 {.op = OP_SIGNAL, .sem = 1, .count = 1}};
    pair *p = calloc(1, sizeof *p);
    mem_rsp read = {0};
    bool tx_taken, rx_taken;
    int t = 0, r = 0;
    p->rng = rng_new(seed);
    p->max_delay = max_delay;
    for (int i = 0; i < 1024; i++) p->src[i] = random_row(&p->rng);
    send_reset(&p->tx, (node_t){0, 0});
    recv_reset(&p->rx);
    ni_reset(&p->a);
    ni_reset(&p->b);
    while (!p->signals) {
        cr_assert_lt(p->cycle, 5000, "hangs");
        pair_cycle(p, t < 3 ? &tx[t] : NULL, r < 4 ? &rx[r] : NULL, &tx_taken, &rx_taken, &read);
        t += tx_taken;
        r += rx_taken;
    }
    for (int i = 0; i < 3; i++)
        for (int row = 0; row < tx[i].rows; row++)
            cr_assert_eq(memcmp(&p->dst[tx[i].addr_c + row], &p->src[tx[i].addr_a + row], ROW_BYTES), 0,
                         "instruction %d, row %d", i, row);
    cr_assert_eq(p->rows, 133);
    return p;
}

Test(ni, loops_rows_back_to_their_addresses) {
    for (uint64_t seed = 1; seed <= 100; seed++) free(pair_run((int)(seed % 7) + 1, seed));
}

// From memory to memory: one row a cycle over all three instructions, the first row 7 cycles after its instruction.
Test(ni, loop_back_takes_a_row_a_cycle) {
    pair *p = pair_run(0, 1);
    cr_assert_leq(p->last - p->first + 1, 133 + 2, "%llu cycles", (unsigned long long)(p->last - p->first + 1));
    cr_assert_eq(p->first, 6, "first row written in cycle %llu", (unsigned long long)p->first);
    free(p);
}

// ---- each CHK
static void fires(ni_in first, int quiet, ni_in then) {
    ni_dut *dut = ni_dut_new(&(dut_options){.seed = 1});
    ni_out out;
    for (int i = 0; i < quiet; i++) ni_dut_step(dut, &first, &out);
    cr_assert_eq(ni_dut_errors(dut), 0);
    ni_dut_step(dut, &then, &out);
    cr_assert_gt(ni_dut_errors(dut), 0);
    ni_dut_free(dut);
}

Test(ni, credit_too_many_fires) {
    fires((ni_in){0}, 1, (ni_in){.credit = 1});
}
Test(ni, flit_too_many_fires) {
    fires((ni_in){.link = {.valid = true, .vc = 1}}, DEPTH, (ni_in){.link = {.valid = true, .vc = 1}});
}
Test(ni, channel_that_does_not_exist_fires) {
    fires((ni_in){0}, 1, (ni_in){.link = {.valid = true, .vc = VCS}});
}
Test(ni, offer_that_is_withdrawn_fires) {
    ni_in body = {
        .valid = {true, true},
        .flit = {{.head = true, .tail = true, .kind = FLIT_REDUCE}, {.head = true, .tail = true, .kind = FLIT_REDUCE}}};
    fires(body, DEPTH + 6, (ni_in){0});
}
Test(ni, packet_longer_than_it_says_fires) {
    ni_in body = {.valid = {true, false}, .flit = {{.head = true, .kind = FLIT_REDUCE}}};
    fires(body, DEPTH + 1, body);
}
