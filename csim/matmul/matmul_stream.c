#include "matmul/matmul_steps.h"

bool mm_a_valid(const mm_stream *t) {
    return t->fetch.n && t->n + t->pend < MM_FIFO;
}

uint16_t mm_a_addr(const matmul *s) {
    return (uint16_t)(s->front.block[s->stream.fetch.half].a_base + s->stream.fetch_row);
}

mm_why mm_issue_why(const matmul *s) {
    const mm_stream *t = &s->stream;
    if (!t->issue.n) return MM_NOTHING;
    int h = t->issue.half;
    const mm_block *b = &s->front.block[h];
    if (!s->front.loaded[h]) return MM_NO_WEIGHTS;
    if (!s->scale.ws_loaded[h] || (b->scale_a != SCALE_NONE && !s->scale.as_n)) return MM_NO_SCALE;
    if (t->n < (b->fmt_a == FMT_BF16 ? 2 : 1)) return MM_NO_OPERAND;
    return s->drain.bank[b->bank].state == BANK_READY ? MM_ROW : MM_NO_BANK;
}

bool mm_issue_last(const matmul *s, mm_why why) {
    return why == MM_ROW && s->stream.m == s->front.block[s->stream.issue.half].m - 1;
}

bool mm_scale_pop(const matmul *s, mm_why why) {
    const mm_block *b = &s->front.block[s->stream.issue.half];
    return why == MM_ROW && b->scale_a != SCALE_NONE && (s->stream.m == b->m - 1 || (s->stream.m & 31) == 31);
}

void mm_issue_row(const matmul *s, matmul_array_in *a) {
    const mm_stream *t = &s->stream;
    const mm_block *b = &s->front.block[t->issue.half];
    a->row_wbank = t->issue.half;
    a->row_fmt = b->fmt_a;
    a->row_data[0] = t->fifo[t->rd];
    a->row_data[1] = b->fmt_a == FMT_BF16 ? t->fifo[(t->rd + 1) % MM_FIFO] : (row_t){{0}};
    a->row_scale_fmt = b->scale_a;
    a->row_scale = 0;
    if (b->scale_a != SCALE_NONE) {
        const row_t *r = &s->scale.as_row[s->scale.as_rd];
        int byte = t->m & 31;
        a->row_scale = (uint8_t)(r->w[byte / 8] >> (8 * (byte % 8)));
    }
    a->row_acc_bank = b->bank;
    a->row_idx = t->m;
    a->row_first = b->first && !b->init;
}

void mm_decide(const matmul *s, const matmul_in *in, mm_now *now) {
    const mm_block *b = &s->front.block[s->stream.issue.half];
    now->why = mm_issue_why(s);
    now->row_last = mm_issue_last(s, now->why);
    now->row_close = now->row_last && b->last;
    now->row_bank = b->bank;
    now->as_pop = mm_scale_pop(s, now->why);
    bool w = mm_w_valid(s, now->row_last);
    now->push = w && !s->front.open;
    now->w_gnt = w && in->rsp[MM_W].gnt;
    now->a_gnt = mm_a_valid(&s->stream) && in->rsp[MM_A].gnt;
    now->s_valid = mm_s_valid(s, now->as_pop, &now->choose_as, &now->s_addr);
    now->s_gnt = now->s_valid && in->rsp[MM_S].gnt;
    now->c_gnt = mm_c_valid(&s->drain) && in->rsp[MM_C].gnt;
}

void mm_stream_step(matmul *s, const matmul_in *in, const mm_now *now) {
    mm_stream *t = &s->stream;
    const mm_block *fb = &s->front.block[t->fetch.half], *ib = &s->front.block[t->issue.half];
    bool fetch_pass = false;
    if (t->pend && in->rsp[MM_A].rvalid) t->fifo[(t->rd + t->n++) % MM_FIFO] = in->rsp[MM_A].rdata;
    t->pend = now->a_gnt;
    if (now->a_gnt) {
        fetch_pass = ++t->fetch_row == (fb->fmt_a == FMT_BF16 ? 2 * fb->m : fb->m);
        if (fetch_pass) t->fetch_row = 0;
    }
    if (now->why == MM_ROW) {
        int rows = ib->fmt_a == FMT_BF16 ? 2 : 1;
        t->rd = (uint8_t)((t->rd + rows) % MM_FIFO);
        t->n = (uint8_t)(t->n - rows);
        t->m = now->row_last ? 0 : (uint16_t)(t->m + 1);
    }
    mm_walk(&t->fetch, now->push, fetch_pass);
    mm_walk(&t->issue, now->push, now->row_last);
}
