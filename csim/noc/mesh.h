// A mesh of routers of any size up to 32 x 32 with its local and edge ports brought out.
#ifndef NOC_MESH_H
#define NOC_MESH_H
#include "noc/router.h"

typedef struct {
    int nx, ny;
    router *routers;         // [ny][nx]: node n = y * nx + x
    link_t (*in)[NOC_PORTS]; // what each router received in the last cycle
    credit_t (*credit_in)[NOC_PORTS];
    link_t (*out)[NOC_PORTS]; // what each router drives in this cycle
    credit_t (*credit_out)[NOC_PORTS];
    router_events *events; // of the last cycle
} mesh;

// False where there is no memory.
bool mesh_init(mesh *s, int nx, int ny);
void mesh_free(mesh *s);
// Fills out and credit_out of every node.
void mesh_peek(mesh *s);
// One clock edge. The caller has filled in[n][NOC_LOCAL] and credit_in[n][NOC_LOCAL] of every node, and those of edge
// ports it uses (otherwise zero), and called mesh_peek; the links between routers are filled here.
void mesh_step(mesh *s);
// No flit is buffered anywhere.
bool mesh_empty(const mesh *s);
#endif
