// RTL behind the twin's shape: rtl/tile/tile.sv, as many tiles as asked, all in one simulation with one wave file.
#ifndef TB_TILE_DUT_H
#define TB_TILE_DUT_H
#include "common/dut.h"
#include "tile/tile.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tile_dut tile_dut;

// `count` tiles after reset; tile i stands at here[i]. options->wave: FST file, written from reset on and closed by
// tile_dut_free or at exit.
tile_dut *tile_dut_new(const dut_options *options, const node_t *here, int count);
void tile_dut_free(tile_dut *d);
// Host access to tile i; each takes a clock cycle of all tiles. power is shown in the waves from then on.
void tile_dut_load(tile_dut *d, int i, int addr, const row_t *instr);
void tile_dut_inject(tile_dut *d, int i, int addr, const sram_flip *flip);
void tile_dut_power(tile_dut *d, int i, uint32_t milliwatt);
// out[count]: the ports in this cycle, before the edge.
void tile_dut_peek(tile_dut *d, tile_out *out);
// One clock edge with in[count].
void tile_dut_step(tile_dut *d, const tile_in *in);
// The counters of tile i as of the last snapshot.
void tile_dut_counters(const tile_dut *d, int i, uint64_t counters[NUM_EVENTS]);
// CHK failures so far.
int tile_dut_errors(const tile_dut *d);
#ifdef __cplusplus
}
#endif
#endif
