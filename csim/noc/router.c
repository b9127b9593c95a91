#include "noc/router.h"

#include <string.h>

#include "numerics/num.h"
#include "numerics/num_fp32.h"

static const flit_t *front(const router_buffer *b) {
    return &b->flits[b->rd];
}

static const flit_t *at(const router_buffer *b, int offset) {
    return &b->flits[(b->rd + offset) % CFG_NOC_DEPTH];
}

static bool several(uint8_t mask) {
    return mask & (mask - 1);
}

// A downstream channel of the class that is free and takes the whole packet: most credits, ties the lowest; -1 none.
static int choose_vc(const router *s, int out, bool reduce, int flits) {
    int best = -1, first = reduce ? NOC_VC_REDUCE : 0, last = reduce ? NOC_VC_REDUCE : NOC_DATA_VCS - 1;
    for (int v = first; v <= last; v++)
        if (!(s->claimed[out] >> v & 1) && s->credits[out][v] >= flits &&
            (best < 0 || s->credits[out][v] > s->credits[out][best]))
            best = v;
    return best;
}

// Outputs that buffer b asks for in this cycle; ovc[o]: the channel it would use.
static uint8_t requests(router *s, int b, uint8_t ovc[NOC_PORTS]) {
    router_buffer *q = &s->buffers[b];
    const flit_t *f = front(q);
    uint8_t route = router_route(f, b / NOC_NUM_VCS, s->here) & (uint8_t)~q->done, out = 0;
    if (f->kind == FLIT_REDUCE && several(router_expected(f, s->here))) return 0; // through the reducer
    for (int o = 0; o < NOC_PORTS; o++) {
        if (!(route >> o & 1) || q->sent[o] >= q->count) continue;
        int vc = q->locked >> o & 1 ? q->ovc[o] : choose_vc(s, o, f->kind == FLIT_REDUCE, f->len_m1 + 1);
        if (vc < 0) {
            s->now.stalled |= (uint16_t)(1 << b);
            continue;
        }
        ovc[o] = (uint8_t)vc;
        out |= (uint8_t)(1 << o);
    }
    return out;
}

// Ports whose reduction flits can be added in this cycle: two to start a flit, one to go on.
static uint8_t reducer_takes(const router *s, bool leaves) {
    if (s->rest) {
        uint8_t low = s->rest & (uint8_t)-s->rest;
        return s->filled >> (__builtin_ctz(low) * NOC_NUM_VCS + NOC_VC_REDUCE) & 1 ? low : 0;
    }
    if (s->ready && !leaves) return 0;
    for (int p = 0; p < NOC_PORTS; p++) {
        const router_buffer *q = &s->buffers[p * NOC_NUM_VCS + NOC_VC_REDUCE];
        if (!q->count || (s->bound && !(s->bound >> p & 1))) continue;
        const flit_t *f = front(q);
        uint8_t expected = router_expected(f, s->here);
        bool all = several(expected) && expected >> p & 1 && (s->bound ? s->bound == expected : f->head);
        for (int r = 0; all && r < NOC_PORTS; r++) {
            if (!(expected >> r & 1)) continue;
            const router_buffer *other = &s->buffers[r * NOC_NUM_VCS + NOC_VC_REDUCE];
            const flit_t *g = front(other);
            all = other->count && router_expected(g, s->here) == expected && g->head == f->head &&
                  g->root.x == f->root.x && g->root.y == f->root.y;
        }
        if (!all) continue;
        uint8_t low = expected & (uint8_t)-expected, others = expected & (uint8_t)~low;
        return low | (others & (uint8_t)-others);
    }
    return 0;
}

