#include "noc/router_dut.h"

#include "Vrouter.h"
#include "common/flit_bits.h"

struct router_dut : dut_base<Vrouter> {
    using dut_base::dut_base;
};

router_dut *router_dut_new(const dut_options *options, node_t here) {
    auto *d = new router_dut(options);
    d->top->here_i = static_cast<uint16_t>(here.x << 5 | here.y);
    for (auto &word : d->top->link_i.m_storage) word = 0;
    d->top->credit_i = 0;
    return d;
}

void router_dut_step(router_dut *d, const link_t in[NOC_PORTS], const credit_t credit_in[NOC_PORTS],
                     link_t out[NOC_PORTS], credit_t credit_out[NOC_PORTS], bool *busy, router_events *ev) {
    auto *t = d->top;
    for (int p = 0; p < NOC_PORTS; p++) {
        link_put(t->link_i, p * LINK_BITS, in[p]);
        port_put(t->credit_i, p * NOC_NUM_VCS, NOC_NUM_VCS, credit_in[p]);
    }
    d->settle();
    for (int p = 0; p < NOC_PORTS; p++) {
        out[p] = link_get(t->link_o, p * LINK_BITS);
        credit_out[p] = static_cast<credit_t>(port_get(t->credit_o, p * NOC_NUM_VCS, NOC_NUM_VCS));
    }
    *busy = t->busy_o;
    // router_events_t: first field most significant
    static const int bits[] = {1, 1, 1, 1, 1, 1, 1, 1, 12, 4, 3, 4, 1};
    auto *field = reinterpret_cast<uint16_t *>(ev);
    int at = 32;
    for (int i = 0; i < 13; i++) {
        at -= bits[i];
        field[i] = static_cast<uint16_t>(port_get(t->events_o, at, bits[i]));
    }
    d->tick();
}

int router_dut_errors(const router_dut *d) {
    return d->errors();
}

void router_dut_free(router_dut *d) {
    delete d;
}
