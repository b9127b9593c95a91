#include "vector/vec_lane_dut.h"

#include "Vvec_lane.h"

struct vec_lane_dut : dut_base<Vvec_lane> {
    using dut_base::dut_base;
};

vec_lane_dut *vec_lane_dut_new(const dut_options *options) {
    return new vec_lane_dut(options);
}

void vec_lane_dut_step(vec_lane_dut *d, const vec_lane_in *in, vec_lane_out *out) {
    auto *t = d->top;
    t->valid_i = in->valid;
    t->op_i = in->op;
    t->a_i = in->a;
    t->b_i = in->b;
    t->c_i = in->c;
    d->settle();
    out->valid = t->valid_o;
    out->result = t->result_o;
    d->tick();
}

int vec_lane_dut_errors(const vec_lane_dut *d) {
    return d->errors();
}

void vec_lane_dut_free(vec_lane_dut *d) {
    delete d;
}
