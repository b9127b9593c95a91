#include "net/ni.h"

#include <string.h>

void ni_reset(ni *s) {
    for (int i = 0; i < NI_SOURCES; i++) s->source[i].rd = s->source[i].count = 0;
    for (int v = 0; v < NOC_NUM_VCS; v++) s->sink[v].rd = s->sink[v].count = 0;
    memset(s->credits, CFG_NOC_DEPTH, sizeof s->credits);
    s->locked = s->hold = false;
    s->last = NI_MOVE;
    s->filled = s->credit = 0;
    rr_arbiter_reset(&s->arbiter, NOC_NUM_VCS);
}

// A channel of the flit's class that has credits for its whole packet: most credits, ties the lowest; -1 none.
static int choose_vc(const ni *s, const flit_t *f) {
    int best = -1, first = f->kind == FLIT_REDUCE ? NOC_VC_REDUCE : 0;
    int end = f->kind == FLIT_REDUCE ? NOC_NUM_VCS : NOC_DATA_VCS;
    for (int v = first; v < end; v++)
        if (s->credits[v] > f->len_m1 && (best < 0 || s->credits[v] > s->credits[best])) best = v;
    return best;
}

// Source whose flit is on the link in this cycle and the channel it takes; -1 none.
static int sender(const ni *s, int *vc) {
    *vc = s->vc;
    if (s->locked) return s->source[s->src].count ? s->src : -1;
    for (int i = 1; i <= NI_SOURCES; i++) {
        int src = (s->last + i) % NI_SOURCES;
        const ni_source *q = &s->source[src];
        if (!q->count) continue;
        *vc = choose_vc(s, &q->flits[q->rd]);
        if (*vc >= 0) return src;
    }
    return -1;
}

static int offered(const ni *s) {
    return s->hold ? s->hold_vc : rr_arbiter_peek(&s->arbiter, s->filled);
}

void ni_peek(const ni *s, ni_out *out) {
    bool inside = s->source[NI_SEND].count || s->source[NI_MOVE].count;
    out->ready[NI_SEND] = s->source[NI_SEND].count < 2;
    out->ready[NI_MOVE] = s->source[NI_MOVE].count < 2;
    out->credit = s->credit;
    out->busy = inside || s->filled;
    out->flit_valid = s->filled != 0;
    out->link.valid = out->left = false;
    if (s->filled) {
        const ni_sink *q = &s->sink[offered(s)];
        out->flit = q->flits[q->rd];
    }
    int vc, src = inside ? sender(s, &vc) : -1;
    if (src < 0) return;
    out->left = src == NI_SEND;
    out->link.valid = true;
    out->link.vc = (uint8_t)vc;
    out->link.flit = s->source[src].flits[s->source[src].rd];
}

static void step_inject(ni *s, const ni_in *in) {
    int vc, src = sender(s, &vc);
    bool push[NI_SOURCES];
    for (int i = 0; i < NI_SOURCES; i++) push[i] = in->valid[i] && s->source[i].count < 2;
    if (src >= 0) {
        ni_source *q = &s->source[src];
        s->credits[vc]--;
        s->locked = !q->flits[q->rd].tail;
        s->src = s->last = (uint8_t)src;
        s->vc = (uint8_t)vc;
        q->rd ^= 1;
        q->count--;
    }
    for (int i = 0; i < NI_SOURCES; i++) {
        if (!push[i]) continue;
        ni_source *q = &s->source[i];
        q->flits[(q->rd + q->count) % 2] = in->flit[i];
        q->count++;
    }
}

static void step_eject(ni *s, const ni_in *in) {
    s->credit = 0;
    if (s->filled) {
        int vc = offered(s);
        s->hold = !in->flit_ready;
        s->hold_vc = (uint8_t)vc;
        if (in->flit_ready) {
            ni_sink *q = &s->sink[vc];
            q->rd = (uint8_t)((q->rd + 1) % CFG_NOC_DEPTH);
            if (--q->count == 0) s->filled &= (uint8_t) ~(1 << vc);
            s->credit = (credit_t)(1 << vc);
            rr_arbiter_take(&s->arbiter, vc);
        }
    }
    if (in->link.valid) {
        ni_sink *q = &s->sink[in->link.vc];
        q->flits[(q->rd + q->count) % CFG_NOC_DEPTH] = in->link.flit;
        q->count++;
        s->filled |= (uint8_t)(1 << in->link.vc);
    }
}

void ni_step(ni *s, const ni_in *in) {
    if (in->valid[NI_SEND] || in->valid[NI_MOVE] || s->source[NI_SEND].count || s->source[NI_MOVE].count)
        step_inject(s, in);
    if (s->filled || s->credit || in->link.valid) step_eject(s, in);
    for (int v = 0; in->credit >> v; v++) s->credits[v] = (uint8_t)(s->credits[v] + (in->credit >> v & 1));
}
