// A chip of TILES_X x TILES_Y tiles: twin of rtl/chip/chip.sv, equal to it in bits, cycles and counters.
// The shape of a twin (peek everything, then step), with the host port as plain functions. Host functions act between
// two clock edges; the RTL's shim (tb/chip/chip_dut.h) has the same functions with the same meaning.
#ifndef CHIP_CHIP_H
#define CHIP_CHIP_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/flit.h"
#include "common/isa.h"
#include "events.h"
#include "sram/sram.h"

enum { CHIP_TILES = CFG_TILES_X * CFG_TILES_Y };  // tile t = y * CFG_TILES_X + x
enum { CHIP_PORTS = 2 * CFG_TILES_Y };            // HBM ports: y west of (0, y), CFG_TILES_Y + y east of the last column

// What the HBM ports drive, and the host's pulses, in one cycle.
typedef struct {
    bool start;                   // every sequencer begins at instruction 0
    bool snapshot;                // counters as of this edge become readable by *_counters
    link_t link[CHIP_PORTS];      // flits from HBM port p
    credit_t credit[CHIP_PORTS];  // buffers freed by HBM port p
} chip_in;

typedef struct {
    bool done;                    // every program has ended and every unit is idle
    bool error;                   // sticky: some unit met an error (an uncorrectable row, a semaphore out of range, ...)
    link_t link[CHIP_PORTS];      // flits to HBM port p
    credit_t credit[CHIP_PORTS];  // buffers freed towards HBM port p
} chip_out;

// What an engine waits for in this cycle (for the watchdog's report).
typedef struct {
    bool valid;  // a WAIT is unsatisfied
    uint8_t sem, count;
} chip_wait;

typedef struct chip chip;

// A chip after reset; NULL where there is no memory for it.
chip *chip_new(void);
void chip_free(chip *s);
// Writes instruction row `addr` (0..CFG_IMEM_ROWS - 1) of a tile.
void chip_load(chip *s, int tile, int addr, const row_t *instr);
// Arms a fault of the next write of SRAM row addr of a tile.
void chip_inject(chip *s, int tile, int addr, const sram_flip *flip);
// Outputs of this cycle. Keeps what the units drive for chip_step, which must follow it.
void chip_peek(chip *s, chip_out *out);
void chip_step(chip *s, const chip_in *in);
// The counters of a tile as of the last snapshot.
void chip_counters(const chip *s, int tile, uint64_t counters[NUM_EVENTS]);
// What the engine (engine_id, below NUM_ENGINES) of a tile waits for.
chip_wait chip_waits(const chip *s, int tile, int engine);
#endif
