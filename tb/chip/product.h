// Runs a kernel (a matrix product as programs) on the chip and compares the result with the numerics' reference.
#ifndef TB_PRODUCT_H
#define TB_PRODUCT_H
#include "chip/harness.h"
#include "energy/energy.h"
#include "workload/kernel.h"

// Energy of one window, by tile.
typedef struct {
    uint64_t begin; // cycle of the run
    uint32_t cycles;
    float pj[CHIP_TILES];
} product_window;

typedef struct {
    harness_backend backend;
    bool reference;             // compare with kernel_reference
    uint32_t seed;              // of the RTL's initial values
    const char *wave;           // FST file of the RTL, or NULL
    uint64_t wave_cycles;       // dumped at most; 0: all
    const energy_table *energy; // for windows; NULL: none are kept
} product_options;

typedef struct {
    harness_result run;
    uint64_t elements, reference_mismatches; // of the result, compared with the reference
    product_window *windows;
    size_t num_windows, capacity;
} product_result;

// y[m][n]: the result; NULL: not wanted. Returns the verdict, HARNESS_MISMATCH too where the reference differs; text in
// out->run.text. out is to be freed.
harness_verdict product_run(const kernel *k, const gemm_operands *o, const product_options *options, float *y,
                            product_result *out);
void product_free(product_result *r);
#endif
