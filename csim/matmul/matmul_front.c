#include "matmul/matmul_steps.h"

enum { COLS = CFG_COLS, GROUPS = CFG_COLS / 8 };

static uint16_t load_rows(uint8_t fmt) {
    return fmt <= FMT_INT4 ? COLS / 2 : fmt == FMT_BF16 ? 2 * COLS : COLS;
}

bool mm_w_valid(const matmul *s, bool row_last) {
    const mm_front *f = &s->front;
    return f->cur_valid && f->cur.op == OP_MATMUL && (f->open || s->stream.issue.n < 2 || row_last);
}

static void begin(mm_front *f, const instr_t *instr) {
    f->cur_valid = true;
    f->cur = *instr;
    f->n_rem = instr->n;
    f->k_rem = instr->k;
    f->a_ptr = instr->addr_a;
    f->as_ptr = instr->addr_as;
    f->w_ptr = instr->addr_w;
    f->ws_addr = instr->addr_ws;
    f->ws_sub = 0;
    f->c_ptr = instr->addr_c;
    f->w_row = 0;
    f->fresh = true;
}

void mm_front_accept(mm_front *f, const instr_t *instr) {
    if (!f->cur_valid) {
        begin(f, instr);
    } else {
        f->nxt_valid = true;
        f->nxt = *instr;
    }
}

static void push_block(mm_front *f) {
    const instr_t *i = &f->cur;
    f->block[f->push_half] = (mm_block){
        .a_base = f->a_ptr,
        .as_base = f->as_ptr,
        .ws_addr = f->ws_addr,
        .ws_sub = f->ws_sub,
        .c_base = f->c_ptr,
        .m = i->m,
        .fmt_a = i->fmt_a,
        .scale_a = i->scale_a,
        .scale_w = i->scale_w,
        .init = i->init,
        .first = f->k_rem == i->k,
        .last = f->k_rem <= 32,
        .fresh = f->fresh,
        .tag = f->tag,
        .bank = f->bank,
        .ncol = (uint8_t)(f->n_rem <= COLS ? f->n_rem : COLS),
        .kval = (uint8_t)(f->k_rem <= 32 ? f->k_rem : 32),
    };
    f->issued = (uint8_t)(f->issued + (f->k_rem == i->k));
    f->loaded[f->push_half] = false;
    f->push_half = !f->push_half;
}

// The block's last weight row is granted: on to the next block. Returns whether the instruction ends.
static bool next_block(mm_front *f) {
    const instr_t *i = &f->cur;
    int sum = f->ws_sub + GROUPS, shift = i->scale_w == SCALE_BF16 ? 1 : 2;
    f->fresh = false;
    f->ws_addr = (uint16_t)(f->ws_addr + (sum >> shift));
    f->ws_sub = (uint8_t)(sum & ((1 << shift) - 1));
    if (f->k_rem > 32) {
        f->k_rem = (uint16_t)(f->k_rem - 32);
        f->a_ptr = (uint16_t)(f->a_ptr + (i->fmt_a == FMT_BF16 ? 2 * i->m : i->m));
        f->as_ptr = (uint16_t)(f->as_ptr + (uint16_t)(i->m + 31) / 32);
        return false;
    }
    bool end = f->n_rem <= COLS;
    f->k_rem = i->k;
    f->a_ptr = i->addr_a;
    f->as_ptr = i->addr_as;
    f->bank = !f->bank;
    f->n_rem = (uint16_t)(f->n_rem - COLS);
    f->c_ptr = (uint16_t)(f->c_ptr + i->m * GROUPS);
    if (end) f->tag = !f->tag;
    return end;
}

// A weight row is granted; returns whether the instruction ends with it.
static bool take_weight_row(mm_front *f) {
    f->pend_half = !f->push_half; // the block has been pushed, in this cycle or before
    f->pend_last = f->w_row == load_rows(f->cur.fmt_w) - 1;
    f->pend_row = f->w_row;
    f->pend_fmt = f->cur.fmt_w;
    f->w_ptr++;
    f->w_row++;
    if (!f->pend_last) return false;
    f->w_row = 0;
    f->open = false;
    return next_block(f);
}

static void push_signal(mm_front *f) {
    int at = (f->sig_rd + f->sig_n) % MM_SIGNALS;
    f->sig[at].sem = f->cur.sem;
    f->sig[at].count = f->cur.count;
    f->sig[at].after = f->issued;
    f->sig_n++;
}

void mm_front_step(matmul *s, const matmul_in *in, const mm_now *now) {
    mm_front *f = &s->front;
    if (f->pend && in->rsp[MM_W].rvalid && f->pend_last) f->loaded[f->pend_half] = true;
    f->pend = now->w_gnt;
    bool advance = false, ready = !f->nxt_valid, room = f->sig_n < MM_SIGNALS;
    if (f->cur_valid && f->cur.op == OP_MATMUL) {
        if (now->push) {
            push_block(f);
            f->open = true;
        }
        if (now->w_gnt) advance = take_weight_row(f);
    } else if (f->cur_valid && f->cur.op == OP_WAIT) {
        advance = in->wait_gnt;
    } else if (f->cur_valid && f->cur.op == OP_SIGNAL) {
        if (room) push_signal(f);
        advance = room;
    } else {
        advance = f->cur_valid;
    }
    if (now->signal) {
        f->sig_rd = (uint8_t)((f->sig_rd + 1) % MM_SIGNALS);
        f->sig_n--;
    }
    if (advance) f->cur_valid = false;
    if (!f->cur_valid && f->nxt_valid) {
        begin(f, &f->nxt);
        f->nxt_valid = false;
    }
    if (in->instr_valid && ready) mm_front_accept(f, &in->instr);
}
