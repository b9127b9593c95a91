#include "cli/sim_report.h"

#include <stdio.h>
#include <string.h>

const char *const sim_units[SIM_UNITS] = {"matmul", "sram", "move", "send", "recv", "seq", "router", "hbm"};

// Rows that cross the HBM interface are HBM's, whatever unit counts them.
static int unit_of(int event) {
    const char *unit = strcmp(event_class(event), "hbm_row") ? event_unit(event) : "hbm";
    for (int u = 0; u < SIM_UNITS; u++)
        if (!strcmp(sim_units[u], unit)) return u;
    return 0;
}

static uint64_t traffic_rows(const kernel_traffic *t) {
    return t->a + t->a_scales + t->w + t->w_scales + t->init + t->result;
}

static void add_product(sim_sums *out, const sim_product *p) {
    out->products++;
    out->cycles += p->cycles;
    out->model_cycles += p->model_cycles;
    out->bound += p->bounds.cycles;
    out->bound_compute += p->bounds.compute;
    out->bound_weights += p->bounds.weights;
    out->bound_hbm += p->bounds.hbm;
    out->useful_macs += p->useful_macs;
    out->rows_compared += p->rows_compared;
    out->counters_compared += p->counters_compared;
    out->elements += p->elements;
    out->mismatches += p->mismatches;
    out->reference_mismatches += p->reference_mismatches;
    out->failed += p->verdict != HARNESS_OK;
    out->hbm_minimum_rows += traffic_rows(&p->traffic);
    out->seconds_rtl += p->seconds_rtl;
    out->seconds_twin += p->seconds_twin;
    for (int t = 0; t < CHIP_TILES; t++)
        for (int e = 0; e < NUM_EVENTS; e++) out->counters[e] += p->counters[t][e];
}

void sim_sum(const sim_run *s, const sim_trace *t, sim_sums *out) {
    memset(out, 0, sizeof *out);
    for (size_t i = t->first; i < t->first + t->count; i++) {
        const sim_product *p = &s->products[i];
        add_product(out, p);
        for (size_t w = 0; w < p->num_windows; w++) {
            const product_window *window = &s->windows[p->first_window + w];
            double pj = 0;
            for (int c = 0; c < CHIP_TILES; c++) pj += window->pj[c];
            double watt = pj / window->cycles * CFG_CLOCK_MHZ * 1e-6;
            if (watt > out->peak_w) out->peak_w = watt;
        }
    }
    for (int e = 0; e < NUM_EVENTS; e++) out->unit_pj[unit_of(e)] += energy_of_event(s->energy, e, out->counters[e]);
    for (int u = 0; u < SIM_UNITS; u++) out->pj += out->unit_pj[u];
    if (out->cycles) out->average_w = out->pj / (double)out->cycles * CFG_CLOCK_MHZ * 1e-6;
}

typedef double figure(const sim_sums *s);

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}
#define FIGURE(name, value)                                                                                            \
    static double name(const sim_sums *s) {                                                                            \
        return value;                                                                                                  \
    }
FIGURE(products, (double)s->products)
FIGURE(macs, (double)s->useful_macs / 1e6)
FIGURE(cycles, (double)s->cycles)
FIGURE(bound, (double)s->bound)
FIGURE(of_bound, percent((double)s->bound, (double)s->cycles))
FIGURE(mac_use, percent((double)s->useful_macs, (double)s->cycles *CHIP_TILES * 32 * CFG_COLS))
FIGURE(weight_use, percent((double)s->counters[EV_MATMUL_WEIGHT_ROWS], (double)s->cycles *CHIP_TILES))
FIGURE(hbm_mb, 32e-6 * (double)(s->counters[EV_MOVE_ROWS_LOADED] + s->counters[EV_MOVE_ROWS_STORED]))
FIGURE(sram_mb, 32e-6 * (double)(s->counters[EV_SRAM_READS] + s->counters[EV_SRAM_WRITES]))
FIGURE(hops_mb, 32e-6 * (double)(s->counters[EV_ROUTER_FLITS_NORTH] + s->counters[EV_ROUTER_FLITS_EAST] +
                                 s->counters[EV_ROUTER_FLITS_SOUTH] + s->counters[EV_ROUTER_FLITS_WEST]))
