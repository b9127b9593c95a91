#include "matmul/matmul_steps.h"

enum { GROUPS = CFG_COLS / 8 };

bool mm_c_valid(const mm_drain *d) {
    return d->mode == MM_C_DRAIN || (d->mode == MM_C_INIT && !d->asked);
}

// Port C is idle: draining the older bank goes first, then initial values, of the older bank first.
static void choose(matmul *s) {
    mm_drain *d = &s->drain;
    int old = d->drain_bank;
    d->row = 0;
    d->part = 0;
    d->asked = false;
    d->c_bank = old;
    if (d->bank[old].state == BANK_CLOSED && !matmul_array_acc_busy(&s->array, old)) {
        d->mode = MM_C_DRAIN;
    } else if (d->bank[old].state == BANK_INIT && !d->bank[old].blocked) {
        d->mode = MM_C_INIT;
    } else if (d->bank[!old].state == BANK_INIT && !d->bank[!old].blocked) {
        d->mode = MM_C_INIT;
        d->c_bank = !old;
    }
    d->ptr = d->bank[d->c_bank].base;
}

// One SRAM row moves; returns whether it is the bank's last.
static bool move_row(mm_drain *d) {
    bool end = d->part == GROUPS - 1 && d->row == d->bank[d->c_bank].m - 1;
    d->pend_end = end;
    d->pend_row = d->row;
    d->pend_part = d->part;
    if (d->part == GROUPS - 1) {
        d->part = 0;
        d->row++;
    } else {
        d->part++;
    }
    d->ptr++;
    d->asked |= end;
    return end;
}

void mm_drain_step(matmul *s, const matmul_in *in, const mm_now *now) {
    mm_drain *d = &s->drain;
    const mm_block *b = &s->front.block[d->alloc.half];
    bool init = d->mode == MM_C_INIT, drain_end = false;
    bool init_end = d->pend && in->rsp[MM_C].rvalid && d->pend_end;
    bool alloc = d->alloc.n && b->first && d->bank[b->bank].state == BANK_FREE;
    bool other_used = d->bank[!b->bank].state != BANK_FREE;
    bool pass = d->alloc.n && (alloc || !b->first);
    if (d->mode == MM_C_IDLE) choose(s);
    else if (now->c_gnt) drain_end = move_row(d) && !init;
    if (now->row_close) d->bank[now->row_bank].state = BANK_CLOSED;
    if (init_end) d->bank[d->c_bank].state = BANK_READY;
    if (drain_end) {
        d->bank[d->c_bank].state = BANK_FREE;
        d->bank[!d->c_bank].blocked = false;
        d->drain_bank = !d->drain_bank;
        d->drained++;
    }
    if (init_end || drain_end) d->mode = MM_C_IDLE;
    if (alloc) {
        d->bank[b->bank].state = b->init ? BANK_INIT : BANK_READY;
        d->bank[b->bank].blocked = other_used && d->bank[!b->bank].tag != b->tag && !drain_end;
        d->bank[b->bank].tag = b->tag;
        d->bank[b->bank].base = b->c_base;
        d->bank[b->bank].m = b->m;
    }
    d->pend = now->c_gnt && init;
    mm_walk(&d->alloc, now->push, pass);
}
