#include "net/recv_dut.h"

#include "Vrecv.h"
#include "common/port_bits.h"

struct recv_dut : dut_base<Vrecv> {
    using dut_base::dut_base;
};

recv_dut *recv_dut_new(const dut_options *options) {
    return new recv_dut(options);
}

static void put_inputs(Vrecv *t, const recv_in *in) {
    t->instr_valid_i = in->instr_valid;
    if (in->instr_valid) bits_put_row(t->instr_i, 0, isa_pack(&in->instr));
    rsp_put(t->mem_rsp_i, 0, in->rsp);
    t->wait_gnt_i = in->wait_gnt;
    t->flit_valid_i = in->flit_valid;
    if (in->flit_valid) flit_put(t->flit_i, 0, in->flit);
}

static void get_outputs(const Vrecv *t, recv_out *out) {
    engine_get(t, out);
    out->req = req_get(t->mem_req_o, 0);
    out->flit_ready = t->flit_ready_o;
    out->load_row = t->load_row_valid_o;
    out->load_slot = t->load_row_slot_o;
    out->ack = t->ack_valid_o;
    out->ack_slot = t->ack_slot_o;
}

void recv_dut_step(recv_dut *d, const recv_in *in, recv_out *out, recv_events *ev) {
    put_inputs(d->top, in);
    d->settle();
    get_outputs(d->top, out);
    bit_events_get(d->top->events_o, &ev->write_stalls, 6);
    d->tick();
}

int recv_dut_errors(const recv_dut *d) {
    return d->errors();
}

void recv_dut_free(recv_dut *d) {
    delete d;
}
