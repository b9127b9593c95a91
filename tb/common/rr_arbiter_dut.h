// RTL behind the twin's shape: rtl/common/rr_arbiter.sv with N = 5.
#ifndef TB_RR_ARBITER_DUT_H
#define TB_RR_ARBITER_DUT_H
#include "common/dut.h"
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct rr_arbiter_dut rr_arbiter_dut;
rr_arbiter_dut *rr_arbiter_dut_new(const dut_options *options);
// req: request bits; returns the granted index or -1, then ticks; take moves the priority.
int rr_arbiter_dut_step(rr_arbiter_dut *d, uint64_t req, bool take);
int rr_arbiter_dut_errors(const rr_arbiter_dut *d);
void rr_arbiter_dut_free(rr_arbiter_dut *d);
#ifdef __cplusplus
}
#endif
#endif
