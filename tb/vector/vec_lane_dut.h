// RTL behind the twin's shape: rtl/vector/vec_lane.sv.
#ifndef TB_VEC_LANE_DUT_H
#define TB_VEC_LANE_DUT_H
#include "common/dut.h"
#include "vector/vec_lane.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct vec_lane_dut vec_lane_dut;
vec_lane_dut *vec_lane_dut_new(const dut_options *options);
// One cycle; out before the edge.
void vec_lane_dut_step(vec_lane_dut *d, const vec_lane_in *in, vec_lane_out *out);
int vec_lane_dut_errors(const vec_lane_dut *d);
void vec_lane_dut_free(vec_lane_dut *d);
#ifdef __cplusplus
}
#endif
#endif
