#include "move/move_dut.h"

#include "Vmove.h"
#include "common/port_bits.h"

struct move_dut : dut_base<Vmove> {
    using dut_base::dut_base;
};

move_dut *move_dut_new(const dut_options *options) {
    auto *d = new move_dut(options);
    d->top->x_i = MOVE_DUT_X;
    d->top->y_i = MOVE_DUT_Y;
    return d;
}

static void put_inputs(Vmove *t, const move_in *in) {
    t->instr_valid_i = in->instr_valid;
    if (in->instr_valid) bits_put_row(t->instr_i, 0, isa_pack(&in->instr));
    for (int i = 0; i < MOVE_PORTS; i++) rsp_put(t->mem_rsp_i, i, in->rsp[i]);
    t->wait_gnt_i = in->wait_gnt;
    t->flit_ready_i = in->flit_ready;
    t->load_row_valid_i = in->load_row;
    t->load_row_slot_i = in->load_slot;
    t->ack_valid_i = in->ack;
    t->ack_slot_i = in->ack_slot;
}

static void get_outputs(const Vmove *t, move_out *out) {
    engine_get(t, out);
    for (int i = 0; i < MOVE_PORTS; i++) out->req[i] = req_get(t->mem_req_o, i);
    out->flit_valid = t->flit_valid_o;
    out->flit = flit_get(t->flit_o, 0);
}

void move_dut_step(move_dut *d, const move_in *in, move_out *out, move_events *ev) {
    put_inputs(d->top, in);
    d->settle();
    get_outputs(d->top, out);
    bit_events_get(d->top->events_o, &ev->rows_copied, 9);
    d->tick();
}

int move_dut_errors(const move_dut *d) {
    return d->errors();
}

void move_dut_free(move_dut *d) {
    delete d;
}
