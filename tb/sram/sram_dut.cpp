#include "sram/sram_dut.h"

#include "Vsram.h"
#include "common/bits.h"
#include <string_view>

// mem_pkg::mem_req_t and mem_rsp_t, from the lowest bit up
constexpr int REQ_ADDR = ROW_BITS, REQ_WE = REQ_ADDR + MEM_ADDR_BITS, REQ_VALID = REQ_WE + 1, REQ_BITS = REQ_VALID + 1;
constexpr int RSP_RERR = ROW_BITS, RSP_RVALID = RSP_RERR + 1, RSP_GNT = RSP_RVALID + 1, RSP_BITS = RSP_GNT + 1;

struct sram_dut : dut_base<Vsram> {
    using dut_base::dut_base;
};

sram_dut *sram_dut_new(const dut_options *options) {
    auto *d = new sram_dut(options);
    d->top->inject_valid_i = 0;
    return d;
}

void sram_dut_inject(sram_dut *d, uint16_t addr, const sram_flip *flip) {
    d->top->inject_valid_i = 1;
    d->top->inject_addr_i = addr;
    for (int i = 0; i < ROW_WORDS; i++) {
        bits_put(d->top->inject_flip_i, 72 * i, 64, flip->data[i]);
        bits_put(d->top->inject_flip_i, 72 * i + 64, 8, flip->check[i]);
    }
}

// The fields of sram_events_t from the highest bit down, in the order of the table.
static void get_events(uint64_t bits, sram_events *ev) {
    int at = 0;
    auto field = [&](int width) {
        at -= width;
        return static_cast<uint16_t>((bits >> at) & ((1u << width) - 1));
    };
#define WIDTH(unit, event, width, energy, meaning) if (std::string_view(unit) == "sram") at += width;
    EVENTS_TABLE(WIDTH)
#undef WIDTH
    uint16_t *out = &ev->reads;
#define FIELD(unit, event, width, energy, meaning) if (std::string_view(unit) == "sram") *out++ = field(width);
    EVENTS_TABLE(FIELD)
#undef FIELD
}

void sram_dut_step(sram_dut *d, const mem_req req[NUM_PORTS], mem_rsp rsp[NUM_PORTS], sram_events *ev) {
    auto *t = d->top;
    for (int p = 0; p < NUM_PORTS; p++) {
        int at = p * REQ_BITS;
        bits_put_row(t->req_i, at, req[p].wdata);
        bits_put(t->req_i, at + REQ_ADDR, MEM_ADDR_BITS, req[p].addr);
        bits_put(t->req_i, at + REQ_WE, 1, req[p].we);
        bits_put(t->req_i, at + REQ_VALID, 1, req[p].valid);
    }
    d->settle();
    for (int p = 0; p < NUM_PORTS; p++) {
        int at = p * RSP_BITS;
        rsp[p].rdata = bits_get_row(t->rsp_o, at);
        rsp[p].rerr = bits_get(t->rsp_o, at + RSP_RERR, 1);
        rsp[p].rvalid = bits_get(t->rsp_o, at + RSP_RVALID, 1);
        rsp[p].gnt = bits_get(t->rsp_o, at + RSP_GNT, 1);
    }
    get_events(t->events_o, ev);
    d->tick();
    t->inject_valid_i = 0;
}

int sram_dut_errors(const sram_dut *d) {
    return d->errors();
}

void sram_dut_free(sram_dut *d) {
    delete d;
}
