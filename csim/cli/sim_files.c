// Files of a report: report.json, power.csv, report.html.
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/sim_report.h"

static json_t *counters_json(const sim_sums *sums) {
    json_t *all = json_object();
    for (int e = 0; e < NUM_EVENTS; e++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", event_unit(e), event_name(e));
        json_object_set_new(all, name, json_integer((json_int_t)sums->counters[e]));
    }
    return all;
}

static json_t *bytes_json(const sim_sums *s) {
    const uint64_t *c = s->counters;
    uint64_t hops =
        c[EV_ROUTER_FLITS_NORTH] + c[EV_ROUTER_FLITS_EAST] + c[EV_ROUTER_FLITS_SOUTH] + c[EV_ROUTER_FLITS_WEST];
    return json_pack("{sI sI sI sI sI}", "hbm", (json_int_t)(32 * (c[EV_MOVE_ROWS_LOADED] + c[EV_MOVE_ROWS_STORED])),
                     "hbm_planned", (json_int_t)(32 * s->hbm_minimum_rows), "network_hops", (json_int_t)(32 * hops),
                     "sram", (json_int_t)(32 * (c[EV_SRAM_READS] + c[EV_SRAM_WRITES])), "array_weights",
                     (json_int_t)(32 * c[EV_MATMUL_WEIGHT_ROWS]));
}

static json_t *energy_json(const sim_run *s, const sim_sums *sums) {
    json_t *units = json_object(), *classes = json_object();
    for (int u = 0; u < SIM_UNITS; u++) json_object_set_new(units, sim_units[u], json_real(sums->unit_pj[u] * 1e-12));
    for (int e = 0; e < NUM_EVENTS; e++)
        if (s->energy->class_of[e] >= 0) {
            const char *class = event_class(e);
            double before = json_real_value(json_object_get(classes, class));
            json_object_set_new(classes, class,
                                json_real(before + energy_of_event(s->energy, e, sums->counters[e]) * 1e-12));
        }
    return json_pack("{sf so so}", "total", sums->pj * 1e-12, "by_unit", units, "by_class", classes);
}

// Sums of one operator of a trace.
static json_t *op_json(const sim_run *s, const sim_trace *t, uint32_t op) {
    const trace_op *o = &t->t.ops[op];
    uint64_t cycles = 0, bound = 0, macs = 0, products = 0;
    for (size_t i = t->first; i < t->first + t->count; i++) {
        const sim_product *p = &s->products[i];
        if (p->op != op) continue;
        cycles += p->cycles;
        bound += p->bounds.cycles;
        macs += p->useful_macs;
        products++;
    }
    return json_pack("{ss si si sI si si si si sI sI sI}", "name", o->name, "layer", (int)o->layer, "expert",
                     (int)o->expert, "products", (json_int_t)products, "m", (int)o->spec.m, "n", (int)o->spec.n,
                     "n_full", (int)o->full_n, "k", (int)o->spec.k, "useful_macs", (json_int_t)macs, "cycles",
                     (json_int_t)cycles, "bound_cycles", (json_int_t)bound);
}

