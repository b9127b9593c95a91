#include "tile/tile.h"

#include <string.h>

bool tile_init(tile *s, node_t here) {
    memset(s, 0, sizeof *s);
    bool ok = sram_init(&s->mem);
    if (ok) tile_reset(s, here);
    return ok;
}

void tile_free(tile *s) {
    sram_free(&s->mem);
}

void tile_reset(tile *s, node_t here) {
    tile_seq_reset(&s->seq);
    for (int e = 0; e < NUM_ENGINES; e++) tile_queue_reset(&s->queue[e]);
    tile_sems_reset(&s->sems);
    sram_reset(&s->mem);
    matmul_reset(&s->mm);
    move_reset(&s->mv, here);
    send_reset(&s->tx, here);
    recv_reset(&s->rx);
    vec_reset(&s->vx);
    ni_reset(&s->net);
    router_reset(&s->hop, here);
    counters_reset(&s->count, COUNTER_WIDTH);
}

// The waits of the engines in the order of engine_id.
static void gather_waits(const tile_wires *w, tile_sem_op wait[NUM_ENGINES]) {
    wait[ENG_MATMUL] = (tile_sem_op){w->mm.wait_valid, w->mm.wait_sem, w->mm.wait_count};
    wait[ENG_MOVE] = (tile_sem_op){w->mv.wait_valid, w->mv.wait_sem, w->mv.wait_count};
    wait[ENG_SEND] = (tile_sem_op){w->tx.wait_valid, w->tx.wait_sem, w->tx.wait_count};
    wait[ENG_RECV] = (tile_sem_op){w->rx.wait_valid, w->rx.wait_sem, w->rx.wait_count};
    wait[ENG_VECTOR] = (tile_sem_op){w->vx.wait_valid, w->vx.wait_sem, w->vx.wait_count};
}

static bool any_queued(const tile *s) {
    for (int e = 0; e < NUM_ENGINES; e++)
        if (tile_queue_valid(&s->queue[e])) return true;
    return false;
}

static bool any_full(const counters *c) {
    if (c->bound <= c->max) return false; // no counter has ever been near
    for (int e = 0; e < NUM_EVENTS; e++)
        if (c->snap_sticky[e]) return true;
    return false;
}

void tile_peek(tile *s, tile_out *out) {
    tile_wires *w = &s->now;
    link_t link[NOC_PORTS];
    credit_t credit[NOC_PORTS];
    w->engine = tile_seq_peek(&s->seq, &w->instr);
    matmul_peek(&s->mm, &w->mm);
    move_peek(&s->mv, &w->mv);
    send_peek(&s->tx, &w->tx);
    recv_peek(&s->rx, &w->rx);
    vec_peek(&s->vx, &w->vx);
    ni_peek(&s->net, &w->net);
    router_peek(&s->hop, link, credit);
    sram_peek(&s->mem, w->rsp);
    w->eject.valid = link[NOC_LOCAL].valid;
    if (w->eject.valid) w->eject = link[NOC_LOCAL];
    w->inject_credit = credit[NOC_LOCAL];
    for (int p = 0; p < TILE_LINKS; p++) {
        out->link[p].valid = link[p + 1].valid;
        if (link[p + 1].valid) out->link[p] = link[p + 1];
        out->credit[p] = credit[p + 1];
    }
    bool gnt[NUM_ENGINES];
    gather_waits(w, out->wait);
    tile_sems_grant(&s->sems, out->wait, gnt);
    for (int e = 0; e < NUM_ENGINES; e++) out->wait[e].valid &= !gnt[e];
    out->done = !s->seq.running && !any_queued(s) && !w->mm.busy && !w->mv.busy && !w->tx.busy && !w->rx.busy &&
                !w->vx.busy && !w->net.busy && !router_busy(&s->hop);
    out->error = s->seq.error || s->sems.error || w->mm.error || w->mv.error || w->tx.error || w->rx.error ||
                 w->vx.error || any_full(&s->count);
}

static void step_queues(tile *s) {
    tile_wires *w = &s->now;
    const bool pop[NUM_ENGINES] = {w->mm.instr_ready, w->mv.instr_ready, w->tx.instr_ready, w->rx.instr_ready,
                                   w->vx.instr_ready};
    for (int e = 0; e < NUM_ENGINES; e++)
        if (e == w->engine || s->queue[e].count) tile_queue_step(&s->queue[e], e == w->engine ? w->instr : NULL, pop[e]);
}

// The front of an engine's queue as its instruction input; true where there is one.
static bool offer(const tile *s, int engine, instr_t *instr) {
    if (!tile_queue_valid(&s->queue[engine])) return false;
    *instr = *tile_queue_front(&s->queue[engine]);
    return true;
}

static void copy_rsp(mem_rsp *to, const mem_rsp *from) {
    to->gnt = from->gnt;
    to->rvalid = from->rvalid;
    to->rerr = from->rerr;
    if (from->rvalid) to->rdata = from->rdata;
}

