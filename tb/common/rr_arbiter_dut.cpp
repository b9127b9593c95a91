// VERILATOR: -GN=5
#include "common/rr_arbiter_dut.h"

#include "Vrr_arbiter.h"

struct rr_arbiter_dut : dut_base<Vrr_arbiter> {
    using dut_base::dut_base;
};

rr_arbiter_dut *rr_arbiter_dut_new(const dut_options *options) {
    return new rr_arbiter_dut(options);
}

int rr_arbiter_dut_step(rr_arbiter_dut *d, uint64_t req, bool take) {
    d->top->req_i = static_cast<uint8_t>(req);
    d->top->take_i = take;
    d->settle();
    int idx = d->top->valid_o ? d->top->idx_o : -1;
    d->tick();
    return idx;
}

int rr_arbiter_dut_errors(const rr_arbiter_dut *d) {
    return d->errors();
}

void rr_arbiter_dut_free(rr_arbiter_dut *d) {
    delete d;
}
