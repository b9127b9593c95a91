#include "matmul/matmul.h"

#include <string.h>

#include "matmul/matmul_steps.h"

enum { COLS = CFG_COLS, GROUPS = CFG_COLS / 8 };

void matmul_reset(matmul *s) {
    memset(s, 0, sizeof *s);
    matmul_array_reset(&s->array);
}

static bool busy(const matmul *s) {
    return s->front.cur_valid || s->front.nxt_valid || s->front.sig_n || s->stream.issue.n ||
           s->drain.bank[0].state != BANK_FREE || s->drain.bank[1].state != BANK_FREE ||
           matmul_array_busy(&s->array);
}

static bool signal_due(const matmul *s) {
    return s->front.sig_n && (uint8_t)(s->drain.drained - s->front.sig[s->front.sig_rd].after) < 128;
}

// Four requests of this cycle; data of a write only where asked for.
static void requests(const matmul *s, mem_req req[MM_PORTS]) {
    mm_why why = mm_issue_why(s);
    req[MM_A] = (mem_req){.valid = mm_a_valid(&s->stream), .addr = mm_a_addr(s)};
    req[MM_W] = (mem_req){.valid = mm_w_valid(s, mm_issue_last(s, why)), .addr = s->front.w_ptr};
    bool choose_as;
    uint16_t addr;
    bool valid = mm_s_valid(s, mm_scale_pop(s, why), &choose_as, &addr);
    req[MM_S] = (mem_req){.valid = valid, .addr = addr};
    req[MM_C] = (mem_req){.valid = mm_c_valid(&s->drain), .we = s->drain.mode == MM_C_DRAIN, .addr = s->drain.ptr};
}

void matmul_peek(const matmul *s, matmul_out *out) {
    const mm_front *f = &s->front;
    out->instr_ready = !f->nxt_valid;
    out->busy = busy(s);
    out->error = s->error;
    out->wait_valid = f->cur_valid && f->cur.op == OP_WAIT;
    out->wait_sem = f->cur.sem;
    out->wait_count = f->cur.count;
    out->signal_valid = signal_due(s);
    out->signal_sem = f->sig[f->sig_rd].sem;
    out->signal_count = f->sig[f->sig_rd].count;
    if (!out->busy) {
        for (int i = 0; i < MM_PORTS; i++) out->req[i].valid = false;
        return;
    }
    requests(s, out->req);
    if (out->req[MM_C].we) {
        const uint32_t *acc = matmul_array_read(&s->array, s->drain.c_bank, s->drain.row);
        memcpy(out->req[MM_C].wdata.w, acc + 8 * s->drain.part, ROW_BYTES);
    }
}

static void count(const matmul *s, const matmul_in *in, const mm_now *now, matmul_events *ev) {
    const mm_block *b = &s->front.block[s->stream.issue.half];
    ev->busy = now->why == MM_ROW;
    ev->stall_weights = now->why == MM_NO_WEIGHTS;
    ev->stall_operand = now->why == MM_NO_OPERAND;
    ev->stall_scale = now->why == MM_NO_SCALE;
    ev->stall_acc = now->why == MM_NO_BANK;
    bool waits = s->front.cur_valid && s->front.cur.op == OP_WAIT && !in->wait_gnt;
    bool drains = s->drain.bank[0].state != BANK_FREE || s->drain.bank[1].state != BANK_FREE;
    ev->stall_sem = now->why == MM_NOTHING && waits && !drains;
    ev->idle = now->why == MM_NOTHING && !ev->stall_sem;
    ev->mac_issued = ev->busy ? 32 * COLS : 0;
    ev->mac_useful = ev->busy ? (uint16_t)(b->ncol * b->kval) : 0;
    ev->weight_rows = s->front.pend && in->rsp[MM_W].rvalid;
    ev->scale_rows = now->s_gnt;
    ev->drain_rows = now->c_gnt && s->drain.mode == MM_C_DRAIN;
}

// What the array takes this cycle.
static void array_inputs(const matmul *s, const matmul_in *in, const mm_now *now, matmul_array_in *a) {
    const mm_front *f = &s->front;
    a->wl_valid = f->pend && in->rsp[MM_W].rvalid;
    a->wl_bank = f->pend_half;
    a->wl_row = f->pend_row;
    a->wl_fmt = f->pend_fmt;
    if (a->wl_valid) a->wl_data = in->rsp[MM_W].rdata;
    a->ws_valid = s->scale.ws_send;
    a->ws_bank = s->scale.ws_send_half;
    a->ws_fmt = s->scale.ws_send_fmt;
    if (a->ws_valid && a->ws_fmt == SCALE_NONE) memset(a->ws_data, 0, sizeof a->ws_data);
    else if (a->ws_valid) memcpy(a->ws_data, s->scale.word, sizeof a->ws_data);
    a->row_valid = now->why == MM_ROW;
    if (a->row_valid) mm_issue_row(s, a);
    a->ini_valid = s->drain.pend && in->rsp[MM_C].rvalid;
    a->ini_bank = s->drain.c_bank;
    a->ini_idx = s->drain.pend_row;
    a->ini_part = s->drain.pend_part;
    if (a->ini_valid) a->ini_data = in->rsp[MM_C].rdata;
}

void matmul_step(matmul *s, const matmul_in *in, matmul_events *ev) {
    memset(ev, 0, sizeof *ev);
    if (!busy(s)) { // nothing but an arriving instruction can change the state
        ev->idle = 1;
        ev->gated = 1;
        if (in->instr_valid) mm_front_accept(&s->front, &in->instr);
        return;
    }
    mm_now now;
    mm_decide(s, in, &now);
    matmul_array_in a;
    array_inputs(s, in, &now, &a);
    count(s, in, &now, ev);
    for (int i = 0; i < MM_PORTS; i++) s->error |= in->rsp[i].rvalid && in->rsp[i].rerr;
    now.signal = signal_due(s);
    mm_drain_step(s, in, &now);
    mm_scale_step(s, in, &now);
    mm_stream_step(s, in, &now);
    mm_front_step(s, in, &now);
    matmul_array_step(&s->array, &a, ev);
}
