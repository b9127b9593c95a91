#include "matmul/matmul_time.h"

#include "cfg.h"
#include "numerics/num.h"

// From an instruction to its first weight row; from a last row to its first result; between the results of two column
// tiles; from a last result to the first row of the next column tile in its bank.
enum { START = 2, PIPELINE = 4, TURN = 1, FREE = 1 };

uint32_t matmul_load(const instr_t *job) {
    return (uint32_t)num_fmt_bits(job->fmt_w) * CFG_COLS / 8;
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

// Cycles, counted from the first instruction's: when the last block but one and the last one leave their weights, when
// the last one's weights are there, when the results of the last column tiles are in SRAM.
typedef struct {
    uint64_t left[2], loaded, drained[2];
} times;

static void block(times *t, uint32_t rows, uint32_t load, uint64_t bank_free) {
    t->loaded = later(t->loaded, t->left[0]) + load;
    uint64_t start = later(later(t->left[1], t->loaded), bank_free);
    t->left[0] = t->left[1];
    t->left[1] = start + rows;
}

uint64_t matmul_time(const instr_t *jobs, uint32_t n) {
    times t = {.left = {START, START}, .loaded = START};
    for (uint32_t j = 0; j < n; j++) {
        uint32_t tiles = (jobs[j].n + CFG_COLS - 1u) / CFG_COLS, blocks = (jobs[j].k + 31u) / 32;
        uint32_t load = matmul_load(&jobs[j]);
        for (uint32_t i = 0; i < tiles; i++) {
            for (uint32_t b = 0; b < blocks; b++) block(&t, jobs[j].m, load, b ? 0 : t.drained[0] + FREE);
            uint64_t start = later(t.left[1] + PIPELINE, t.drained[1] + TURN);
            t.drained[0] = t.drained[1];
            t.drained[1] = start + (uint64_t)jobs[j].m * (CFG_COLS / 8);
        }
    }
    return t.drained[1];
}
