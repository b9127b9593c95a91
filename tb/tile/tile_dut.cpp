// VERILATOR: --trace-fst --trace-structs
#include "tile/tile_dut.h"

#include <cstdlib>
#include <string>
#include <vector>
#include <verilated_fst_c.h>

#include "Vtile.h"
#include "common/flit_bits.h"

namespace {
constexpr int COUNTER_BITS = 48;
} // namespace

struct tile_dut {
    VerilatedContext context;
    std::vector<Vtile *> tops;
    VerilatedFstC *wave = nullptr;
    uint64_t wave_end = UINT64_MAX; // time of the last dump
    tile_dut *next = nullptr; // of the list of open waves
};

namespace {
tile_dut *open_list = nullptr;

void close_wave(tile_dut *d) {
    if (!d->wave) return;
    d->wave->close();
    delete d->wave;
    d->wave = nullptr;
    for (tile_dut **at = &open_list; *at; at = &(*at)->next)
        if (*at == d) {
            *at = d->next;
            break;
        }
}

void close_all() {
    while (open_list) close_wave(open_list);
}

void open_wave(tile_dut *d, const char *path) {
    static bool registered = false;
    if (!registered) std::atexit(close_all);
    registered = true;
    d->wave = new VerilatedFstC;
    for (Vtile *top : d->tops) top->trace(d->wave, 99);
    d->wave->open(path);
    d->next = open_list;
    open_list = d;
}

void tick(tile_dut *d) {
    if (d->wave && d->context.time() > d->wave_end) close_wave(d);
    for (int level = 1; level >= 0; level--) {
        for (Vtile *top : d->tops) {
            top->clk_i = static_cast<uint8_t>(level);
            top->eval();
        }
        if (d->wave) d->wave->dump(d->context.time());
        d->context.timeInc(1);
    }
}

void clear_inputs(Vtile *t) {
    t->clk_i = t->rst_ni = 0;
    t->imem_we_i = t->start_i = t->snapshot_i = t->inject_valid_i = 0;
    t->power_mw_i = 0;
    for (int p = 0; p < TILE_LINKS; p++) {
        link_put(t->link_i, p * LINK_BITS, link_t{});
        credit_put(t->credit_i, p, 0);
    }
}
} // namespace

tile_dut *tile_dut_new(const dut_options *options, const node_t *here, int count) {
    tile_dut *d = new tile_dut;
    d->context.randReset(options && options->seed ? 2 : 0);
    d->context.randSeed(options && options->seed ? static_cast<int>(options->seed & 0x7fffffff) : 1);
    d->context.fatalOnError(false);
    d->context.errorLimit(1 << 30);
    d->context.traceEverOn(options && options->wave);
    for (int i = 0; i < count; i++) {
        std::string name = "tile_" + std::to_string(here[i].x) + "_" + std::to_string(here[i].y);
        Vtile *t = new Vtile{&d->context, name.c_str()};
        d->tops.push_back(t);
        clear_inputs(t);
        t->here_i = static_cast<uint16_t>(here[i].x << 5 | here[i].y);
    }
    if (options && options->wave && options->wave_cycles) d->wave_end = 2 * options->wave_cycles;
    if (options && options->wave) open_wave(d, options->wave);
    for (int i = 0; i < 2; i++) tick(d);
    for (Vtile *t : d->tops) t->rst_ni = 1;
    return d;
}

void tile_dut_free(tile_dut *d) {
    if (!d) return;
    close_wave(d);
    for (Vtile *t : d->tops) {
        t->final();
        delete t;
    }
    delete d;
}

void tile_dut_load(tile_dut *d, int i, int addr, const row_t *instr) {
    Vtile *t = d->tops[static_cast<size_t>(i)];
    t->imem_we_i = 1;
    t->imem_addr_i = static_cast<uint16_t>(addr);
    bits_put_row(t->imem_wdata_i, 0, *instr);
    tick(d);
    t->imem_we_i = 0;
}

void tile_dut_inject(tile_dut *d, int i, int addr, const sram_flip *flip) {
    Vtile *t = d->tops[static_cast<size_t>(i)];
    t->inject_valid_i = 1;
    t->inject_addr_i = static_cast<uint16_t>(addr);
    for (int w = 0; w < ROW_WORDS; w++) {
        bits_put(t->inject_flip_i, 72 * w, 64, flip->data[w]);
        bits_put(t->inject_flip_i, 72 * w + 64, 8, flip->check[w]);
    }
    tick(d);
    t->inject_valid_i = 0;
}

void tile_dut_power(tile_dut *d, int i, uint32_t milliwatt) {
    d->tops[static_cast<size_t>(i)]->power_mw_i = milliwatt;
}

void tile_dut_peek(tile_dut *d, tile_out *out) {
    for (size_t i = 0; i < d->tops.size(); i++) {
        Vtile *t = d->tops[i];
        out[i].done = t->done_o;
        out[i].error = t->error_o;
        for (int p = 0; p < TILE_LINKS; p++) {
            out[i].link[p] = link_get(t->link_o, p * LINK_BITS);
            out[i].credit[p] = credit_get(t->credit_o, p);
        }
        for (int e = 0; e < NUM_ENGINES; e++)
            out[i].wait[e] = {port_get(t->wait_valid_o, e, 1) != 0, static_cast<uint8_t>(port_get(t->wait_sem_o, e * 5, 5)),
                              static_cast<uint8_t>(port_get(t->wait_count_o, e * 8, 8))};
    }
}

void tile_dut_step(tile_dut *d, const tile_in *in) {
    for (size_t i = 0; i < d->tops.size(); i++) {
        Vtile *t = d->tops[i];
        t->start_i = in[i].start;
        t->snapshot_i = in[i].snapshot;
        for (int p = 0; p < TILE_LINKS; p++) {
            link_put(t->link_i, p * LINK_BITS, in[i].link[p]);
            credit_put(t->credit_i, p, in[i].credit[p]);
        }
    }
    tick(d);
}

void tile_dut_counters(const tile_dut *d, int i, uint64_t counters[NUM_EVENTS]) {
    for (int e = 0; e < NUM_EVENTS; e++)
        counters[e] = bits_get(d->tops[static_cast<size_t>(i)]->snap_o, e * COUNTER_BITS, COUNTER_BITS);
}

int tile_dut_errors(const tile_dut *d) {
    return d->context.errorCount();
}