static void decide(router *s) {
    router_decision *d = &s->now;
    memset(d, 0, sizeof *d);
    memset(d->winner, -1, sizeof d->winner);
    if (!router_busy(s)) return;
    uint32_t asked[NOC_PORTS] = {0};
    uint8_t ovc[ROUTER_REQUESTERS][NOC_PORTS];
    for (uint32_t left = s->filled; left; left &= left - 1) {
        int b = __builtin_ctz(left);
        uint8_t out = requests(s, b, ovc[b]);
        for (int o = 0; o < NOC_PORTS; o++) asked[o] |= (uint32_t)(out >> o & 1) << b;
    }
    int reducer_out = s->ready ? __builtin_ctz(router_route(&s->acc, NOC_LOCAL, s->here)) : -1;
    if (reducer_out >= 0) {
        int vc = s->locked ? NOC_VC_REDUCE : choose_vc(s, reducer_out, true, s->acc.len_m1 + 1);
        if (vc >= 0) asked[reducer_out] |= 1u << ROUTER_REDUCER;
        ovc[ROUTER_REDUCER][reducer_out] = NOC_VC_REDUCE;
    }
    for (int o = 0; o < NOC_PORTS; o++) {
        d->winner[o] = (int8_t)rr_arbiter_peek(&s->arbiters[o], asked[o]);
        if (d->winner[o] >= 0) d->vc[o] = ovc[d->winner[o]][o];
    }
    d->take = reducer_takes(s, reducer_out >= 0 && d->winner[reducer_out] == ROUTER_REDUCER);
    for (uint32_t left = s->filled; left; left &= left - 1) {
        int b = __builtin_ctz(left);
        const router_buffer *q = &s->buffers[b];
        const flit_t *f = front(q);
        bool merged = f->kind == FLIT_REDUCE && several(router_expected(f, s->here));
        uint8_t route = router_route(f, b / NOC_NUM_VCS, s->here) & (uint8_t)~q->done;
        bool pop = merged ? d->take >> (b / NOC_NUM_VCS) & 1 && b % NOC_NUM_VCS == NOC_VC_REDUCE : true;
        for (int o = 0; pop && !merged && o < NOC_PORTS; o++)
            if (route >> o & 1 && !q->sent[o] && d->winner[o] != b) pop = false;
        if (pop) d->pop |= (uint16_t)(1 << b);
    }
}

void router_reset(router *s, node_t here) {
    memset(s, 0, sizeof *s);
    s->here = here;
    memset(s->credits, CFG_NOC_DEPTH, sizeof s->credits);
    for (int o = 0; o < NOC_PORTS; o++) rr_arbiter_reset(&s->arbiters[o], ROUTER_REQUESTERS);
    decide(s);
}

bool router_busy(const router *s) {
    return s->filled || s->ready || s->rest;
}

static const flit_t *winning_flit(const router *s, int out) {
    int b = s->now.winner[out];
    return b == ROUTER_REDUCER ? &s->acc : at(&s->buffers[b], s->buffers[b].sent[out]);
}

void router_peek(const router *s, link_t link[NOC_PORTS], credit_t credit[NOC_PORTS]) {
    for (int o = 0; o < NOC_PORTS; o++) {
        link[o].valid = s->now.winner[o] >= 0;
        credit[o] = (credit_t)(s->now.pop >> (o * NOC_NUM_VCS) & ((1 << NOC_NUM_VCS) - 1));
        if (!link[o].valid) continue;
        link[o].vc = s->now.vc[o];
        link[o].flit = *winning_flit(s, o);
    }
}

// The header's 88 bits in two words, as the RTL packs them above the data.
static flit_head_bits head_bits(const flit_t *f) {
    uint64_t low = f->addr | (uint64_t)f->last << 32 | (uint64_t)f->tag << 33 | (uint64_t)f->src.y << 38 |
                   (uint64_t)f->src.x << 43 | (uint64_t)f->root.y << 48 | (uint64_t)f->root.x << 53 |
                   (uint64_t)f->rect.y1 << 58 | (uint64_t)f->rect.x1 << 63;
    uint64_t high = (uint64_t)f->rect.x1 >> 1 | (uint64_t)f->rect.y0 << 4 | (uint64_t)f->rect.x0 << 9 |
                    (uint64_t)f->to << 14 | (uint64_t)f->kind << 16 | (uint64_t)f->len_m1 << 19 |
                    (uint64_t)f->tail << 22 | (uint64_t)f->head << 23;
    return (flit_head_bits){{low, high}};
}

static int flit_toggles(const flit_t *a, const flit_t *b) {
    flit_head_bits x = head_bits(a), y = head_bits(b);
    return row_toggles(&a->data, &b->data) + __builtin_popcountll(x.w[0] ^ y.w[0]) +
           __builtin_popcountll(x.w[1] ^ y.w[1]);
}

