// RTL behind the twin's shape: rtl/net/recv.sv.
#ifndef TB_RECV_DUT_H
#define TB_RECV_DUT_H
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "net/recv.h"
typedef struct recv_dut recv_dut;
recv_dut *recv_dut_new(const dut_options *options);
// Inputs in, ports of this cycle and its events out, then one clock edge.
void recv_dut_step(recv_dut *d, const recv_in *in, recv_out *out, recv_events *ev);
int recv_dut_errors(const recv_dut *d);
void recv_dut_free(recv_dut *d);
#ifdef __cplusplus
}
#endif
#endif
