// RTL behind the twin's shape: rtl/matmul/matmul_array.sv.
#ifndef TB_MATMUL_ARRAY_DUT_H
#define TB_MATMUL_ARRAY_DUT_H
#include "common/dut.h"
#include "matmul/matmul_array.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct matmul_array_dut matmul_array_dut;

typedef struct {
    bool busy, acc_busy[2];
    uint32_t read[CFG_COLS]; // accumulators of row rd_idx of bank rd_bank
} matmul_array_out;

matmul_array_dut *matmul_array_dut_new(const dut_options *options);
// One cycle: inputs, the read port's address; out and ev before the edge.
void matmul_array_dut_step(matmul_array_dut *d, const matmul_array_in *in, int rd_bank, int rd_idx,
                           matmul_array_out *out, matmul_events *ev);
int matmul_array_dut_errors(const matmul_array_dut *d);
void matmul_array_dut_free(matmul_array_dut *d);
#ifdef __cplusplus
}
#endif
#endif
