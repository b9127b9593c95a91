// Flits, memory ports and events at Verilator's ports, for shims: copies, no decisions.
#ifndef TB_PORT_BITS_H
#define TB_PORT_BITS_H
#include "common/flit_bits.h"

constexpr int REQ_BITS = 274, RSP_BITS = 259;

// A flit whose lowest bit is `at`.
template <class P> inline flit_t flit_get(const P &port, int at) {
    link_t link = {};
    link.flit.data = bits_get_row(port, at);
    int bit = at + ROW_BITS, end = at + FLIT_BITS;
    link_fields(link, [&](int bits, auto &field) {
        if (bit < end) field = static_cast<std::remove_reference_t<decltype(field)>>(bits_get(port, bit, bits));
        bit += bits;
    });
    return link.flit;
}

template <class P> inline void flit_put(P &port, int at, const flit_t &flit) {
    link_t link = {};
    link.flit = flit;
    bits_put_row(port, at, flit.data);
    int bit = at + ROW_BITS, end = at + FLIT_BITS;
    link_fields(link, [&](int bits, const auto &field) {
        if (bit < end) bits_put(port, bit, bits, field);
        bit += bits;
    });
}

// Memory port number `index` of an array.
template <class P> inline mem_req req_get(const P &port, int index) {
    int at = REQ_BITS * index;
    mem_req r;
    r.wdata = bits_get_row(port, at);
    r.addr = static_cast<uint16_t>(bits_get(port, at + 256, 16));
    r.we = bits_get(port, at + 272, 1);
    r.valid = bits_get(port, at + 273, 1);
    return r;
}

template <class P> inline void rsp_put(P &port, int index, const mem_rsp &r) {
    bits_put_row(port, RSP_BITS * index, r.rdata);
    bits_put(port, RSP_BITS * index + 256, 3, r.rerr | r.rvalid << 1 | r.gnt << 2);
}

// The outputs that every engine has, without its memory ports.
template <class Top, class Out> inline void engine_get(const Top *t, Out *out) {
    out->instr_ready = t->instr_ready_o;
    out->wait_valid = t->wait_valid_o;
    out->wait_sem = t->wait_sem_o;
    out->wait_count = t->wait_count_o;
    out->signal_valid = t->signal_valid_o;
    out->signal_sem = t->signal_sem_o;
    out->signal_count = t->signal_count_o;
    out->busy = t->busy_o;
    out->error = t->error_o;
}

// Events of one bit each: `last` is the last of `count` fields in table order, which is the lowest bit.
template <class P> inline void bit_events_get(const P &port, uint16_t *last, int count) {
    for (int i = 0; i < count; i++) *(last - i) = static_cast<uint16_t>(port_get(port, i, 1));
}
#endif
