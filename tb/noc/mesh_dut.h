// RTL behind the twin's shape: rtl/noc/mesh.sv of CFG_TILES_X x CFG_TILES_Y nodes.
#ifndef TB_MESH_DUT_H
#define TB_MESH_DUT_H
#include "common/dut.h"
#include "noc/router.h"
#ifdef __cplusplus
extern "C" {
#endif
enum { MESH_NODES = CFG_TILES_X * CFG_TILES_Y };
typedef struct mesh_dut mesh_dut;
mesh_dut *mesh_dut_new(const dut_options *options);
// One cycle: what comes in at the local ports of every node, and at the west and east ports of those at these edges
// (the rest of `in` is not read); before the edge, what goes out there, and busy and events of every router.
void mesh_dut_step(mesh_dut *d, link_t in[MESH_NODES][NOC_PORTS], credit_t credit_in[MESH_NODES][NOC_PORTS],
                   link_t out[MESH_NODES][NOC_PORTS], credit_t credit_out[MESH_NODES][NOC_PORTS], bool busy[MESH_NODES],
                   router_events ev[MESH_NODES]);
int mesh_dut_errors(const mesh_dut *d);
void mesh_dut_free(mesh_dut *d);
#ifdef __cplusplus
}
#endif
#endif
