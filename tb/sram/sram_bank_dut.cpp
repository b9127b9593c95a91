#include "sram/sram_bank_dut.h"

#include "Vsram_bank.h"
#include "common/bits.h"

struct sram_bank_dut : dut_base<Vsram_bank> {
    using dut_base::dut_base;
};

sram_bank_dut *sram_bank_dut_new(const dut_options *options) {
    return new sram_bank_dut(options);
}

void sram_bank_dut_step(sram_bank_dut *d, const sram_bank_in *in, sram_bank_out *out, sram_bank_events *ev) {
    auto *t = d->top;
    t->req_valid_i = in->valid;
    t->req_we_i = in->we;
    t->req_row_i = static_cast<decltype(t->req_row_i + 0)>(in->row);
    t->req_strb_i = in->strb;
    bits_put_row(t->req_wdata_i, 0, in->wdata);
    for (int i = 0; i < SRAM_WORDS; i++) {
        bits_put(t->inject_i, 72 * i, 64, in->inject.data[i]);
        bits_put(t->inject_i, 72 * i + 64, 8, in->inject.check[i]);
    }
    d->settle();
    *out = {};
    out->ready = t->req_ready_o;
    out->rvalid = t->rvalid_o;
    out->rerr = t->rerr_o;
    if (out->rvalid) out->rdata = bits_get_row(t->rdata_o, 0);
    out->corrected = t->corrected_o;
    out->uncorrectable = t->uncorrectable_o;
    ev->read_toggles = t->read_toggles_o;
    ev->write_toggles = t->write_toggles_o;
    d->tick();
}

int sram_bank_dut_errors(const sram_bank_dut *d) {
    return d->errors();
}

void sram_bank_dut_free(sram_bank_dut *d) {
    delete d;
}
