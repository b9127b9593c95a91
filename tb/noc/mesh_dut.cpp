#include "noc/mesh_dut.h"

#include "Vmesh.h"
#include "common/flit_bits.h"

struct mesh_dut : dut_base<Vmesh> {
    using dut_base::dut_base;
};

mesh_dut *mesh_dut_new(const dut_options *options) {
    return new mesh_dut(options);
}

// Calls f(link in, credits out, link out, credits in, index there, node, port) for every port that is brought out.
template <class F> static void each_port(Vmesh *t, F f) {
    for (int n = 0; n < MESH_NODES; n++) {
        int x = n % CFG_TILES_X, y = n / CFG_TILES_X;
        f(t->local_link_i, t->local_credit_o, t->local_link_o, t->local_credit_i, n, n, NOC_LOCAL);
        if (x == 0) f(t->west_link_i, t->west_credit_o, t->west_link_o, t->west_credit_i, y, n, NOC_WEST);
        if (x == CFG_TILES_X - 1) f(t->east_link_i, t->east_credit_o, t->east_link_o, t->east_credit_i, y, n, NOC_EAST);
    }
}

void mesh_dut_step(mesh_dut *d, link_t in[MESH_NODES][NOC_PORTS], credit_t credit_in[MESH_NODES][NOC_PORTS],
                   link_t out[MESH_NODES][NOC_PORTS], credit_t credit_out[MESH_NODES][NOC_PORTS], bool busy[MESH_NODES],
                   router_events ev[MESH_NODES]) {
    auto *t = d->top;
    each_port(t, [&](auto &link_i, auto &, auto &, auto &credit_i, int index, int n, int p) {
        link_put(link_i, index * LINK_BITS, in[n][p]);
        credit_put(credit_i, index, credit_in[n][p]);
    });
    d->settle();
    each_port(t, [&](auto &, auto &credit_o, auto &link_o, auto &, int index, int n, int p) {
        out[n][p] = link_get(link_o, index * LINK_BITS);
        credit_out[n][p] = credit_get(credit_o, index);
    });
    // router_events_t: first field most significant
    static const int bits[] = {1, 1, 1, 1, 1, 1, 1, 1, 12, 4, 3, 4, 1};
    for (int n = 0; n < MESH_NODES; n++) {
        busy[n] = port_get(t->busy_o, n, 1);
        auto *field = reinterpret_cast<uint16_t *>(&ev[n]);
        int at = 32 * (n + 1);
        for (int i = 0; i < 13; i++) {
            at -= bits[i];
            field[i] = static_cast<uint16_t>(port_get(t->events_o, at, bits[i]));
        }
    }
    d->tick();
}

int mesh_dut_errors(const mesh_dut *d) {
    return d->errors();
}

void mesh_dut_free(mesh_dut *d) {
    delete d;
}