static void send(router *s, int out, router_events *ev) {
    int b = s->now.winner[out], vc = s->now.vc[out];
    const flit_t *f = winning_flit(s, out);
    ev->link_toggles = (uint16_t)(ev->link_toggles + flit_toggles(f, &s->last[out]));
    s->last[out] = *f;
    (&ev->flits_local)[out]++;
    rr_arbiter_take(&s->arbiters[out], b);
    s->credits[out][vc]--;
    if (f->tail)
        s->claimed[out] &= (uint8_t) ~(1 << vc);
    else
        s->claimed[out] |= (uint8_t)(1 << vc);
    if (b == ROUTER_REDUCER) {
        s->locked = !f->tail;
        s->ready = false;
        return;
    }
    router_buffer *q = &s->buffers[b];
    q->sent[out]++;
    q->ovc[out] = (uint8_t)vc;
    if (f->tail) {
        q->done |= (uint8_t)(1 << out);
        q->locked &= (uint8_t) ~(1 << out);
    } else {
        q->locked |= (uint8_t)(1 << out);
    }
}

static void add_flit(row_t *acc, const row_t *x) {
    for (int i = 0; i < 8; i++) {
        int shift = 32 * (i & 1);
        uint32_t sum = num_fp32_add((uint32_t)(acc->w[i / 2] >> shift), (uint32_t)(x->w[i / 2] >> shift));
        acc->w[i / 2] = (acc->w[i / 2] & ~((uint64_t)0xFFFFFFFF << shift)) | (uint64_t)sum << shift;
    }
}

static void reduce(router *s, router_events *ev) {
    uint8_t take = s->now.take;
    if (!take) return;
    ev->reduce_adds = 8;
    int first = __builtin_ctz(take);
    const flit_t *f = front(&s->buffers[first * NOC_NUM_VCS + NOC_VC_REDUCE]);
    if (s->rest) {
        add_flit(&s->acc.data, &f->data);
        s->rest &= (uint8_t)~take;
    } else {
        s->acc = *f;
        s->bound = router_expected(f, s->here);
        s->rest = s->bound & (uint8_t)~take;
        add_flit(&s->acc.data,
                 &front(&s->buffers[__builtin_ctz(take & (take - 1)) * NOC_NUM_VCS + NOC_VC_REDUCE])->data);
    }
    s->ready = !s->rest;
    if (s->ready && s->acc.tail) s->bound = 0;
}

static void pop(router *s, int b) {
    router_buffer *q = &s->buffers[b];
    if (front(q)->tail) {
        memset(q->sent, 0, sizeof q->sent);
        q->done = q->locked = 0;
    } else {
        for (int o = 0; o < NOC_PORTS; o++) q->sent[o] = (uint8_t)(q->sent[o] - (q->sent[o] > 0));
    }
    q->rd = (uint8_t)((q->rd + 1) % CFG_NOC_DEPTH);
    if (--q->count == 0) s->filled &= (uint16_t) ~(1 << b);
}

void router_step(router *s, const link_t link[NOC_PORTS], const credit_t credit[NOC_PORTS], router_events *ev) {
    memset(ev, 0, sizeof *ev);
    bool arrives = false, refunds = false, was_busy = router_busy(s);
    for (int p = 0; p < NOC_PORTS; p++) {
        arrives |= link[p].valid;
        refunds |= credit[p] != 0;
    }
    ev->gated = !was_busy && !arrives && !refunds;
    if (ev->gated) {
        ev->idle = 1;
        return;
    }
    bool left = false;
    ev->credit_stalls = (uint16_t)__builtin_popcount(s->now.stalled);
    for (int o = 0; o < NOC_PORTS; o++)
        if (s->now.winner[o] >= 0) {
            send(s, o, ev);
            left = true;
        }
    ev->busy = left;
    ev->stall = was_busy && !left;
    ev->idle = !was_busy;
    reduce(s, ev);
    for (uint32_t b = s->now.pop; b; b &= b - 1) pop(s, __builtin_ctz(b));
    for (int p = 0; p < NOC_PORTS; p++) {
        for (int v = 0; v < NOC_NUM_VCS; v++) s->credits[p][v] = (uint8_t)(s->credits[p][v] + (credit[p] >> v & 1));
        if (!link[p].valid) continue;
        int b = p * NOC_NUM_VCS + link[p].vc;
        router_buffer *q = &s->buffers[b];
        q->flits[(q->rd + q->count++) % CFG_NOC_DEPTH] = link[p].flit;
        s->filled |= (uint16_t)(1 << b);
        ev->buffer_writes++;
    }
    decide(s);
}
