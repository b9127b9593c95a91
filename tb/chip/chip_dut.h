// RTL behind the twin's shape: tiles of RTL (tb/tile/tile_dut) on the wires of csim/chip/chip_wires. rtl/chip/chip.sv has the
// same wires for synthesis; simulating its tiles apart compiles one tile and not CHIP_TILES. The functions mean what those of
// csim/chip/chip.h mean.
#ifndef TB_CHIP_DUT_H
#define TB_CHIP_DUT_H
#include "chip/chip.h"
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct chip_dut chip_dut;

// A chip after reset. options->wave: FST file, written from reset on and closed by chip_dut_free or at exit.
chip_dut *chip_dut_new(const dut_options *options);
void chip_dut_free(chip_dut *d);
void chip_dut_load(chip_dut *d, int tile, int addr, const row_t *instr); // takes a clock cycle
void chip_dut_inject(chip_dut *d, int tile, int addr, const sram_flip *flip); // takes a clock cycle
// out: the ports in this cycle, before the edge.
void chip_dut_peek(chip_dut *d, chip_out *out);
void chip_dut_step(chip_dut *d, const chip_in *in);
void chip_dut_counters(const chip_dut *d, int tile, uint64_t counters[NUM_EVENTS]);
chip_wait chip_dut_waits(const chip_dut *d, int tile, int engine);
// Shown in the waves beside the chip, for the power over time.
void chip_dut_power(chip_dut *d, int tile, uint32_t milliwatt);
// CHK failures so far.
int chip_dut_errors(const chip_dut *d);
#ifdef __cplusplus
}
#endif
#endif
