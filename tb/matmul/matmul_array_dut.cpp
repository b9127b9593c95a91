#include "matmul/matmul_array_dut.h"

#include "Vmatmul_array.h"
#include "common/bits.h"

struct matmul_array_dut : dut_base<Vmatmul_array> {
    using dut_base::dut_base;
};

matmul_array_dut *matmul_array_dut_new(const dut_options *options) {
    return new matmul_array_dut(options);
}

void matmul_array_dut_step(matmul_array_dut *d, const matmul_array_in *in, int rd_bank, int rd_idx,
                           matmul_array_out *out, matmul_events *ev) {
    auto *t = d->top;
    t->wl_valid_i = in->wl_valid;
    t->wl_bank_i = in->wl_bank;
    t->wl_row_i = static_cast<uint8_t>(in->wl_row);
    t->wl_fmt_i = in->wl_fmt;
    bits_put_row(t->wl_data_i, 0, in->wl_data);
    t->ws_valid_i = in->ws_valid;
    t->ws_bank_i = in->ws_bank;
    t->ws_fmt_i = in->ws_fmt;
    for (int c = 0; c < CFG_COLS; c++) bits_put(t->ws_data_i, 16 * c, 16, in->ws_data[c]);
    t->row_valid_i = in->row_valid;
    t->row_wbank_i = in->row_wbank;
    t->row_fmt_i = in->row_fmt;
    bits_put_row(t->row_data_i, 0, in->row_data[0]);
    bits_put_row(t->row_data_i, 256, in->row_data[1]);
    t->row_scale_fmt_i = in->row_scale_fmt;
    t->row_scale_i = in->row_scale;
    t->row_acc_bank_i = in->row_acc_bank;
    t->row_idx_i = static_cast<uint8_t>(in->row_idx);
    t->row_first_i = in->row_first;
    t->ini_valid_i = in->ini_valid;
    t->ini_bank_i = in->ini_bank;
    t->ini_idx_i = static_cast<uint8_t>(in->ini_idx);
    t->ini_part_i = in->ini_part;
    bits_put_row(t->ini_data_i, 0, in->ini_data);
    t->rd_bank_i = static_cast<uint8_t>(rd_bank);
    t->rd_idx_i = static_cast<uint8_t>(rd_idx);
    d->settle();
    out->busy = t->busy_o;
    out->acc_busy[0] = t->acc_busy_o & 1;
    out->acc_busy[1] = t->acc_busy_o >> 1;
    for (int c = 0; c < CFG_COLS; c++) out->read[c] = t->rd_data_o[c];
    ev->zero_operands = t->zero_operands_o;
    ev->a_toggles = t->a_toggles_o;
    ev->w_toggles = t->w_toggles_o;
    ev->acc_toggles = t->acc_toggles_o;
    ev->gated = t->gated_o;
    d->tick();
}

int matmul_array_dut_errors(const matmul_array_dut *d) {
    return d->errors();
}

void matmul_array_dut_free(matmul_array_dut *d) {
    delete d;
}
