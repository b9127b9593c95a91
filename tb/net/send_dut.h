// RTL behind the twin's shape: rtl/net/send.sv at tile (SEND_DUT_X, SEND_DUT_Y).
#ifndef TB_SEND_DUT_H
#define TB_SEND_DUT_H
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "net/send.h"
typedef struct send_dut send_dut;
enum { SEND_DUT_X = 1, SEND_DUT_Y = 0 };
send_dut *send_dut_new(const dut_options *options);
// Inputs in, ports of this cycle and its events out, then one clock edge.
void send_dut_step(send_dut *d, const send_in *in, send_out *out, send_events *ev);
int send_dut_errors(const send_dut *d);
void send_dut_free(send_dut *d);
#ifdef __cplusplus
}
#endif
#endif
