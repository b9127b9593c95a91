// RTL behind the twin's shape: rtl/vector/vec.sv.
#ifndef TB_VEC_DUT_H
#define TB_VEC_DUT_H
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "vector/vec.h"
typedef struct vec_dut vec_dut;
vec_dut *vec_dut_new(const dut_options *options);
// Inputs in, ports of this cycle and its events out, then one clock edge.
void vec_dut_step(vec_dut *d, const vec_in *in, vec_out *out, vec_events *ev);
int vec_dut_errors(const vec_dut *d);
void vec_dut_free(vec_dut *d);
#ifdef __cplusplus
}
#endif
#endif
