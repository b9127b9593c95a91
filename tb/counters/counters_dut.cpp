#include "counters/counters_dut.h"

#include "Vcounters.h"
#include "counters/counters_ports.h"

struct counters_dut : dut_base<Vcounters> {
    using dut_base::dut_base;
};

counters_dut *counters_dut_new(const dut_options *options) {
    return new counters_dut(options);
}

void counters_dut_step(counters_dut *d, const tile_events *ev, bool snapshot, bool clear, counters_dut_out *out) {
    counters_ports_step(d, COUNTER_WIDTH, ev, snapshot, clear, out);
}

int counters_dut_errors(const counters_dut *d) {
    return d->errors();
}

void counters_dut_free(counters_dut *d) {
    delete d;
}
