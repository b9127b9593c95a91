#include "net/ni_dut.h"

#include "Vni.h"
#include "common/port_bits.h"

struct ni_dut : dut_base<Vni> {
    using dut_base::dut_base;
};

ni_dut *ni_dut_new(const dut_options *options) {
    return new ni_dut(options);
}

static void put_inputs(Vni *t, const ni_in *in) {
    t->send_valid_i = in->valid[NI_SEND];
    if (in->valid[NI_SEND]) flit_put(t->send_flit_i, 0, in->flit[NI_SEND]);
    t->move_valid_i = in->valid[NI_MOVE];
    if (in->valid[NI_MOVE]) flit_put(t->move_flit_i, 0, in->flit[NI_MOVE]);
    t->credit_i = in->credit;
    link_put(t->link_i, 0, in->link);
    t->flit_ready_i = in->flit_ready;
}

static void get_outputs(const Vni *t, ni_out *out) {
    out->ready[NI_SEND] = t->send_ready_o;
    out->ready[NI_MOVE] = t->move_ready_o;
    out->left = t->send_left_o;
    out->link = link_get(t->link_o, 0);
    out->credit = t->credit_o;
    out->flit_valid = t->flit_valid_o;
    out->flit = flit_get(t->flit_o, 0);
    out->busy = t->busy_o;
}

void ni_dut_step(ni_dut *d, const ni_in *in, ni_out *out) {
    put_inputs(d->top, in);
    d->settle();
    get_outputs(d->top, out);
    d->tick();
}

int ni_dut_errors(const ni_dut *d) {
    return d->errors();
}

void ni_dut_free(ni_dut *d) {
    delete d;
}