static json_t *run_json(const sim_run *s, const sim_options *options, const sim_trace *t) {
    static const char *const backends[] = {"", "rtl", "twin", "all"};
    sim_sums sums;
    sim_sum(s, t, &sums);
    json_t *ops = json_array();
    for (uint32_t op = 0; op < t->t.num_ops; op++) json_array_append_new(ops, op_json(s, t, op));
    double macs_possible = (double)sums.cycles * CHIP_TILES * 32 * CFG_COLS;
    json_t *run = json_pack("{ss ss ss ss ss si si si sf}", "trace", t->dir, "model", t->t.model, "phase",
                            t->t.phase == PHASE_DECODE ? "decode" : "prefill", "config", CFG_NAME, "backend",
                            backends[options->backend], "batch", (int)t->t.batch, "context", (int)t->t.context,
                            "tokens", (int)t->t.tokens, "share_of_layers", (double)t->t.macs / (double)t->t.full_macs);
    json_t *compared = json_pack("{sI sI sI}", "result_elements", (json_int_t)sums.elements, "result_rows",
                                 (json_int_t)sums.rows_compared, "counters", (json_int_t)sums.counters_compared);
    json_t *more = json_pack(
        "{so sI sI sI sI sI sI sI sf sf sI}", "compared", compared, "mismatches", (json_int_t)sums.mismatches,
        "reference_mismatches", (json_int_t)sums.reference_mismatches, "failed_products", (json_int_t)sums.failed,
        "cycles", (json_int_t)sums.cycles, "model_cycles", (json_int_t)sums.model_cycles, "bound_cycles",
        (json_int_t)sums.bound, "clock_mhz", (json_int_t)CFG_CLOCK_MHZ, "utilisation_macs",
        macs_possible > 0 ? (double)sums.useful_macs / macs_possible : 0, "utilisation_of_bound",
        sums.cycles ? (double)sums.bound / (double)sums.cycles : 0, "useful_macs", (json_int_t)sums.useful_macs);
    json_object_update(run, more);
    json_decref(more);
    json_object_set_new(run, "bytes", bytes_json(&sums));
    json_object_set_new(run, "energy_j", energy_json(s, &sums));
    json_object_set_new(run, "power_w", json_pack("{sf sf}", "average", sums.average_w, "peak_window", sums.peak_w));
    json_object_set_new(run, "cpu_seconds", json_pack("{sf sf}", "rtl", sums.seconds_rtl, "twin", sums.seconds_twin));
    json_object_set_new(run, "counters", counters_json(&sums));
    json_object_set_new(run, "operators", ops);
    return run;
}

static bool write_json(const sim_run *s, const sim_options *options, FILE *f) {
    json_t *runs = json_array();
    for (size_t i = 0; i < s->num_traces; i++) json_array_append_new(runs, run_json(s, options, &s->traces[i]));
    json_t *root = json_pack("{ss si so}", "format", "poblano-report", "version", 1, "runs", runs);
    bool ok = root && json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 && fputc('\n', f) != EOF;
    json_decref(root);
    return ok;
}

// Calls f for each window of a trace in order; first: cycle of its product's start in the trace.
typedef void each_window(void *context, const sim_product *p, uint64_t first, const product_window *w);
static void windows(const sim_run *s, const sim_trace *t, each_window *f, void *context) {
    uint64_t first = 0;
    for (size_t i = t->first; i < t->first + t->count; i++) {
        const sim_product *p = &s->products[i];
        for (size_t w = 0; w < p->num_windows; w++) f(context, p, first, &s->windows[p->first_window + w]);
        first += p->cycles;
    }
}

static double watts(double pj, uint32_t cycles) {
    return pj / cycles * CFG_CLOCK_MHZ * 1e-6;
}

typedef struct {
    FILE *f;
    const sim_trace *t;
} csv_context;

static void csv_row(void *context, const sim_product *p, uint64_t first, const product_window *w) {
    csv_context *c = context;
    double pj = 0;
    for (int t = 0; t < CHIP_TILES; t++) pj += w->pj[t];
    fprintf(c->f, "%s,%s,%u,%llu,%u,%.6f", c->t->dir, c->t->t.ops[p->op].name, p->instance,
            (unsigned long long)(first + w->begin), w->cycles, watts(pj, w->cycles));
    for (int t = 0; t < CHIP_TILES; t++) fprintf(c->f, ",%.6f", watts(w->pj[t], w->cycles));
    fputc('\n', c->f);
}

static bool write_csv(const sim_run *s, const sim_options *options, FILE *f) {
    (void)options;
    fprintf(f, "trace,operator,instance,begin_cycle,cycles,power_w");
    for (int t = 0; t < CHIP_TILES; t++) fprintf(f, ",tile_%d_%d_w", t % CFG_TILES_X, t / CFG_TILES_X);
    fputc('\n', f);
    for (size_t i = 0; i < s->num_traces; i++) windows(s, &s->traces[i], csv_row, &(csv_context){f, &s->traces[i]});
    return !ferror(f);
}

enum { PLOT_W = 1000, PLOT_H = 220 };
typedef struct {
    double peak[PLOT_W];
    uint64_t cycles;
} plot;

