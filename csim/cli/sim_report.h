// What a simulation of traces came to: figures of each run, report.json, power.csv, report.html, the table on the
// console.
#ifndef CLI_SIM_REPORT_H
#define CLI_SIM_REPORT_H
#include <stdio.h>

#include "cli/sim_run.h"

enum { SIM_UNITS = 8 }; // matmul, sram, move, send, recv, seq, router, hbm

// Sums over the products of a trace.
typedef struct {
    uint64_t products, cycles, model_cycles, bound, bound_compute, bound_weights, bound_hbm, useful_macs;
    uint64_t counters[NUM_EVENTS], busiest_weight_rows;
    uint64_t rows_compared, counters_compared, elements, mismatches, reference_mismatches, failed;
    uint64_t hbm_minimum_rows;
    double seconds_rtl, seconds_twin;
    double pj, unit_pj[SIM_UNITS], average_w, peak_w;
} sim_sums;

extern const char *const sim_units[SIM_UNITS];
void sim_sum(const sim_run *s, const sim_trace *t, sim_sums *out);
// Table of the runs side by side, and the first failure of each.
void sim_print(const sim_run *s, const sim_options *options, FILE *out);
// Writes report.json, power.csv and report.html into dir, each whole or not at all. False with one line in error.
bool sim_write(const sim_run *s, const sim_options *options, const char *dir, char error[TRACE_ERROR]);
#endif
