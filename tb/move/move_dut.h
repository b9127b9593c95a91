// RTL behind the twin's shape: rtl/move/move.sv at tile (MOVE_DUT_X, MOVE_DUT_Y).
#ifndef TB_MOVE_DUT_H
#define TB_MOVE_DUT_H
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "move/move.h"
typedef struct move_dut move_dut;
enum { MOVE_DUT_X = 1, MOVE_DUT_Y = 1 };
move_dut *move_dut_new(const dut_options *options);
// Inputs in, ports of this cycle and its events out, then one clock edge.
void move_dut_step(move_dut *d, const move_in *in, move_out *out, move_events *ev);
int move_dut_errors(const move_dut *d);
void move_dut_free(move_dut *d);
#ifdef __cplusplus
}
#endif
#endif
