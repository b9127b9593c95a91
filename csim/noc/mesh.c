#include "noc/mesh.h"

#include <stdlib.h>

bool mesh_init(mesh *s, int nx, int ny) {
    size_t n = (size_t)nx * (size_t)ny;
    *s = (mesh){.nx = nx, .ny = ny};
    s->routers = calloc(n, sizeof *s->routers);
    s->in = calloc(n, sizeof *s->in);
    s->credit_in = calloc(n, sizeof *s->credit_in);
    s->out = calloc(n, sizeof *s->out);
    s->credit_out = calloc(n, sizeof *s->credit_out);
    s->events = calloc(n, sizeof *s->events);
    if (!s->routers || !s->in || !s->credit_in || !s->out || !s->credit_out || !s->events) {
        mesh_free(s);
        return false;
    }
    for (int i = 0; i < nx * ny; i++) router_reset(&s->routers[i], (node_t){(uint8_t)(i % nx), (uint8_t)(i / nx)});
    return true;
}

void mesh_free(mesh *s) {
    free(s->routers);
    free(s->in);
    free(s->credit_in);
    free(s->out);
    free(s->credit_out);
    free(s->events);
    *s = (mesh){0};
}

void mesh_peek(mesh *s) {
    for (int i = 0; i < s->nx * s->ny; i++) router_peek(&s->routers[i], s->out[i], s->credit_out[i]);
}

// Output `port` of node a and input `opposite` of node b are one link.
static void wire(mesh *s, int a, int port, int b, int opposite) {
    s->in[b][opposite].valid = s->out[a][port].valid;
    if (s->out[a][port].valid) s->in[b][opposite] = s->out[a][port];
    s->credit_in[a][port] = s->credit_out[b][opposite];
}

void mesh_step(mesh *s) {
    for (int y = 0; y < s->ny; y++)
        for (int x = 0; x < s->nx; x++) {
            int n = y * s->nx + x;
            if (x + 1 < s->nx) {
                wire(s, n, NOC_EAST, n + 1, NOC_WEST);
                wire(s, n + 1, NOC_WEST, n, NOC_EAST);
            }
            if (y + 1 < s->ny) {
                wire(s, n, NOC_NORTH, n + s->nx, NOC_SOUTH);
                wire(s, n + s->nx, NOC_SOUTH, n, NOC_NORTH);
            }
        }
    for (int i = 0; i < s->nx * s->ny; i++) router_step(&s->routers[i], s->in[i], s->credit_in[i], &s->events[i]);
}

bool mesh_empty(const mesh *s) {
    for (int i = 0; i < s->nx * s->ny; i++)
        if (router_busy(&s->routers[i])) return false;
    return true;
}
