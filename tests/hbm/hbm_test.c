#include "hbm/hbm.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"

static hbm memory;
static link_t to_port[HBM_PORTS];
static credit_t credit[HBM_PORTS];

static void fresh(void) {
    hbm_init(&memory);
    memset(to_port, 0, sizeof to_port);
    memset(credit, 0, sizeof credit);
}

static void gone(void) {
    hbm_free(&memory);
}

TestSuite(hbm, .init = fresh, .fini = gone);

static flit_t load_request(int slot, uint32_t addr, unsigned rows, unsigned sram_row) {
    flit_t f = {.head = true, .tail = true, .kind = FLIT_LOAD_REQ, .src = {1, 0}, .tag = (uint8_t)slot, .addr = addr};
    f.data.w[0] = rows | (uint64_t)sram_row << 16;
    return f;
}

// One cycle: send f (or nothing) to port 0, return what the port drives.
static link_t cycle(const flit_t *f, credit_t back) {
    link_t out;
    credit_t returned;
    hbm_peek(&memory, 0, &out, &returned);
    to_port[0].valid = f != NULL;
    if (f) to_port[0].flit = *f;
    credit[0] = back;
    hbm_step(&memory, to_port, credit);
    return out;
}

static void fill(uint32_t rows) {
    row_t *r = hbm_rows(&memory, 0, 0, rows);
    for (uint32_t i = 0; i < rows; i++) r[i].w[0] = 1000 + i;
}

Test(hbm, streams_one_row_a_cycle_after_the_latency) {
    fill(100);
    flit_t f = load_request(3, 5, 20, 0x40);
    cycle(&f, 0);
    unsigned got = 0;
    for (int t = 1; t < CFG_HBM_LATENCY + 21; t++) {
        link_t out = cycle(NULL, got ? (credit_t)(1 << to_port[0].vc) : 0);
        cr_assert_eq(out.valid, t >= CFG_HBM_LATENCY + 1, "cycle %d: valid %d", t, out.valid);
        if (!out.valid) continue;
        to_port[0].vc = out.vc; // credit of the flit just taken, given back in the next cycle
        cr_assert_eq(out.flit.addr, 0x40 + got, "row %u went to %x", got, out.flit.addr);
        cr_assert_eq(out.flit.data.w[0], 1005 + got);
        cr_assert_eq(out.flit.head, got % 8 == 0);
        cr_assert_eq(out.flit.tail, got % 8 == 7 || got == 19);
        cr_assert(out.flit.kind == FLIT_LOAD_DATA && out.flit.tag == 3 && out.flit.rect.x0 == 1 &&
                  out.flit.rect.x1 == 1);
        got++;
    }
    cr_assert_eq(got, 20);
}

Test(hbm, never_sends_more_than_the_credits) {
    fill(1000);
    rng_t rng = rng_new(1);
    int outstanding[NOC_NUM_VCS] = {0};
    unsigned got = 0;
    flit_t f = load_request(0, 0, 999, 0);
    cycle(&f, 0);
    for (int t = 0; t < 20000 && got < 999; t++) {
        credit_t back = 0;
        for (int v = 0; v < NOC_DATA_VCS; v++)
            if (outstanding[v] && rng_below(&rng, 3) == 0) {
                back |= (credit_t)(1 << v);
                outstanding[v]--;
            }
        link_t out = cycle(NULL, back);
        if (!out.valid) continue;
        cr_assert(++outstanding[out.vc] <= CFG_NOC_DEPTH, "cycle %d: channel %d holds %d", t, out.vc,
                  outstanding[out.vc]);
        cr_assert_eq(out.flit.data.w[0], 1000 + got);
        got++;
    }
    cr_assert_eq(got, 999);
}

Test(hbm, stores_and_acknowledges_the_last_flit) {
    fill(10);
    flit_t f = {.kind = FLIT_STORE_DATA, .head = true, .src = {0, 1}, .tag = 2, .addr = 4, .data = {{77, 1, 2, 3}}};
    cycle(&f, 0);
    f.head = false;
    f.tail = f.last = true;
    f.addr = 5;
    cycle(&f, 0);
    int acks = 0;
    for (int t = 0; t < CFG_HBM_LATENCY + 10; t++) {
        link_t out = cycle(NULL, 0);
        if (!out.valid) continue;
        cr_assert(out.flit.kind == FLIT_STORE_ACK && out.flit.tag == 2 && out.flit.rect.y0 == 1 && out.flit.head &&
                  out.flit.tail);
        acks++;
    }
    cr_assert_eq(acks, 1);
    const row_t *r = hbm_rows(&memory, 0, 0, 10);
    cr_assert(r[4].w[0] == 77 && r[5].w[3] == 3 && r[6].w[0] == 1006);
    cr_assert_eq(memory.ports[0].rows_written, 2);
}

