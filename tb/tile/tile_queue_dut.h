// RTL behind the twin's shape: rtl/tile/tile_queue.sv.
#ifndef TB_TILE_QUEUE_DUT_H
#define TB_TILE_QUEUE_DUT_H
#include "common/dut.h"
#include <stdbool.h>
#include "common/mem.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tile_queue_dut tile_queue_dut;
typedef struct {
    bool in_valid, out_ready;
    row_t in_instr; // packed
} tile_queue_dut_in;
typedef struct {
    bool in_ready, out_valid;
    row_t out_instr;
} tile_queue_dut_out;
tile_queue_dut *tile_queue_dut_new(const dut_options *options);
void tile_queue_dut_step(tile_queue_dut *d, const tile_queue_dut_in *in, tile_queue_dut_out *out);
int tile_queue_dut_errors(const tile_queue_dut *d);
void tile_queue_dut_free(tile_queue_dut *d);
#ifdef __cplusplus
}
#endif
#endif
