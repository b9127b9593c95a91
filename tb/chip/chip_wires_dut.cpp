// VERILATOR: --top-module chip tests/chip/stub/tile.sv rtl/chip/chip.sv -Wno-UNUSEDSIGNAL
#include "chip/chip_wires_dut.h"

#include "Vchip_wires.h"
#include "common/flit_bits.h"

struct chip_wires_dut : dut_base<Vchip_wires> {
    using dut_base::dut_base;
};

chip_wires_dut *chip_wires_dut_new(const dut_options *options) {
    return new chip_wires_dut(options);
}

void chip_wires_dut_free(chip_wires_dut *d) {
    delete d;
}

static uint16_t node_bits(int tile) {
    return static_cast<uint16_t>((tile % CFG_TILES_X) << 5 | tile / CFG_TILES_X);
}

void chip_wires_dut_step(chip_wires_dut *d, const chip_wires_dut_in *in, chip_wires_dut_out *out) {
    Vchip_wires *t = d->top;
    t->start_i = in->start;
    t->snapshot_i = 0;
    t->imem_we_i = in->load_tile >= 0;
    t->imem_tile_i = node_bits(in->load_tile < 0 ? 0 : in->load_tile);
    t->imem_addr_i = 0;
    t->inject_valid_i = in->inject_tile >= 0;
    t->inject_tile_i = node_bits(in->inject_tile < 0 ? 0 : in->inject_tile);
    for (int p = 0; p < CHIP_PORTS; p++) {
        link_t link = {};
        link.valid = true;
        link.flit.data.w[0] = in->hbm_data[p];
        link_put(t->hbm_link_i, p * LINK_BITS, link);
        credit_put(t->hbm_credit_i, p, in->hbm_credit[p]);
    }
    for (int i = 0; i < CHIP_TILES; i++) port_put(t->power_mw_i, 32 * i, 32, in->power[i]);
    d->settle();
    out->done = t->done_o;
    out->error = t->error_o;
    for (int p = 0; p < CHIP_PORTS; p++) {
        link_t link = link_get(t->hbm_link_o, p * LINK_BITS);
        out->hbm_valid[p] = link.valid;
        out->hbm_data[p] = static_cast<uint32_t>(link.flit.data.w[0]);
        out->hbm_credit[p] = credit_get(t->hbm_credit_o, p);
    }
    for (int i = 0; i < CHIP_TILES; i++) {
        for (int s = 0; s < 10; s++) out->seen[i][s] = bits_get(t->snap_o, (i * NUM_EVENTS + s) * 48, 48);
        out->waits[i] = static_cast<uint8_t>(port_get(t->wait_valid_o, i * NUM_ENGINES, NUM_ENGINES));
    }
    d->tick();
}
