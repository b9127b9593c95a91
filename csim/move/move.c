#include "move/move.h"

#include <string.h>

// What this cycle's state asks for.
typedef struct {
    const instr_t *cur; // NULL: none of its own
    bool reads, loads;  // a row read is asked for, a LOAD request is issued
    bool nothing;       // no rows to move: the instruction ends at once
} move_now;

static bool own(const instr_t *i) {
    return i->op == OP_COPY || i->op == OP_LOAD || i->op == OP_STORE;
}

static move_now now_of(const move *s) {
    move_now n = {.cur = engine_front_work(&s->front)};
    if (!n.cur) return n;
    n.nothing = !own(n.cur) || n.cur->rows == 0;
    if (n.nothing || s->count + s->pend >= MOVE_FIFO || (n.cur->op != OP_COPY && !s->slot_valid)) return n;
    n.loads = n.cur->op == OP_LOAD;
    n.reads = !n.loads && (s->row || !s->copies);
    return n;
}

static bool quiet(const move *s) {
    return !s->pend && !s->count && !s->slots_busy;
}

void move_reset(move *s, node_t here) {
    s->here = here;
    engine_front_reset(&s->front);
    s->row = 0;
    s->pend = s->error = false;
    s->rd = s->count = s->copies = 0;
    s->slot_valid = true;
    s->slot = 0;
    s->slots_busy = s->slots_store = 0;
}

void move_peek(const move *s, move_out *out) {
    const instr_t *cur = &s->front.cur;
    bool calm = quiet(s);
    out->instr_ready = engine_front_ready(&s->front);
    out->busy = s->front.cur_valid || !calm;
    out->error = s->error;
    out->flit_valid = out->req[MOVE_R].valid = out->req[MOVE_W].valid = false;
    out->wait_valid = engine_front_waits(&s->front);
    out->signal_valid = engine_front_signals(&s->front) && calm;
    if (!out->busy) return;
    out->wait_sem = out->signal_sem = cur->sem;
    out->wait_count = out->signal_count = cur->count;
    if (now_of(s).reads) {
        out->req[MOVE_R].valid = true;
        out->req[MOVE_R].we = false;
        out->req[MOVE_R].addr = (uint16_t)(cur->addr_a + s->row);
    }
    if (!s->count) return;
    const move_entry *head = &s->fifo[s->rd];
    if (head->copy) {
        out->req[MOVE_W].valid = out->req[MOVE_W].we = true;
        out->req[MOVE_W].addr = (uint16_t)head->flit.addr;
        out->req[MOVE_W].wdata = head->flit.data;
    } else {
        out->flit_valid = true;
        out->flit = head->flit;
    }
}

// The header of the row or request that is issued, into the pending entry.
static void issue(move *s, const instr_t *cur, bool last) {
    flit_t *f = &s->pend_entry.flit;
    uint8_t x = cur->to == TO_EAST ? CFG_TILES_X - 1 : 0;
    uint16_t last_row = (uint16_t)(cur->rows - 1), row = s->row;
    s->pend_load = cur->op == OP_LOAD;
    s->pend_entry.copy = cur->op == OP_COPY;
    *f = (flit_t){.head = row % 8 == 0,
                  .tail = last || row % 8 == 7,
                  .to = cur->to,
                  .src = s->here,
                  .tag = s->slot,
                  .last = last,
                  .rect = {x, cur->rect.y0, x, cur->rect.y0},
                  .kind = FLIT_LOAD_REQ,
                  .addr = cur->hbm_addr};
    if (cur->op == OP_COPY) f->addr = (uint16_t)(cur->addr_c + row);
    if (cur->op == OP_LOAD) f->data.w[0] = cur->rows | (uint64_t)cur->addr_c << 16;
    if (cur->op != OP_STORE) return;
    f->kind = FLIT_STORE_DATA;
    f->len_m1 = row / 8 == last_row / 8 ? last_row % 8 : 7;
    f->root = (node_t){row >> 8 & 31, row >> 3 & 31}; // number of the packet in the STORE
    f->addr = cur->hbm_addr + row;
}