FIGURE(array_mb, 32e-6 * (double)s->counters[EV_MATMUL_WEIGHT_ROWS])
FIGURE(energy, s->pj * 1e-6)
FIGURE(average, s->average_w)
FIGURE(peak, s->peak_w)
FIGURE(time_us, (double)s->cycles / CFG_CLOCK_MHZ)
FIGURE(rtl_rate, s->seconds_rtl > 0 ? (double)s->cycles / s->seconds_rtl / 1e3 : 0)
FIGURE(twin_ratio, s->seconds_twin > 0 ? s->seconds_rtl / s->seconds_twin : 0)
FIGURE(elements, (double)s->elements)
FIGURE(counters, (double)s->counters_compared)
FIGURE(data_wrong, (double)(s->mismatches + s->reference_mismatches))

static const struct {
    const char *name, *format;
    figure *value;
} rows[] = {{"matrix products", "%.0f", products},
            {"useful MACs (million)", "%.1f", macs},
            {"cycles", "%.0f", cycles},
            {"bound on cycles", "%.0f", bound},
            {"bound / cycles (%)", "%.2f", of_bound},
            {"MACs used (%)", "%.2f", mac_use},
            {"weight ports used (%)", "%.2f", weight_use},
            {"bytes HBM (MB)", "%.3f", hbm_mb},
            {"bytes network hops (MB)", "%.3f", hops_mb},
            {"bytes SRAM (MB)", "%.3f", sram_mb},
            {"bytes into arrays (MB)", "%.3f", array_mb},
            {"time at nominal clock (us)", "%.1f", time_us},
            {"energy, dynamic (uJ)", "%.2f", energy}};
static const struct {
    const char *name, *format;
    figure *value;
} ends[] = {{"average power (W)", "%.3f", average},
            {"peak power of a window (W)", "%.3f", peak},
            {"result elements compared", "%.0f", elements},
            {"counter windows compared", "%.0f", counters},
            {"mismatches", "%.0f", data_wrong},
            {"RTL (kcycles/s of CPU)", "%.1f", rtl_rate},
            {"RTL time / twin time", "%.1f", twin_ratio}};

static void print_row(const char *name, const char *format, figure *value, const sim_sums *sums, size_t count,
                      FILE *out) {
    fprintf(out, "%-28s", name);
    for (size_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, format, value(&sums[i]));
        fprintf(out, " %18s", text);
    }
    fputc('\n', out);
}

void sim_print(const sim_run *s, const sim_options *options, FILE *out) {
    sim_sums sums[s->num_traces];
    static const char *const backends[] = {"", "rtl", "twin", "rtl and twin"};
    fprintf(out, "%-28s", "");
    for (size_t i = 0; i < s->num_traces; i++) {
        const trace *t = &s->traces[i].t;
        sim_sum(s, &s->traces[i], &sums[i]);
        fprintf(out, " %18s", t->phase == PHASE_DECODE ? "decode" : "prefill");
    }
    fprintf(out, "\n%-28s", "share of the layers (%)");
    for (size_t i = 0; i < s->num_traces; i++)
        fprintf(out, " %18.2f", 100.0 * (double)s->traces[i].t.macs / (double)s->traces[i].t.full_macs);
    fputc('\n', out);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        print_row(rows[r].name, rows[r].format, rows[r].value, sums, s->num_traces, out);
    for (int u = 0; u < SIM_UNITS; u++) {
        fprintf(out, "  %-26s", sim_units[u]);
        for (size_t i = 0; i < s->num_traces; i++) fprintf(out, " %18.2f", sums[i].unit_pj[u] * 1e-6);
        fputc('\n', out);
    }
    for (size_t r = 0; r < sizeof ends / sizeof ends[0]; r++)
        print_row(ends[r].name, ends[r].format, ends[r].value, sums, s->num_traces, out);
    fprintf(out, "configuration %s, backend %s; energy by energy/*.csv, uncalibrated; no leakage, no clock tree\n",
            CFG_NAME, backends[options->backend]);
    for (size_t i = 0; i < s->num_products; i++) {
        const sim_product *p = &s->products[i];
        if (p->verdict == HARNESS_OK) continue;
        fprintf(out, "%s: %s: %s\n", s->traces[p->trace].dir, harness_verdict_name(p->verdict), p->text);
        break;
    }
}
