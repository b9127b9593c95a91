#include "matmul/matmul_steps.h"

#include <string.h>

enum { GROUPS = CFG_COLS / 8 };

// The weight scales of the next group of 8 columns: where they lie.
static uint16_t group_row(const mm_block *b, const mm_scale *c, uint8_t *sub) {
    int sum = b->ws_sub + c->ws_group, shift = b->scale_w == SCALE_BF16 ? 1 : 2;
    *sub = (uint8_t)(sum & ((1 << shift) - 1));
    return (uint16_t)(b->ws_addr + (sum >> shift));
}

static bool hit(const mm_scale *c, const mm_block *b, uint16_t addr) {
    return c->row_valid && !c->pend_ws && c->row_tag == b->tag && c->row_addr == addr;
}

static bool reuses(const mm_block *b) {
    return b->first && b->last && !b->fresh && b->m <= 32;
}

bool mm_s_valid(const matmul *s, bool as_pop, bool *choose_as, uint16_t *addr) {
    const mm_scale *c = &s->scale;
    bool ws_need = false, as_need = false;
    uint16_t ws_addr = 0;
    const mm_block *wb = &s->front.block[c->ws.half], *ab = &s->front.block[c->as.half];
    if (c->ws.n && wb->scale_w != SCALE_NONE && !c->pend_ws) {
        uint8_t sub;
        ws_addr = group_row(wb, c, &sub);
        ws_need = !hit(c, wb, ws_addr);
    }
    if (c->as.n && ab->scale_a != SCALE_NONE) as_need = !reuses(ab) && c->as_n + c->pend_as < 2 + as_pop;
    *choose_as = c->hold ? c->hold_as : !ws_need;
    *addr = *choose_as ? (uint16_t)(ab->as_base + c->as_group) : ws_addr;
    return ws_need || as_need;
}

// Takes the scales of one group out of the row kept; returns whether the block is passed.
static bool weight_scales(mm_scale *c, const mm_block *b) {
    if (!c->ws.n) return false;
    if (b->scale_w == SCALE_NONE) return true;
    uint8_t sub;
    uint16_t addr = group_row(b, c, &sub);
    if (!hit(c, b, addr)) return false;
    const uint64_t *w = c->row.w;
    uint16_t *out = c->word + 8 * c->ws_group;
    if (b->scale_w == SCALE_BF16) {
        memcpy(out, w + 2 * sub, 16);
    } else {
        for (int i = 0; i < 8; i++) out[i] = (uint16_t)(w[sub] >> (8 * i) & 0xFF);
    }
    c->ws_group++;
    return c->ws_group == GROUPS;
}

// Returns whether the block is passed.
static bool activation_scales(mm_scale *c, const mm_block *b, const mm_now *now) {
    if (!c->as.n) return false;
    if (b->scale_a == SCALE_NONE) return true;
    if (now->s_gnt && now->choose_as) return c->as_group++ == (b->m - 1) >> 5;
    if (!reuses(b) || c->pend_as || c->as_n >= 2 + now->as_pop) return false;
    int at = c->as_rd ^ (c->as_n & 1);
    c->as_row[at] = c->as_row[at ^ 1];
    c->as_n++;
    return true;
}

void mm_scale_step(matmul *s, const matmul_in *in, const mm_now *now) {
    mm_scale *c = &s->scale;
    const mm_block *wb = &s->front.block[c->ws.half], *ab = &s->front.block[c->as.half];
    const mem_rsp *rsp = &in->rsp[MM_S];
    bool ws_none = c->ws.n && wb->scale_w == SCALE_NONE;
    if (c->ws_send) c->ws_loaded[c->ws_send_half] = true;
    if (now->push) c->ws_loaded[s->front.push_half] = false;
    bool ws_pass = weight_scales(c, wb);
    c->ws_send = ws_pass;
    if (ws_pass) {
        c->ws_send_half = c->ws.half;
        c->ws_send_fmt = wb->scale_w;
        c->ws_group = 0;
    }
    bool as_pass = activation_scales(c, ab, now);
    if (as_pass) c->as_group = 0;
    if (ws_none) c->row_valid = false;
    if (c->pend_ws && rsp->rvalid) {
        c->row = rsp->rdata;
        c->row_valid = true;
    }
    if (c->pend_as && rsp->rvalid) {
        c->as_row[c->as_rd ^ (c->as_n & 1)] = rsp->rdata;
        c->as_n++;
    }
    if (now->as_pop) {
        c->as_rd ^= 1;
        c->as_n--;
    }
    c->pend_ws = now->s_gnt && !now->choose_as;
    c->pend_as = now->s_gnt && now->choose_as;
    if (c->pend_ws) {
        c->row_addr = now->s_addr;
        c->row_tag = wb->tag;
    }
    c->hold = now->s_valid && !now->s_gnt;
    c->hold_as = now->choose_as;
    mm_walk(&c->ws, now->push, ws_pass);
    mm_walk(&c->as, now->push, as_pass);
}