// Replies of this cycle, the slot taken in it (or not), and the slot kept for the next transaction.
static void step_slots(move *s, const move_in *in, const instr_t *take) {
    uint16_t was = s->slots_busy;
    if (in->load_row && in->load_slot < CFG_NUM_SLOTS && (was & ~s->slots_store) >> in->load_slot & 1)
        if (--s->left[in->load_slot] == 0) s->slots_busy &= (uint16_t) ~(1 << in->load_slot);
    if (in->ack && (was & s->slots_store) >> in->ack_slot & 1) s->slots_busy &= (uint16_t) ~(1 << in->ack_slot);
    uint16_t used = was;
    if (take) {
        uint16_t bit = (uint16_t)(1 << s->slot);
        used |= bit;
        s->slots_busy |= bit;
        s->slots_store = take->op == OP_STORE ? s->slots_store | bit : s->slots_store & (uint16_t)~bit;
        s->left[s->slot] = take->rows;
    }
    if (!take && s->slot_valid) return;
    unsigned free = ~(unsigned)used & ((1u << CFG_NUM_SLOTS) - 1);
    s->slot_valid = free != 0;
    if (free) s->slot = (uint8_t)__builtin_ctz(free);
}

static void classify(const move *s, const move_now *n, bool issued, bool busy, bool gone, move_events *ev) {
    const move_entry *head = &s->fifo[s->rd];
    if (gone || busy)
        ev->busy = 1;
    else if (s->count)
        *(head->copy ? &ev->stall_bank : &ev->stall_net) = 1;
    else if (s->pend)
        *(s->pend_load ? &ev->stall_net : &ev->stall_bank) = 1;
    else if (engine_front_waits(&s->front))
        ev->stall_sem = 1;
    else if (n->reads)
        ev->stall_bank = 1;
    else if (issued)
        ev->stall_net = 1;
    else if (s->front.cur_valid || s->slots_busy)
        ev->stall_slot = 1;
    else
        ev->idle = 1;
}

void move_step(move *s, const move_in *in, move_events *ev) {
    memset(ev, 0, sizeof *ev);
    const instr_t *offer = in->instr_valid ? &in->instr : NULL;
    if (!s->front.cur_valid && !offer && quiet(s)) {
        ev->idle = 1;
        return;
    }
    move_now n = now_of(s);
    move_entry *head = &s->fifo[s->rd];
    bool issued = n.loads || (n.reads && in->rsp[MOVE_R].gnt);
    bool last = issued && (n.loads || s->row == (uint16_t)(n.cur->rows - 1));
    bool moved = s->count && head->copy && in->rsp[MOVE_W].gnt;
    bool left = s->count && !head->copy && in->flit_ready;
    bool passed = engine_front_waits(&s->front) ? in->wait_gnt : engine_front_signals(&s->front) && quiet(s);
    classify(s, &n, issued, passed || n.nothing, moved || left, ev);
    ev->rows_loaded = in->load_row;
    ev->rows_stored = left && head->flit.kind == FLIT_STORE_DATA;
    ev->rows_copied = moved;
    s->error |= (in->rsp[MOVE_R].rvalid && in->rsp[MOVE_R].rerr) || (n.cur && !own(n.cur));
    if (s->pend) {
        move_entry *e = &s->fifo[(s->rd + s->count) % MOVE_FIFO];
        *e = s->pend_entry;
        if (!s->pend_load) e->flit.data = in->rsp[MOVE_R].rdata;
        s->count++;
    }
    if (moved || left) {
        s->rd = (uint8_t)((s->rd + 1) % MOVE_FIFO);
        s->count--;
    }
    bool copy = issued && n.cur->op == OP_COPY;
    s->copies = (uint8_t)(s->copies + copy - moved);
    s->pend = issued;
    if (issued) issue(s, n.cur, last);
    step_slots(s, in, last && !copy ? n.cur : NULL);
    if (issued) s->row = last ? 0 : (uint16_t)(s->row + 1);
    engine_front_step(&s->front, passed || n.nothing || last, offer);
}
