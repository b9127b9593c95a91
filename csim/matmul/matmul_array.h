// The MAC array: double-buffered 32 x COLS weights, COLS dot products of 32 a cycle, float32 accumulators
// [2][ROWS][COLS]. Twin of rtl/matmul/matmul_array.sv, whose head states the timing and the ports.
#ifndef MATMUL_MATMUL_ARRAY_H
#define MATMUL_MATMUL_ARRAY_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/isa.h"
#include "common/mem.h"
#include "events.h"
#include "numerics/num.h"

enum { ARRAY_STAGES = 3 };

// Fields other than the valids matter only while their valid is set.
typedef struct {
    bool wl_valid; // one SRAM row of weights
    uint8_t wl_bank, wl_fmt;
    uint16_t wl_row;
    row_t wl_data;
    bool ws_valid; // weight scales of a block
    uint8_t ws_bank, ws_fmt;
    uint16_t ws_data[CFG_COLS];
    bool row_valid; // one activation row
    uint8_t row_wbank, row_fmt, row_scale_fmt, row_scale, row_acc_bank;
    uint16_t row_idx;
    bool row_first;
    row_t row_data[2];
    bool ini_valid; // eight initial accumulators
    uint8_t ini_bank, ini_part;
    uint16_t ini_idx;
    row_t ini_data;
} matmul_array_in;

// A row in the pipeline. Stage 0 holds the operand; what its dot products give is computed on leaving stage 0, with the
// weights and weight scales of that cycle.
typedef struct {
    bool valid, first, exact; // exact: p, otherwise dot and scales
    uint8_t wbank, fmt, scale_fmt, scale, acc_bank;
    uint16_t idx;
    double p[CFG_COLS]; // dot * scale_a * scale_w, exact
    num_dot dot[CFG_COLS];
    num_elem ws[CFG_COLS];
} array_row;

typedef struct {
    double value[FMT_BF16][256];            // of every code of the formats of up to 8 bits
    double w[2][NUM_BLOCK][CFG_COLS];       // decoded weights, formats of up to 8 bits but E5M2
    uint16_t codes[2][CFG_COLS][NUM_BLOCK]; // weights as codes
    uint8_t w_fmt[2], ws_fmt[2];
    uint16_t ws[2][CFG_COLS];
    double ws_value[2][CFG_COLS];
    uint32_t acc[2][CFG_ROWS][CFG_COLS];
    row_t a_last[2], w_last; // for toggles; a_last is the operand register as well
    array_row pipe[ARRAY_STAGES];
    uint8_t at[ARRAY_STAGES]; // index into pipe of stage 0, 1, 2
} matmul_array;

void matmul_array_reset(matmul_array *s);
// A row is in the pipeline; one for this accumulator bank is.
bool matmul_array_busy(const matmul_array *s);
bool matmul_array_acc_busy(const matmul_array *s, int bank);
// Accumulators [COLS] of a row, float32 bits.
const uint32_t *matmul_array_read(const matmul_array *s, int bank, int idx);
// One clock edge; adds zero_operands, a_toggles, w_toggles, acc_toggles and gated of the cycle that ends to ev.
void matmul_array_step(matmul_array *s, const matmul_array_in *in, matmul_events *ev);
#endif
