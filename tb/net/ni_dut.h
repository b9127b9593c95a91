// RTL behind the twin's shape: rtl/net/ni.sv.
#ifndef TB_NI_DUT_H
#define TB_NI_DUT_H
#include "common/dut.h"
#ifdef __cplusplus
extern "C" {
#endif
#include "net/ni.h"
typedef struct ni_dut ni_dut;
ni_dut *ni_dut_new(const dut_options *options);
// Inputs in, ports of this cycle out, then one clock edge.
void ni_dut_step(ni_dut *d, const ni_in *in, ni_out *out);
int ni_dut_errors(const ni_dut *d);
void ni_dut_free(ni_dut *d);
#ifdef __cplusplus
}
#endif
#endif
