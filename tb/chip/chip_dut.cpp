// VERILATOR: --trace-fst --trace-structs
#include "chip/chip_dut.h"

#include <cstdlib>
#include <verilated_fst_c.h>

#include "Vchip.h"
#include "common/flit_bits.h"

namespace {
constexpr int COUNTER_BITS = 48;
} // namespace

struct chip_dut {
    VerilatedContext context;
    Vchip *top;
    VerilatedFstC *wave = nullptr;
    chip_dut *next = nullptr; // of the list of open waves
};

namespace {
chip_dut *open_list = nullptr;

void close_wave(chip_dut *d) {
    if (!d->wave) return;
    d->wave->close();
    delete d->wave;
    d->wave = nullptr;
    for (chip_dut **at = &open_list; *at; at = &(*at)->next)
        if (*at == d) {
            *at = d->next;
            break;
        }
}

void close_all() {
    while (open_list) close_wave(open_list);
}

void open_wave(chip_dut *d, const char *path) {
    static bool registered = false;
    if (!registered) std::atexit(close_all);
    registered = true;
    d->context.traceEverOn(true);
    d->wave = new VerilatedFstC;
    d->top->trace(d->wave, 99);
    d->wave->open(path);
    d->next = open_list;
    open_list = d;
}

void tick(chip_dut *d) {
    for (int level = 1; level >= 0; level--) {
        d->top->clk_i = static_cast<uint8_t>(level);
        d->top->eval();
        if (d->wave) d->wave->dump(d->context.time());
        d->context.timeInc(1);
    }
}
} // namespace

chip_dut *chip_dut_new(const dut_options *options) {
    chip_dut *d = new chip_dut;
    d->context.randReset(options && options->seed ? 2 : 0);
    d->context.randSeed(options && options->seed ? static_cast<int>(options->seed & 0x7fffffff) : 1);
    d->context.fatalOnError(false);
    d->context.errorLimit(1 << 30);
    d->context.traceEverOn(options && options->wave);
    d->top = new Vchip{&d->context, "chip"};
    if (options && options->wave) open_wave(d, options->wave);
    Vchip *t = d->top;
    t->clk_i = t->rst_ni = 0;
    t->imem_we_i = t->start_i = t->snapshot_i = 0;
    t->power_mw_i = 0;
    for (int p = 0; p < CHIP_PORTS; p++) {
        link_put(t->hbm_link_i, p * LINK_BITS, link_t{});
        credit_put(t->hbm_credit_i, p, 0);
    }
    t->eval();
    for (int i = 0; i < 2; i++) tick(d);
    t->rst_ni = 1;
    return d;
}

void chip_dut_free(chip_dut *d) {
    if (!d) return;
    d->top->final();
    close_wave(d);
    delete d->top;
    delete d;
}

void chip_dut_load(chip_dut *d, int tile, int addr, const row_t *instr) {
    Vchip *t = d->top;
    t->imem_we_i = 1;
    t->imem_tile_i = static_cast<uint16_t>((tile % CFG_TILES_X) << 5 | tile / CFG_TILES_X);
    t->imem_addr_i = static_cast<uint16_t>(addr);
    bits_put_row(t->imem_wdata_i, 0, *instr);
    t->eval();
    tick(d);
    t->imem_we_i = 0;
}

void chip_dut_peek(chip_dut *d, chip_out *out) {
    Vchip *t = d->top;
    out->done = t->done_o;
    out->error = t->error_o;
    for (int p = 0; p < CHIP_PORTS; p++) {
        out->link[p] = link_get(t->hbm_link_o, p * LINK_BITS);
        out->credit[p] = credit_get(t->hbm_credit_o, p);
    }
}

void chip_dut_step(chip_dut *d, const chip_in *in) {
    Vchip *t = d->top;
    t->start_i = in->start;
    t->snapshot_i = in->snapshot;
    for (int p = 0; p < CHIP_PORTS; p++) {
        link_put(t->hbm_link_i, p * LINK_BITS, in->link[p]);
        credit_put(t->hbm_credit_i, p, in->credit[p]);
    }
    t->eval();
    tick(d);
}

void chip_dut_counters(const chip_dut *d, int tile, uint64_t counters[NUM_EVENTS]) {
    for (int e = 0; e < NUM_EVENTS; e++)
        counters[e] = bits_get(d->top->snap_o, (tile * NUM_EVENTS + e) * COUNTER_BITS, COUNTER_BITS);
}

chip_wait chip_dut_waits(const chip_dut *d, int tile, int engine) {
    int at = tile * NUM_ENGINES + engine;
    return {port_get(d->top->wait_valid_o, at, 1) != 0, static_cast<uint8_t>(port_get(d->top->wait_sem_o, at * 5, 5)),
            static_cast<uint8_t>(port_get(d->top->wait_count_o, at * 8, 8))};
}

void chip_dut_power(chip_dut *d, uint32_t milliwatt) {
    d->top->power_mw_i = milliwatt;
}

int chip_dut_errors(const chip_dut *d) {
    return d->context.errorCount();
}
