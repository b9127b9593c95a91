// RTL behind the twin's shape: rtl/matmul/matmul.sv.
#ifndef TB_MATMUL_DUT_H
#define TB_MATMUL_DUT_H
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "matmul/matmul.h"
typedef struct matmul_dut matmul_dut;
matmul_dut *matmul_dut_new(const dut_options *options);
// Outputs and events of this cycle, then a clock edge.
void matmul_dut_step(matmul_dut *d, const matmul_in *in, matmul_out *out, matmul_events *ev);
int matmul_dut_errors(const matmul_dut *d);
void matmul_dut_free(matmul_dut *d);
#ifdef __cplusplus
}
#endif
#endif
