#include "tile/tile_sems_dut.h"

#include "Vtile_sems.h"
#include "common/flit_bits.h"

struct tile_sems_dut : dut_base<Vtile_sems> {
    using dut_base::dut_base;
};

tile_sems_dut *tile_sems_dut_new(const dut_options *options) {
    return new tile_sems_dut(options);
}

void tile_sems_dut_step(tile_sems_dut *d, const tile_sems_in *in, bool gnt[NUM_ENGINES], bool *error) {
    auto *t = d->top;
    for (int e = 0; e < NUM_ENGINES; e++) {
        port_put(t->wait_valid_i, e, 1, in->wait[e].valid);
        port_put(t->wait_sem_i, 5 * e, 5, in->wait[e].sem);
        port_put(t->wait_count_i, 8 * e, 8, in->wait[e].count);
        port_put(t->signal_valid_i, e, 1, in->signal[e].valid);
        port_put(t->signal_sem_i, 5 * e, 5, in->signal[e].sem);
        port_put(t->signal_count_i, 8 * e, 8, in->signal[e].count);
    }
    d->settle();
    for (int e = 0; e < NUM_ENGINES; e++) gnt[e] = port_get(t->wait_gnt_o, e, 1);
    *error = t->error_o;
    d->tick();
}

int tile_sems_dut_errors(const tile_sems_dut *d) {
    return d->errors();
}

void tile_sems_dut_free(tile_sems_dut *d) {
    delete d;
}
