// RTL behind the twin's shape: rtl/numerics/mx_quantize.sv.
#ifndef TB_MX_QUANTIZE_DUT_H
#define TB_MX_QUANTIZE_DUT_H
#include "common/dut.h"
#include "numerics/mx_quantize.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mx_quantize_dut mx_quantize_dut;
mx_quantize_dut *mx_quantize_dut_new(const dut_options *options);
// One cycle; out before the edge.
void mx_quantize_dut_step(mx_quantize_dut *d, const mx_quantize_in *in, mx_quantize_out *out);
int mx_quantize_dut_errors(const mx_quantize_dut *d);
void mx_quantize_dut_free(mx_quantize_dut *d);
#ifdef __cplusplus
}
#endif
#endif