static void plot_window(void *context, const sim_product *p, uint64_t first, const product_window *w) {
    (void)p;
    plot *g = context;
    double pj = 0;
    for (int t = 0; t < CHIP_TILES; t++) pj += w->pj[t];
    size_t x = (size_t)((first + w->begin) * PLOT_W / g->cycles);
    double watt = watts(pj, w->cycles);
    if (x < PLOT_W && watt > g->peak[x]) g->peak[x] = watt;
}

static void html_plot(const sim_run *s, const sim_trace *t, FILE *f) {
    sim_sums sums;
    plot g = {{0}, 1};
    sim_sum(s, t, &sums);
    if (sums.cycles) g.cycles = sums.cycles;
    windows(s, t, plot_window, &g);
    fprintf(f, "<h2>%s %s: power over time</h2><svg width='%d' height='%d' viewBox='-50 -10 %d %d'>", t->t.model,
            t->t.phase == PHASE_DECODE ? "decode" : "prefill", PLOT_W + 70, PLOT_H + 50, PLOT_W + 70, PLOT_H + 50);
    fprintf(f, "<rect width='%d' height='%d' fill='none' stroke='#999'/><polyline fill='none' stroke='#0a6' points='",
            PLOT_W, PLOT_H);
    double top = sums.peak_w > 0 ? sums.peak_w : 1;
    for (int x = 0; x < PLOT_W; x++) fprintf(f, "%d,%.1f ", x, PLOT_H - PLOT_H * g.peak[x] / top);
    fprintf(f,
            "'/><text x='-45' y='10'>%.2f W</text><text x='-45' y='%d'>0 W</text><text x='0' y='%d'>cycle 0</text>"
            "<text x='%d' y='%d' text-anchor='end'>cycle %llu; highest window of each pixel</text></svg>",
            top, PLOT_H, PLOT_H + 20, PLOT_W, PLOT_H + 20, (unsigned long long)sums.cycles);
}

static void html_energy(const sim_run *s, const sim_trace *t, FILE *f) {
    sim_sums sums;
    sim_sum(s, t, &sums);
    fprintf(f, "<h3>energy by unit</h3><svg width='700' height='%d'>", SIM_UNITS * 22 + 10);
    for (int u = 0; u < SIM_UNITS; u++) {
        double share = sums.pj > 0 ? sums.unit_pj[u] / sums.pj : 0;
        fprintf(f,
                "<text x='0' y='%d'>%s</text><rect x='70' y='%d' width='%.1f' height='16' fill='#37a'/>"
                "<text x='%.1f' y='%d'>%.2f uJ, %.1f %%</text>",
                u * 22 + 16, sim_units[u], u * 22 + 3, 450 * share, 76 + 450 * share, u * 22 + 16,
                sums.unit_pj[u] * 1e-6, 100 * share);
    }
    fprintf(f, "</svg>");
}

static bool write_html(const sim_run *s, const sim_options *options, FILE *f) {
    fprintf(
        f,
        "<!doctype html><meta charset='utf-8'><title>Poblano report</title><style>body{font:14px sans-serif;margin:2em}"
        "pre{background:#f4f4f4;padding:1em}text{font-size:12px}</style><h1>Poblano report</h1><pre>");
    sim_print(s, options, f);
    fprintf(f, "</pre>");
    for (size_t i = 0; i < s->num_traces; i++) {
        html_plot(s, &s->traces[i], f);
        html_energy(s, &s->traces[i], f);
    }
    fputc('\n', f);
    return !ferror(f);
}

static bool write_file(const sim_run *s, const sim_options *options, const char *dir, const char *name,
                       bool (*write)(const sim_run *, const sim_options *, FILE *), char error[TRACE_ERROR]) {
    char path[PATH_MAX], part[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *f = fopen(part, "w");
    bool ok = f && write(s, options, f);
    if (f && fclose(f)) ok = false;
    ok = ok && rename(part, path) == 0;
    if (!ok) snprintf(error, TRACE_ERROR, "%.200s: cannot write: %s", path, strerror(errno));
    if (!ok && f) unlink(part);
    return ok;
}

bool sim_write(const sim_run *s, const sim_options *options, const char *dir, char error[TRACE_ERROR]) {
    return write_file(s, options, dir, "power.csv", write_csv, error) &&
           write_file(s, options, dir, "report.html", write_html, error) &&
           write_file(s, options, dir, "report.json", write_json, error);
}
