#include "tile/tile_seq_dut.h"

#include "Vtile_seq.h"
#include "common/bits.h"

struct tile_seq_dut : dut_base<Vtile_seq> {
    using dut_base::dut_base;
};

tile_seq_dut *tile_seq_dut_new(const dut_options *options) {
    return new tile_seq_dut(options);
}

void tile_seq_dut_step(tile_seq_dut *d, const tile_seq_dut_in *in, tile_seq_dut_out *out) {
    Vtile_seq *t = d->top;
    t->imem_we_i = in->imem_we;
    t->imem_addr_i = static_cast<uint16_t>(in->imem_addr);
    bits_put_row(t->imem_wdata_i, 0, in->imem_wdata);
    t->start_i = in->start;
    t->instr_ready_i = in->ready;
    d->settle();
    out->running = t->running_o;
    out->error = t->error_o;
    out->valid = t->instr_valid_o;
    out->instr = bits_get_row(t->instr_o, 0);
    out->events.idle = t->events_o & 1;
    out->events.stall_queue = t->events_o >> 1 & 1;
    out->events.busy = t->events_o >> 2 & 1;
    d->tick();
}

int tile_seq_dut_errors(const tile_seq_dut *d) {
    return d->errors();
}

void tile_seq_dut_free(tile_seq_dut *d) {
    delete d;
}
