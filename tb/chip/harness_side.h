// One backend of the harness: the chip's RTL or its twin with an HBM model of its own, run window by window.
#ifndef TB_HARNESS_SIDE_H
#define TB_HARNESS_SIDE_H
#include "chip/chip_dut.h"
#include "chip/harness.h"
#include "hbm/hbm.h"

// The last write to a result row, as seen at the HBM port.
typedef struct {
    uint64_t cycle; // 0: never
    node_t src;     // tile
    size_t program;
} side_write;

typedef struct {
    bool rtl;
    chip *twin;
    chip_dut *dut;
    hbm mem;
    const harness_job *job;
    side_write **writes; // [num_results][rows]
    chip_out out;        // of the cycle last stepped
    size_t program;      // that runs
    const harness_program *next; // behind those of the job
    uint64_t first;      // cycles of the programs before it
    uint64_t cycle;      // cycles since its start
    uint64_t begin, end; // of the last window: cycles begin..end - 1 of the run
    bool ended;          // the program has, in the last window
    bool done, error;    // done: the last program has ended
    double seconds;                         // thread CPU time spent in side_window
    uint64_t base[CHIP_TILES][NUM_EVENTS];  // counters at the start of the program, less total
    uint64_t total[CHIP_TILES][NUM_EVENTS]; // counts of the run up to the end of the last window
    uint64_t last[CHIP_TILES][NUM_EVENTS];  // increments of the last window
} side;

// A backend with the job loaded; NULL where there is no memory.
side *side_new(const harness_job *job, const harness_options *options, bool rtl);
void side_free(side *s);
// Runs to the end of the current window or to the end of the program; updates cycle, done, total and last.
void side_window(side *s);
// One more program behind those that have ended; valid while it runs.
void side_continue(side *s, const harness_program *next);
// Program `number`, NULL where it is gone.
const harness_program *side_program(const side *s, size_t number);
// Contents of row i of a result region.
row_t side_row(side *s, const harness_region *region, uint32_t i);
chip_wait side_waits(const side *s, int tile, int engine);
#endif
