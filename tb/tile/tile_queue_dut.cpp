#include "tile/tile_queue_dut.h"

#include "Vtile_queue.h"
#include "common/bits.h"

struct tile_queue_dut : dut_base<Vtile_queue> {
    using dut_base::dut_base;
};

tile_queue_dut *tile_queue_dut_new(const dut_options *options) {
    return new tile_queue_dut(options);
}

void tile_queue_dut_step(tile_queue_dut *d, const tile_queue_dut_in *in, tile_queue_dut_out *out) {
    d->top->in_valid_i = in->in_valid;
    d->top->out_ready_i = in->out_ready;
    bits_put_row(d->top->in_instr_i, 0, in->in_instr);
    d->settle();
    out->in_ready = d->top->in_ready_o;
    out->out_valid = d->top->out_valid_o;
    out->out_instr = bits_get_row(d->top->out_instr_o, 0);
    d->tick();
}

int tile_queue_dut_errors(const tile_queue_dut *d) {
    return d->errors();
}

void tile_queue_dut_free(tile_queue_dut *d) {
    delete d;
}
