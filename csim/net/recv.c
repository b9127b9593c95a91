#include "net/recv.h"

#include <string.h>

static bool is_row(const flit_t *f) {
    return f->kind == FLIT_WRITE || f->kind == FLIT_REDUCE || f->kind == FLIT_LOAD_DATA;
}

void recv_reset(recv *s) {
    engine_front_reset(&s->front);
    s->rd = s->count = 0;
    s->load_row = s->error = false;
    memset(s->arrivals, 0, sizeof s->arrivals);
}

void recv_peek(const recv *s, recv_out *out) {
    const flit_t *head = &s->fifo[s->rd];
    out->instr_ready = engine_front_ready(&s->front);
    out->busy = s->front.cur_valid || s->count || s->load_row;
    out->error = s->error;
    out->wait_valid = engine_front_waits(&s->front);
    out->signal_valid = engine_front_signals(&s->front);
    out->wait_sem = out->signal_sem = s->front.cur.sem;
    out->wait_count = out->signal_count = s->front.cur.count;
    out->flit_ready = s->count < 2;
    out->load_row = s->load_row;
    out->load_slot = s->load_slot;
    out->req.valid = s->count && is_row(head);
    out->ack = s->count && head->kind == FLIT_STORE_ACK;
    if (out->ack) out->ack_slot = head->tag;
    if (!out->req.valid) return;
    out->req.we = true;
    out->req.addr = (uint16_t)head->addr;
    out->req.wdata = head->data;
}

// The row at the front, granted or not; returns whether it leaves.
static bool write_row(recv *s, const flit_t *head, bool gnt, recv_events *ev) {
    if (!is_row(head)) {
        s->error |= head->kind != FLIT_STORE_ACK;
        return true;
    }
    ev->rows = gnt;
    ev->write_stalls = !gnt;
    if (!gnt) return false;
    s->load_slot = head->tag;
    s->load_row = head->kind == FLIT_LOAD_DATA;
    if (s->load_row) return true;
    if (head->tag >= CFG_NUM_TAGS || s->arrivals[head->tag] == UINT16_MAX)
        s->error = true;
    else
        s->arrivals[head->tag]++;
    return true;
}

// Runs a RECEIVE, as far as there is one; returns whether the instruction ends.
static bool receive(recv *s, const instr_t *cur) {
    if (cur->op != OP_RECEIVE || cur->tag >= CFG_NUM_TAGS) {
        s->error = true;
        return true;
    }
    if (s->arrivals[cur->tag] < cur->rows) return false;
    s->arrivals[cur->tag] = (uint16_t)(s->arrivals[cur->tag] - cur->rows);
    return true;
}

void recv_step(recv *s, const recv_in *in, recv_events *ev) {
    memset(ev, 0, sizeof *ev);
    const instr_t *offer = in->instr_valid ? &in->instr : NULL, *cur = engine_front_work(&s->front);
    if (!s->front.cur_valid && !offer && !s->count && !in->flit_valid) {
        s->load_row = false;
        ev->idle = 1;
        return;
    }
    bool waits = engine_front_waits(&s->front), take = in->flit_valid && s->count < 2, pop = false;
    s->load_row = false;
    // the instruction first: it sees the counters as they were before this cycle's row
    bool ended = cur ? receive(s, cur) : waits ? in->wait_gnt : s->front.cur_valid;
    ev->busy = ended;
    ev->stall_tag = cur && !ended;
    ev->stall_sem = waits && !ended;
    ev->idle = !s->front.cur_valid;
    if (s->count) pop = write_row(s, &s->fifo[s->rd], in->rsp.gnt, ev);
    if (take) s->fifo[(s->rd + s->count) % 2] = in->flit;
    s->rd = (uint8_t)((s->rd + pop) % 2);
    s->count = (uint8_t)(s->count + take - pop);
    engine_front_step(&s->front, ended, offer);
}
