// RTL of the chip's wires: rtl/chip/chip.sv around stand-ins for its tiles (tests/chip/stub/tile.sv), which drive who they
// are and show what they are given.
#ifndef TB_CHIP_WIRES_DUT_H
#define TB_CHIP_WIRES_DUT_H
#include "chip/chip.h"
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct chip_wires_dut chip_wires_dut;

typedef struct {
    uint32_t hbm_data[CHIP_PORTS];
    credit_t hbm_credit[CHIP_PORTS];
    int load_tile, inject_tile; // -1: none
    bool start;
    uint32_t power[CHIP_TILES];
} chip_wires_dut_in;

typedef struct {
    bool done, error;
    uint32_t hbm_data[CHIP_PORTS];
    bool hbm_valid[CHIP_PORTS];
    credit_t hbm_credit[CHIP_PORTS];
    uint64_t seen[CHIP_TILES][10]; // snap_o of the stand-ins
    uint8_t waits[CHIP_TILES];
} chip_wires_dut_out;

chip_wires_dut *chip_wires_dut_new(const dut_options *options);
void chip_wires_dut_step(chip_wires_dut *d, const chip_wires_dut_in *in, chip_wires_dut_out *out);
void chip_wires_dut_free(chip_wires_dut *d);
#ifdef __cplusplus
}
#endif
#endif
