#include "net/send.h"

#include <string.h>

static bool own(const instr_t *i) {
    return i->op == OP_SEND || i->op == OP_MULTICAST || i->op == OP_REDUCE;
}

static bool quiet(const send *s) {
    return !s->pend && !s->count && !s->owed;
}

// A row read is asked for in this cycle.
static bool reads(const send *s, const instr_t *cur) {
    return cur && own(cur) && cur->rows && s->count + s->pend < SEND_FIFO;
}

void send_reset(send *s, node_t here) {
    s->here = here;
    engine_front_reset(&s->front);
    s->row = 0;
    s->pend = s->error = false;
    s->rd = s->count = s->owed = 0;
}

void send_peek(const send *s, send_out *out) {
    const instr_t *cur = &s->front.cur;
    bool calm = quiet(s);
    out->instr_ready = engine_front_ready(&s->front);
    out->busy = s->front.cur_valid || !calm;
    out->error = s->error;
    out->wait_valid = engine_front_waits(&s->front);
    out->signal_valid = engine_front_signals(&s->front) && calm;
    out->flit_valid = s->count != 0;
    out->req.valid = false;
    if (!out->busy) return;
    out->wait_sem = out->signal_sem = cur->sem;
    out->wait_count = out->signal_count = cur->count;
    if (s->count) out->flit = s->fifo[s->rd];
    if (!reads(s, engine_front_work(&s->front))) return;
    out->req.valid = true;
    out->req.we = false;
    out->req.addr = (uint16_t)(cur->addr_a + s->row);
}

// The header of the row that is read, into the pending flit.
static void issue(send *s, const instr_t *cur, bool last) {
    uint16_t last_row = (uint16_t)(cur->rows - 1), row = s->row;
    s->pend_flit = (flit_t){.head = row % 8 == 0,
                            .tail = last || row % 8 == 7,
                            .len_m1 = row / 8 == last_row / 8 ? last_row % 8 : 7,
                            .kind = FLIT_WRITE,
                            .to = TO_TILE,
                            .rect = cur->rect,
                            .src = s->here,
                            .tag = cur->tag,
                            .last = last,
                            .addr = (uint16_t)(cur->addr_c + row)};
    if (cur->op == OP_SEND) {
        s->pend_flit.rect.x1 = cur->rect.x0;
        s->pend_flit.rect.y1 = cur->rect.y0;
    } else if (cur->op == OP_REDUCE) {
        s->pend_flit.kind = FLIT_REDUCE;
        s->pend_flit.root = cur->root;
    }
}

static void classify(const send *s, bool reading, bool busy, send_events *ev) {
    if (busy)
        ev->busy = 1;
    else if (s->count)
        ev->stall_net = 1;
    else if (s->pend)
        ev->stall_bank = 1;
    else if (engine_front_waits(&s->front))
        ev->stall_sem = 1;
    else if (reading)
        ev->stall_bank = 1;
    else if (s->front.cur_valid || s->owed)
        ev->stall_net = 1;
    else
        ev->idle = 1;
}

void send_step(send *s, const send_in *in, send_events *ev) {
    memset(ev, 0, sizeof *ev);
    const instr_t *offer = in->instr_valid ? &in->instr : NULL, *cur = engine_front_work(&s->front);
    if (!s->front.cur_valid && !offer && quiet(s)) {
        ev->idle = 1;
        return;
    }
    bool reading = reads(s, cur), gnt = reading && in->rsp.gnt, taken = s->count && in->flit_ready;
    bool nothing = cur && (!own(cur) || !cur->rows);
    bool last = gnt && s->row == (uint16_t)(cur->rows - 1);
    bool passed = engine_front_waits(&s->front) ? in->wait_gnt : engine_front_signals(&s->front) && quiet(s);
    classify(s, reading, taken || passed || nothing, ev);
    s->error |= (in->rsp.rvalid && in->rsp.rerr) || (cur && !own(cur));
    if (s->pend) {
        flit_t *f = &s->fifo[(s->rd + s->count) % SEND_FIFO];
        *f = s->pend_flit;
        f->data = in->rsp.rdata;
        s->count++;
    }
    if (taken) {
        s->rd = (uint8_t)((s->rd + 1) % SEND_FIFO);
        s->count--;
    }
    s->owed = (uint8_t)(s->owed + taken - in->left);
    s->pend = gnt;
    if (gnt) {
        issue(s, cur, last);
        s->row = last ? 0 : (uint16_t)(s->row + 1);
    }
    engine_front_step(&s->front, passed || nothing || last, offer);
}
