// Links and credits at Verilator's ports, for shims: noc_pkg::link_t as its packed bits, and back.
#ifndef TB_FLIT_BITS_H
#define TB_FLIT_BITS_H
#include "common/bits.h"
#include "common/flit.h"
#include <type_traits>

constexpr int FLIT_BITS = 344, LINK_BITS = 1 + 3 + FLIT_BITS;

// A field of a port of any width: a word of at most 64 bits or a wide one.
template <class P> inline uint64_t port_get(const P &port, int at, int bits) {
    if constexpr (std::is_integral_v<P>) return (static_cast<uint64_t>(port) >> at) & ((1ull << bits) - 1);
    else return bits_get(port, at, bits);
}
template <class P> inline void port_put(P &port, int at, int bits, uint64_t value) {
    if constexpr (std::is_integral_v<P>) {
        uint64_t mask = ((1ull << bits) - 1) << at;
        port = static_cast<P>((static_cast<uint64_t>(port) & ~mask) | (value << at & mask));
    } else bits_put(port, at, bits, value);
}

// Calls f(bits, field) for each field of a flit from the lowest bit up, the data left out.
template <class L, class F> inline void link_fields(L &link, F f) {
    f(32, link.flit.addr);
    f(1, link.flit.last);
    f(5, link.flit.tag);
    f(5, link.flit.src.y);
    f(5, link.flit.src.x);
    f(5, link.flit.root.y);
    f(5, link.flit.root.x);
    f(5, link.flit.rect.y1);
    f(5, link.flit.rect.x1);
    f(5, link.flit.rect.y0);
    f(5, link.flit.rect.x0);
    f(2, link.flit.to);
    f(3, link.flit.kind);
    f(3, link.flit.len_m1);
    f(1, link.flit.tail);
    f(1, link.flit.head);
    f(3, link.vc);
    f(1, link.valid);
}

// The link whose lowest bit is `at`; all zero where it is not valid.
template <class P> inline link_t link_get(const P &port, int at) {
    link_t link = {};
    if (!bits_get(port, at + LINK_BITS - 1, 1)) return link;
    link.flit.data = bits_get_row(port, at);
    int bit = at + ROW_BITS;
    link_fields(link, [&](int bits, auto &field) {
        field = static_cast<std::remove_reference_t<decltype(field)>>(bits_get(port, bit, bits));
        bit += bits;
    });
    return link;
}

// Drives the link; where it is not valid the other bits stay as they are.
template <class P> inline void link_put(P &port, int at, const link_t &link) {
    if (!link.valid) {
        bits_put(port, at + LINK_BITS - 1, 1, 0);
        return;
    }
    bits_put_row(port, at, link.flit.data);
    int bit = at + ROW_BITS;
    link_fields(link, [&](int bits, const auto &field) {
        bits_put(port, bit, bits, field);
        bit += bits;
    });
}

// Credits of link number `index` of an array.
template <class P> inline credit_t credit_get(const P &port, int index) {
    return static_cast<credit_t>(port_get(port, index * NOC_NUM_VCS, NOC_NUM_VCS));
}
template <class P> inline void credit_put(P &port, int index, credit_t credit) {
    port_put(port, index * NOC_NUM_VCS, NOC_NUM_VCS, credit);
}
#endif
