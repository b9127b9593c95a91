#include "net/send_dut.h"

#include "Vsend.h"
#include "common/port_bits.h"

struct send_dut : dut_base<Vsend> {
    using dut_base::dut_base;
};

send_dut *send_dut_new(const dut_options *options) {
    auto *d = new send_dut(options);
    d->top->x_i = SEND_DUT_X;
    d->top->y_i = SEND_DUT_Y;
    return d;
}

static void put_inputs(Vsend *t, const send_in *in) {
    t->instr_valid_i = in->instr_valid;
    if (in->instr_valid) bits_put_row(t->instr_i, 0, isa_pack(&in->instr));
    rsp_put(t->mem_rsp_i, 0, in->rsp);
    t->wait_gnt_i = in->wait_gnt;
    t->flit_ready_i = in->flit_ready;
    t->left_i = in->left;
}

static void get_outputs(const Vsend *t, send_out *out) {
    engine_get(t, out);
    out->req = req_get(t->mem_req_o, 0);
    out->flit_valid = t->flit_valid_o;
    out->flit = flit_get(t->flit_o, 0);
}

void send_dut_step(send_dut *d, const send_in *in, send_out *out, send_events *ev) {
    put_inputs(d->top, in);
    d->settle();
    get_outputs(d->top, out);
    bit_events_get(d->top->events_o, &ev->idle, 5);
    d->tick();
}

int send_dut_errors(const send_dut *d) {
    return d->errors();
}

void send_dut_free(send_dut *d) {
    delete d;
}
