// RTL behind the twin's shape: rtl/tile/tile_sems.sv.
#ifndef TB_TILE_SEMS_DUT_H
#define TB_TILE_SEMS_DUT_H
#include "common/dut.h"
#include "tile/tile_sems.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tile_sems_dut tile_sems_dut;
tile_sems_dut *tile_sems_dut_new(const dut_options *options);
// One cycle: grants and the error bit before the edge.
void tile_sems_dut_step(tile_sems_dut *d, const tile_sems_in *in, bool gnt[NUM_ENGINES], bool *error);
int tile_sems_dut_errors(const tile_sems_dut *d);
void tile_sems_dut_free(tile_sems_dut *d);
#ifdef __cplusplus
}
#endif
#endif
