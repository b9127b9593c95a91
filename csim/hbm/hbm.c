#include "hbm/hbm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hbm_reset(hbm *s) {
    s->cycle = 0;
    s->error = false;
    s->text[0] = '\0';
    for (int p = 0; p < HBM_PORTS; p++) {
        hbm_port *port = &s->ports[p];
        hbm_port fresh = {.rows = port->rows, .num_rows = port->num_rows, .capacity = port->capacity};
        memset(fresh.credits, CFG_NOC_DEPTH, sizeof fresh.credits);
        *port = fresh;
    }
}

void hbm_init(hbm *s) {
    memset(s, 0, sizeof *s);
    hbm_reset(s);
}

void hbm_free(hbm *s) {
    for (int p = 0; p < HBM_PORTS; p++) free(s->ports[p].rows);
    hbm_init(s);
}

row_t *hbm_rows(hbm *s, int port, uint32_t first, uint32_t count) {
    if (port < 0 || port >= HBM_PORTS || first > HBM_MAX_ROWS || count > HBM_MAX_ROWS - first) return NULL;
    hbm_port *p = &s->ports[port];
    uint32_t end = first + count;
    if (end > p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity : 1024;
        while (capacity < end) capacity *= 2;
        row_t *rows = realloc(p->rows, capacity * sizeof *rows);
        if (!rows) return NULL;
        memset(rows + p->capacity, 0, (capacity - p->capacity) * sizeof *rows);
        p->rows = rows;
        p->capacity = capacity;
    }
    if (end > p->num_rows) p->num_rows = end;
    return p->rows + first;
}

static void fail(hbm *s, int port, const char *what, uint32_t addr, uint32_t rows) {
    if (!s->error) {
        s->error = true;
        snprintf(s->text, sizeof s->text, "HBM port %d: %s: rows %u + %u, the port has %u, cycle %llu", port, what,
                 addr, rows, s->ports[port].num_rows, (unsigned long long)s->cycle);
    }
}

static void enqueue(hbm *s, int port, hbm_request request) {
    hbm_port *p = &s->ports[port];
    if (p->count == HBM_QUEUE) {
        fail(s, port, "more requests outstanding than the queue holds", request.addr, request.rows);
        return;
    }
    request.ready = s->cycle + CFG_HBM_LATENCY;
    p->queue[(p->head + p->count++) % HBM_QUEUE] = request;
}

// The tail of a packet of a STORE; acknowledges the STORE when it was the last one to come. Numbers count modulo 1024,
// far more than can be under way.
static void end_packet(hbm *s, int port, const flit_t *f) {
    if (f->src.x >= CFG_TILES_X || f->src.y >= CFG_TILES_Y || f->tag >= CFG_NUM_SLOTS) {
        fail(s, port, "STORE from a tile or slot that does not exist", f->addr, 1);
        return;
    }
    hbm_store *store = &s->ports[port].stores[f->src.y * CFG_TILES_X + f->src.x][f->tag];
    store->packets++;
    if (f->last) store->want = (uint16_t)((f->root.x << 5 | f->root.y) + 1);
    if (!store->want || (store->packets - store->want) % 1024) return;
    *store = (hbm_store){0};
    enqueue(s, port, (hbm_request){.ack = true, .slot = f->tag, .to = f->src, .rows = 1});
}

static void receive(hbm *s, int port, const flit_t *f) {
    hbm_port *p = &s->ports[port];
    if (f->kind == FLIT_LOAD_REQ) {
        hbm_request r = {.slot = f->tag,
                         .to = f->src,
                         .addr = f->addr,
                         .rows = (uint32_t)(f->data.w[0] & 0xFFFF),
                         .sram_row = (uint16_t)(f->data.w[0] >> 16)};
        if (r.addr > p->num_rows || r.rows > p->num_rows - r.addr || r.rows == 0)
            fail(s, port, "LOAD out of range", r.addr, r.rows);
        else
            enqueue(s, port, r);
    } else if (f->kind == FLIT_STORE_DATA) {
        if (f->addr >= p->num_rows) {
            fail(s, port, "STORE out of range", f->addr, 1);
        } else {
            p->rows[f->addr] = f->data;
            p->rows_written++;
        }
        if (f->tail) end_packet(s, port, f);
    } else {
        fail(s, port, "a flit that is no request", f->addr, 1);
    }
}

// The data channel with the most credits (ties: the lowest) that takes a whole packet; -1 where none does.
static int choose_vc(const hbm_port *p, int flits) {
    int best = -1;
    for (int v = 0; v < NOC_DATA_VCS; v++)
        if (p->credits[v] >= flits && (best < 0 || p->credits[v] > p->credits[best])) best = v;
    return best;
}

// Decides the flit of the next cycle.
static void serve(hbm *s, hbm_port *p) {
    p->out_valid = false;
    if (!p->count) return;
    const hbm_request *r = &p->queue[p->head];
    if (s->cycle < r->ready) return;
    bool head = p->left == 0;
    if (head) {
        uint32_t rest = r->rows - p->sent;
        int flits = rest < NOC_MAX_FLITS ? (int)rest : NOC_MAX_FLITS;
        int vc = choose_vc(p, flits);
        if (vc < 0) return;
        p->vc = (uint8_t)vc;
        p->left = (uint8_t)flits;
        p->out.flit = (flit_t){.len_m1 = (uint8_t)(flits - 1),
                               .kind = r->ack ? FLIT_STORE_ACK : FLIT_LOAD_DATA,
                               .to = TO_TILE,
                               .rect = {r->to.x, r->to.y, r->to.x, r->to.y},
                               .src = r->to,
                               .tag = r->slot};
    }
    flit_t *f = &p->out.flit;
    f->head = head;
    f->tail = p->left == 1;
    if (!r->ack) {
        f->addr = (uint32_t)r->sram_row + p->sent;
        f->data = p->rows[r->addr + p->sent];
        f->last = p->sent + 1 == r->rows;
        p->rows_read++;
    }
    p->out.valid = p->out_valid = true;
    p->out.vc = p->vc;
    p->credits[p->vc]--;
    p->left--;
    p->busy++;
    if (++p->sent == r->rows) {
        p->sent = 0;
        p->head = (p->head + 1) % HBM_QUEUE;
        p->count--;
    }
}

void hbm_peek(const hbm *s, int port, link_t *link, credit_t *credit) {
    const hbm_port *p = &s->ports[port];
    if (p->out_valid)
        *link = p->out;
    else
        link->valid = false;
    *credit = p->returned;
}

void hbm_step(hbm *s, const link_t link[HBM_PORTS], const credit_t credit[HBM_PORTS]) {
    s->cycle++;
    for (int i = 0; i < HBM_PORTS; i++) {
        hbm_port *p = &s->ports[i];
        for (int v = 0; credit[i] >> v; v++) p->credits[v] = (uint8_t)(p->credits[v] + (credit[i] >> v & 1));
        p->returned = (credit_t)(link[i].valid ? 1 << link[i].vc : 0);
        if (link[i].valid) receive(s, i, &link[i].flit);
        serve(s, p);
    }
}

bool hbm_idle(const hbm *s) {
    for (int p = 0; p < HBM_PORTS; p++)
        if (s->ports[p].count || s->ports[p].out_valid || s->ports[p].returned) return false;
    return true;
}