// Packets of a STORE may overtake each other: the acknowledgement waits for all of them, in any order, and the slot's
// next STORE counts from the beginning.
Test(hbm, acknowledges_a_store_when_its_last_packet_is_here) {
    static const uint8_t orders[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}};
    fill(10);
    for (int o = 0; o < 4; o++) {
        for (int i = 0; i < 3; i++) {
            uint8_t n = orders[o][i];
            flit_t f = {.kind = FLIT_STORE_DATA, .head = true, .tail = true, .src = {1, 0}, .tag = 1, .addr = n};
            f.root.y = n;
            f.last = n == 2;
            f.data.w[0] = (uint64_t)(100 + o);
            int acks = 0;
            cycle(&f, 0);
            for (int t = 0; t < CFG_HBM_LATENCY + 5; t++) {
                link_t out = cycle(NULL, 0);
                acks += out.valid;
                if (out.valid) cycle(NULL, (credit_t)(1 << out.vc));
            }
            cr_assert_eq(acks, i == 2, "order %d, packet %d: %d acknowledgements", o, i, acks);
        }
        cr_assert_eq(hbm_rows(&memory, 0, 0, 10)[1].w[0], (uint64_t)(100 + o));
    }
    cr_assert(!memory.error);
}

Test(hbm, store_from_nowhere_is_an_error) {
    fill(10);
    flit_t f = {.kind = FLIT_STORE_DATA, .head = true, .tail = true, .last = true, .tag = CFG_NUM_SLOTS};
    cycle(&f, 0);
    cr_assert(memory.error);
}

Test(hbm, requests_out_of_range_are_errors) {
    fill(10);
    flit_t f = load_request(0, 5, 6, 0);
    cycle(&f, 0);
    cr_assert(memory.error && strstr(memory.text, "LOAD out of range"), "%s", memory.text);
    cr_assert_null(hbm_rows(&memory, HBM_PORTS, 0, 1));
    cr_assert_null(hbm_rows(&memory, 0, HBM_MAX_ROWS, 1));
    cr_assert_null(hbm_rows(&memory, 0, 1, UINT32_MAX));
}

// Two LOADs and a STORE between them: replies in the order of arrival, one flit a cycle without a gap once they are
// due.
Test(hbm, requests_are_served_in_their_order_of_arrival) {
    fill(100);
    const flit_t requests[] = {
        load_request(1, 0, 9, 0x100),
        {.kind = FLIT_STORE_DATA, .head = true, .tail = true, .last = true, .tag = 2, .addr = 50},
        load_request(3, 20, 3, 0x200)};
    int order[13], got = 0, first = 0, last = 0;
    credit_t back = 0;
    for (int t = 0; t < CFG_HBM_LATENCY + 30; t++) {
        link_t out = cycle(t < 3 ? &requests[t] : NULL, back);
        back = (credit_t)(out.valid ? 1 << out.vc : 0);
        if (!out.valid) continue;
        cr_assert(got < 13, "cycle %d: a flit too many, tag %d", t, out.flit.tag);
        if (got == 0) first = t;
        last = t;
        order[got++] = out.flit.tag;
    }
    cr_assert_eq(got, 13);
    for (int i = 0; i < 13; i++) cr_assert_eq(order[i], i < 9 ? 1 : i == 9 ? 2 : 3, "flit %d: slot %d", i, order[i]);
    cr_assert_eq(first, CFG_HBM_LATENCY + 1);
    cr_assert_eq(last, first + 12);
    cr_assert_eq(memory.ports[0].busy, 13);
    cr_assert_eq(memory.ports[0].rows_read, 12);
    cr_assert(hbm_idle(&memory));
}

Test(hbm, every_slot_of_every_tile_may_be_outstanding_at_one_port) {
    fill(HBM_QUEUE + 1);
    flit_t f = load_request(0, 0, 1, 0);
    for (int i = 0; i < CFG_TILES_X * CFG_TILES_Y * CFG_NUM_SLOTS && i < CFG_HBM_LATENCY; i++) cycle(&f, 0);
    cr_assert_not(memory.error, "%s", memory.text);
    for (int i = 0; i < CFG_HBM_LATENCY; i++) cycle(&f, 0); // no credit comes back: the queue must fill
    cr_assert(memory.error && strstr(memory.text, "more requests outstanding"), "%s", memory.text);
}

Test(hbm, ports_are_address_spaces_of_their_own) {
    for (int p = 0; p < HBM_PORTS; p++) hbm_rows(&memory, p, 0, 1)->w[0] = (uint64_t)(100 + p);
    for (int p = 0; p < HBM_PORTS; p++) {
        to_port[p].valid = true;
        to_port[p].flit = load_request(p, 0, 1, (unsigned)p);
    }
    hbm_step(&memory, to_port, credit);
    for (int p = 0; p < HBM_PORTS; p++) to_port[p].valid = false;
    for (int t = 0; t < CFG_HBM_LATENCY; t++) hbm_step(&memory, to_port, credit);
    for (int p = 0; p < HBM_PORTS; p++) {
        link_t out;
        credit_t returned;
        hbm_peek(&memory, p, &out, &returned);
        cr_assert(out.valid && out.flit.tag == p && out.flit.data.w[0] == (uint64_t)(100 + p), "port %d", p);
    }
}

// A received flit gives its credit back in the next cycle, once, on its own channel.
Test(hbm, credits_of_received_flits_come_back_once) {
    fill(10);
    flit_t f = load_request(0, 0, 1, 0);
    link_t out;
    credit_t returned;
    for (int v = 0; v < NOC_DATA_VCS; v++) {
        to_port[0].vc = (uint8_t)v;
        cycle(&f, 0);
        hbm_peek(&memory, 0, &out, &returned);
        cr_assert_eq(returned, 1 << v);
        cycle(NULL, 0);
        hbm_peek(&memory, 0, &out, &returned);
        cr_assert_eq(returned, 0);
    }
}
