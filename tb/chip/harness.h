// Runs programs of all tiles on the chip's RTL, its twin or both, from reset to done, and compares everything.
// Both backends run side by side, window by window, each with an HBM model of its own.
#ifndef TB_HARNESS_H
#define TB_HARNESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chip/chip.h"

typedef enum { HARNESS_RTL = 1, HARNESS_TWIN = 2, HARNESS_BOTH = 3 } harness_backend;

// Rows of 256 bits at an HBM port (0..CHIP_PORTS - 1; each port is an address space of its own).
typedef struct {
    const char *name; // for reports; may be NULL
    int port;
    uint32_t row; // of the first
    uint32_t rows;
    const row_t *data; // images: the contents, rows long
    row_t *result;     // results: where the contents go (rows long), or NULL
} harness_region;

typedef struct {
    const instr_t *instrs[CHIP_TILES]; // program of tile t, without or with its END (END is added); NULL where none
    size_t num_instrs[CHIP_TILES];     // at most CFG_IMEM_ROWS with the END
} harness_program;

// Programs run one after the other without reset between them; loading them takes no cycles.
typedef struct {
    const harness_program *programs;
    size_t num_programs;
    const harness_region *images; // HBM contents before the start; all other rows are 0
    size_t num_images;
    const harness_region *results; // compared bit by bit and copied out after the end
    size_t num_results;
    // Called where the last of the programs has ended and the results are copied out: one more program, valid until the
    // next call, or NULL for the end; cycles: of the run so far. NULL: there are no more.
    const harness_program *(*more)(void *context, uint64_t cycles);
    void *context;
} harness_job;

// Activity of one window; the last one of a program may be shorter than CFG_WINDOW cycles.
typedef struct {
    uint64_t begin; // first cycle
    uint32_t cycles;
    const uint64_t (*counts)[NUM_EVENTS]; // [CHIP_TILES]: increments of each counter
} harness_window;

typedef struct {
    harness_backend backend;
    uint32_t seed;         // of the RTL's random initial values; 0: everything starts from zero
    const char *wave;      // FST file of the RTL, or NULL
    uint64_t wave_cycles;  // dumped at most, from reset on; 0: all
    uint64_t max_cycles;   // 0: no limit
    uint64_t stall_cycles; // cycles without any progress that count as a deadlock; 0: a default above every latency
    // Called after each window (of the RTL where it runs, otherwise of the twin), in order; may be NULL. Fills in the
    // power of each tile, to show in the waves from here on.
    void (*on_window)(void *context, const harness_window *window, uint32_t milliwatt[CHIP_TILES]);
    void *context;
} harness_options;

typedef enum {
    HARNESS_OK,
    HARNESS_MISMATCH, // RTL and twin differ; text says where first
    HARNESS_DEADLOCK, // nothing moves; text says which unit of which tile waits for what
    HARNESS_TIMEOUT,  // still moving after max_cycles
    HARNESS_ERROR,    // the chip's error output or an assertion of the RTL
    HARNESS_BAD_JOB,  // a program too long, a port that does not exist; text says which
    HARNESS_NO_MEMORY
} harness_verdict;

typedef struct {
    harness_verdict verdict;
    uint64_t cycles;                           // from the start to done, summed over the programs
    uint64_t model_cycles;                     // the same by the twin, 0 where it did not run
    uint64_t counters[CHIP_TILES][NUM_EVENTS]; // of the whole run (of the RTL where it runs)
    uint64_t mismatches;              // result words, counters and cycle counts that differ between the backends
    uint64_t rows_compared;           // result rows compared between the backends
    double seconds_rtl, seconds_twin; // spent in each (thread CPU time)
    char text[1024];                  // one paragraph about a verdict that is not OK; otherwise empty
} harness_result;

// Runs the job; returns result->verdict.
harness_verdict harness_run(const harness_job *job, const harness_options *options, harness_result *result);

// "OK", "MISMATCH", "DEADLOCK", ...
const char *harness_verdict_name(harness_verdict verdict);
#endif