static void step_engines(tile *s, const bool gnt[NUM_ENGINES], const mem_rsp rsp[NUM_PORTS], tile_events *ev) {
    tile_wires *w = &s->now;
    matmul_in mm;
    move_in mv;
    send_in tx;
    recv_in rx;
    vec_in vx;
    mm.instr_valid = offer(s, ENG_MATMUL, &mm.instr);
    mm.wait_gnt = gnt[ENG_MATMUL];
    for (int p = 0; p < MM_PORTS; p++) copy_rsp(&mm.rsp[p], &rsp[PORT_MM_A + p]);
    mv.instr_valid = offer(s, ENG_MOVE, &mv.instr);
    mv.wait_gnt = gnt[ENG_MOVE];
    for (int p = 0; p < MOVE_PORTS; p++) copy_rsp(&mv.rsp[p], &rsp[PORT_MOVE_R + p]);
    mv.flit_ready = w->net.ready[NI_MOVE];
    mv.load_row = w->rx.load_row;
    mv.load_slot = w->rx.load_slot;
    mv.ack = w->rx.ack;
    mv.ack_slot = w->rx.ack_slot;
    tx.instr_valid = offer(s, ENG_SEND, &tx.instr);
    tx.wait_gnt = gnt[ENG_SEND];
    copy_rsp(&tx.rsp, &rsp[PORT_SEND]);
    tx.flit_ready = w->net.ready[NI_SEND];
    tx.left = w->net.left;
    rx.instr_valid = offer(s, ENG_RECV, &rx.instr);
    rx.wait_gnt = gnt[ENG_RECV];
    copy_rsp(&rx.rsp, &rsp[PORT_RECV]);
    rx.flit_valid = w->net.flit_valid;
    if (rx.flit_valid) rx.flit = w->net.flit;
    vx.instr_valid = offer(s, ENG_VECTOR, &vx.instr);
    vx.wait_gnt = gnt[ENG_VECTOR];
    for (int p = 0; p < VEC_PORTS; p++) copy_rsp(&vx.rsp[p], &rsp[PORT_VEC_A + p]);
    matmul_step(&s->mm, &mm, &ev->matmul);
    move_step(&s->mv, &mv, &ev->move);
    send_step(&s->tx, &tx, &ev->send);
    recv_step(&s->rx, &rx, &ev->recv);
    vec_step(&s->vx, &vx, &ev->vec);
}

static void step_network(tile *s, const tile_in *in, tile_events *ev) {
    tile_wires *w = &s->now;
    ni_in net;
    net.valid[NI_SEND] = w->tx.flit_valid;
    if (w->tx.flit_valid) net.flit[NI_SEND] = w->tx.flit;
    net.valid[NI_MOVE] = w->mv.flit_valid;
    if (w->mv.flit_valid) net.flit[NI_MOVE] = w->mv.flit;
    net.credit = w->inject_credit;
    net.link.valid = w->eject.valid;
    if (w->eject.valid) net.link = w->eject;
    net.flit_ready = w->rx.flit_ready;
    ni_step(&s->net, &net);
    link_t link[NOC_PORTS];
    credit_t credit[NOC_PORTS];
    link[NOC_LOCAL].valid = w->net.link.valid;
    if (w->net.link.valid) link[NOC_LOCAL] = w->net.link;
    credit[NOC_LOCAL] = w->net.credit;
    for (int p = 0; p < TILE_LINKS; p++) {
        link[p + 1].valid = in->link[p].valid;
        if (in->link[p].valid) link[p + 1] = in->link[p];
        credit[p + 1] = in->credit[p];
    }
    router_step(&s->hop, link, credit, &ev->router);
}

static void gather_requests(const tile_wires *w, mem_req req[NUM_PORTS]) {
    const mem_req *from[NUM_PORTS] = {
        [PORT_MM_A] = &w->mm.req[MM_A],       [PORT_MM_W] = &w->mm.req[MM_W],       [PORT_MM_S] = &w->mm.req[MM_S],
        [PORT_MM_C] = &w->mm.req[MM_C],       [PORT_MOVE_R] = &w->mv.req[MOVE_R],   [PORT_MOVE_W] = &w->mv.req[MOVE_W],
        [PORT_SEND] = &w->tx.req,             [PORT_RECV] = &w->rx.req,         [PORT_VEC_A] = &w->vx.req[VEC_A],
        [PORT_VEC_B] = &w->vx.req[VEC_B],     [PORT_VEC_C] = &w->vx.req[VEC_C], [PORT_VEC_W] = &w->vx.req[VEC_W]};
    for (int p = 0; p < NUM_PORTS; p++) {
        req[p].valid = from[p]->valid;
        if (from[p]->valid) req[p] = *from[p];
    }
}

void tile_step(tile *s, const tile_in *in) {
    tile_wires *w = &s->now;
    tile_events ev;
    tile_sems_in sems;
    bool gnt[NUM_ENGINES];
    mem_req req[NUM_PORTS];
    gather_waits(w, sems.wait);
    tile_sems_grant(&s->sems, sems.wait, gnt);
    sems.signal[ENG_MATMUL] = (tile_sem_op){w->mm.signal_valid, w->mm.signal_sem, w->mm.signal_count};
    sems.signal[ENG_MOVE] = (tile_sem_op){w->mv.signal_valid, w->mv.signal_sem, w->mv.signal_count};
    sems.signal[ENG_SEND] = (tile_sem_op){w->tx.signal_valid, w->tx.signal_sem, w->tx.signal_count};
    sems.signal[ENG_RECV] = (tile_sem_op){w->rx.signal_valid, w->rx.signal_sem, w->rx.signal_count};
    sems.signal[ENG_VECTOR] = (tile_sem_op){w->vx.signal_valid, w->vx.signal_sem, w->vx.signal_count};
    gather_requests(w, req);
    sram_grant(&s->mem, req, w->rsp);
    bool room = w->engine >= 0 && tile_queue_ready(&s->queue[w->engine]);
    step_engines(s, gnt, w->rsp, &ev);
    step_network(s, in, &ev);
    step_queues(s);
    tile_seq_step(&s->seq, in->start, room, &ev.seq);
    tile_sems_step(&s->sems, &sems, gnt);
    sram_step(&s->mem, req, w->rsp, &ev.sram);
    counters_step(&s->count, &ev, in->snapshot, false);
}
