// RTL behind the twin's shape: rtl/tile/tile_seq.sv.
#ifndef TB_TILE_SEQ_DUT_H
#define TB_TILE_SEQ_DUT_H
#include "common/dut.h"
#include <stdbool.h>
#include "common/mem.h"
#include "events.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tile_seq_dut tile_seq_dut;
typedef struct {
    bool imem_we, start;
    uint32_t imem_addr;
    row_t imem_wdata;
    uint8_t ready; // bit e: the queue of engine e has room
} tile_seq_dut_in;
typedef struct {
    bool running, error;
    uint8_t valid; // bit e: instr is offered to engine e
    row_t instr;
    seq_events events;
} tile_seq_dut_out;
tile_seq_dut *tile_seq_dut_new(const dut_options *options);
void tile_seq_dut_step(tile_seq_dut *d, const tile_seq_dut_in *in, tile_seq_dut_out *out);
int tile_seq_dut_errors(const tile_seq_dut *d);
void tile_seq_dut_free(tile_seq_dut *d);
#ifdef __cplusplus
}
#endif
#endif
