// The ports of a Verilated rtl/counters/counters.sv of any width, for its shims: copies, no decisions.
#ifndef TB_COUNTERS_PORTS_H
#define TB_COUNTERS_PORTS_H
#include "common/flit_bits.h"
#include "counters/counters_dut.h"

// The packed struct of the events has the first of the table on top.
constexpr int event_bits() {
    int sum = 0;
#define WIDTH(unit, event, width, energy, meaning) sum += width;
    EVENTS_TABLE(WIDTH)
#undef WIDTH
    return sum;
}

template <class V>
void counters_ports_step(dut_base<V> *d, int width, const tile_events *ev, bool snapshot, bool clear,
                         counters_dut_out *out) {
    auto *t = d->top;
    const uint16_t *inc = reinterpret_cast<const uint16_t *>(ev);
    int at = event_bits();
#define FIELD(unit, event, width, energy, meaning) bits_put(t->events_i, at -= width, width, *inc++);
    EVENTS_TABLE(FIELD)
#undef FIELD
    t->snapshot_i = snapshot;
    t->clear_i = clear;
    d->settle();
    for (int e = 0; out && e < NUM_EVENTS; e++) {
        out->snap[e] = bits_get(t->snap_o, e * width, width);
        out->sticky[e] = port_get(t->snap_sticky_o, e, 1);
    }
    d->tick();
}
#endif
