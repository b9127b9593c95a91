// RTL behind the twin's shape: rtl/noc/router.sv.
#ifndef TB_ROUTER_DUT_H
#define TB_ROUTER_DUT_H
#include "common/dut.h"
#include "noc/router.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct router_dut router_dut;
router_dut *router_dut_new(const dut_options *options, node_t here);
// One cycle: inputs; outputs, busy and events before the edge.
void router_dut_step(router_dut *d, const link_t in[NOC_PORTS], const credit_t credit_in[NOC_PORTS],
                     link_t out[NOC_PORTS], credit_t credit_out[NOC_PORTS], bool *busy, router_events *ev);
int router_dut_errors(const router_dut *d);
void router_dut_free(router_dut *d);
#ifdef __cplusplus
}
#endif
#endif
