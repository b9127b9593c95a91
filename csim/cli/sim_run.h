// Runs all products of some traces, each on a chip of its own from reset, in several processes. What comes out does not
// depend on how many there are.
#ifndef CLI_SIM_RUN_H
#define CLI_SIM_RUN_H
#include <stdatomic.h>

#include "chip/product.h"
#include "workload/trace.h"

typedef struct {
    uint32_t trace, op, instance;
    _Atomic bool done;
    harness_verdict verdict;
    uint64_t cycles, model_cycles;
    uint64_t counters[CHIP_TILES][NUM_EVENTS];
    uint64_t mismatches, rows_compared, counters_compared; // RTL against twin
    uint64_t elements, reference_mismatches;               // against the reference
    uint64_t useful_macs;
    kernel_bounds bounds;
    kernel_traffic traffic;
    double seconds_rtl, seconds_twin;
    size_t first_window, num_windows; // in sim_run.windows
    char text[1024];
} sim_product;

// A trace and its products, sums of them.
typedef struct {
    const char *dir;
    trace t;
    size_t first, count; // products
} sim_trace;

typedef struct {
    harness_backend backend;
    uint32_t seed;
    int workers;
    const char *wave;     // of the first product
    uint64_t wave_cycles; // dumped at most
    bool quiet;
} sim_options;

typedef struct {
    sim_trace *traces;
    size_t num_traces;
    sim_product *products; // shared by the processes
    size_t num_products;
    product_window *windows; // shared
    struct sim_shared *shared;
    const energy_table *energy;
} sim_run;

// Reads the traces. False with one line in error. To be freed in both cases.
bool sim_open(sim_run *s, char *const dirs[], size_t count, char error[TRACE_ERROR]);
void sim_close(sim_run *s);
// Runs everything; progress on stderr. False with one line in error where a process was lost or there is no memory.
bool sim_all(sim_run *s, const sim_options *options, char error[TRACE_ERROR]);
#endif
