#include "vector/vec_dut.h"

#include "Vvec.h"
#include "common/port_bits.h"

struct vec_dut : dut_base<Vvec> {
    using dut_base::dut_base;
};

vec_dut *vec_dut_new(const dut_options *options) {
    return new vec_dut(options);
}

static void put_inputs(Vvec *t, const vec_in *in) {
    t->instr_valid_i = in->instr_valid;
    if (in->instr_valid) bits_put_row(t->instr_i, 0, isa_pack(&in->instr));
    for (int p = 0; p < VEC_PORTS; p++) rsp_put(t->mem_rsp_i, p, in->rsp[p]);
    t->wait_gnt_i = in->wait_gnt;
}

static void get_outputs(const Vvec *t, vec_out *out) {
    engine_get(t, out);
    for (int p = 0; p < VEC_PORTS; p++) out->req[p] = req_get(t->mem_req_o, p);
}

// The fields of vec_events_t from the lowest bit up.
static void get_events(const Vvec *t, vec_events *ev) {
    int at = 0;
    auto next = [&](int bits) {
        auto value = static_cast<uint16_t>(port_get(t->events_o, at, bits));
        at += bits;
        return value;
    };
    ev->blocks = next(1);
    ev->rows_written = next(1);
    ev->result_toggles = next(9);
    ev->lane_ops = next(4);
    ev->idle = next(1);
    ev->stall_sem = next(1);
    ev->stall_drain = next(1);
    ev->stall_reduce = next(1);
    ev->stall_bank = next(1);
    ev->busy = next(1);
}

void vec_dut_step(vec_dut *d, const vec_in *in, vec_out *out, vec_events *ev) {
    put_inputs(d->top, in);
    d->settle();
    get_outputs(d->top, out);
    get_events(d->top, ev);
    d->tick();
}

int vec_dut_errors(const vec_dut *d) {
    return d->errors();
}

void vec_dut_free(vec_dut *d) {
    delete d;
}
