#include "matmul/matmul_dut.h"

#include "Vmatmul.h"
#include "common/bits.h"

namespace {
constexpr int REQ_BITS = 274, RSP_BITS = 259;
}

struct matmul_dut : dut_base<Vmatmul> {
    using dut_base::dut_base;
};

matmul_dut *matmul_dut_new(const dut_options *options) {
    return new matmul_dut(options);
}

static void put_inputs(Vmatmul *t, const matmul_in *in) {
    t->instr_valid_i = in->instr_valid;
    bits_put_row(t->instr_i, 0, isa_pack(&in->instr));
    for (int i = 0; i < MM_PORTS; i++) {
        const mem_rsp &r = in->rsp[i];
        bits_put_row(t->mem_rsp_i, RSP_BITS * i, r.rdata);
        bits_put(t->mem_rsp_i, RSP_BITS * i + 256, 3, r.rerr | r.rvalid << 1 | r.gnt << 2);
    }
    t->wait_gnt_i = in->wait_gnt;
}

static void get_outputs(const Vmatmul *t, matmul_out *out) {
    out->instr_ready = t->instr_ready_o;
    for (int i = 0; i < MM_PORTS; i++) {
        mem_req &r = out->req[i];
        r.wdata = bits_get_row(t->mem_req_o, REQ_BITS * i);
        r.addr = static_cast<uint16_t>(bits_get(t->mem_req_o, REQ_BITS * i + 256, 16));
        r.we = bits_get(t->mem_req_o, REQ_BITS * i + 272, 1);
        r.valid = bits_get(t->mem_req_o, REQ_BITS * i + 273, 1);
    }
    out->wait_valid = t->wait_valid_o;
    out->wait_sem = t->wait_sem_o;
    out->wait_count = t->wait_count_o;
    out->signal_valid = t->signal_valid_o;
    out->signal_sem = t->signal_sem_o;
    out->signal_count = t->signal_count_o;
    out->busy = t->busy_o;
    out->error = t->error_o;
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
