#include "numerics/mx_quantize_dut.h"

#include "Vmx_quantize.h"
#include "common/bits.h"

struct mx_quantize_dut : dut_base<Vmx_quantize> {
    using dut_base::dut_base;
};

mx_quantize_dut *mx_quantize_dut_new(const dut_options *options) {
    return new mx_quantize_dut(options);
}

void mx_quantize_dut_step(mx_quantize_dut *d, const mx_quantize_in *in, mx_quantize_out *out) {
    auto *t = d->top;
    t->valid_i = in->valid;
    t->fmt_i = in->fmt;
    t->rule_i = in->rule;
    for (int k = 0; k < NUM_BLOCK; k++) bits_put(t->x_i, 32 * k, 32, in->x[k]);
    d->settle();
    out->valid = t->valid_o;
    out->scale = t->scale_o;
    for (int k = 0; k < NUM_BLOCK; k++) out->codes[k] = static_cast<uint8_t>(bits_get(t->codes_o, 8 * k, 8));
    d->tick();
}

int mx_quantize_dut_errors(const mx_quantize_dut *d) {
    return d->errors();
}

void mx_quantize_dut_free(mx_quantize_dut *d) {
    delete d;
}
