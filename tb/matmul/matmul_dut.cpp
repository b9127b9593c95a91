#include "matmul/matmul_dut.h"

#include "Vmatmul.h"
#include "common/port_bits.h"

struct matmul_dut : dut_base<Vmatmul> {
    using dut_base::dut_base;
};

matmul_dut *matmul_dut_new(const dut_options *options) {
    return new matmul_dut(options);
}

static void put_inputs(Vmatmul *t, const matmul_in *in) {
    t->instr_valid_i = in->instr_valid;
    bits_put_row(t->instr_i, 0, isa_pack(&in->instr));
    for (int i = 0; i < MM_PORTS; i++) rsp_put(t->mem_rsp_i, i, in->rsp[i]);
    t->wait_gnt_i = in->wait_gnt;
}

static void get_outputs(const Vmatmul *t, matmul_out *out) {
    engine_get(t, out);
    for (int i = 0; i < MM_PORTS; i++) out->req[i] = req_get(t->mem_req_o, i);
}

// Fields of the packed struct from its last one up.
static void get_events(const Vmatmul *t, matmul_events *ev) {
    int at = 0;
    auto take = [&](int bits) {
        uint16_t value = static_cast<uint16_t>(bits_get(t->events_o, at, bits));
        at += bits;
        return value;
    };
    ev->gated = take(1);
    ev->drain_rows = take(1);
    ev->scale_rows = take(1);
    ev->weight_rows = take(1);
    ev->acc_toggles = take(16);
    ev->w_toggles = take(10);
    ev->a_toggles = take(10);
    ev->zero_operands = take(6);
    ev->mac_useful = take(16);
    ev->mac_issued = take(16);
    ev->idle = take(1);
    ev->stall_sem = take(1);
    ev->stall_acc = take(1);
    ev->stall_scale = take(1);
    ev->stall_operand = take(1);
    ev->stall_weights = take(1);
    ev->busy = take(1);
}

void matmul_dut_step(matmul_dut *d, const matmul_in *in, matmul_out *out, matmul_events *ev) {
    put_inputs(d->top, in);
    d->settle();
    get_outputs(d->top, out);
    get_events(d->top, ev);
    d->tick();
}

int matmul_dut_errors(const matmul_dut *d) {
    return d->errors();
}

void matmul_dut_free(matmul_dut *d) {
    delete d;
}
