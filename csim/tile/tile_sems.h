// Semaphores of a tile: twin of rtl/tile/tile_sems.sv, whose head states the rules.
#ifndef TILE_TILE_SEMS_H
#define TILE_TILE_SEMS_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/isa.h"

// A WAIT or SIGNAL of one engine.
typedef struct {
    bool valid;
    uint8_t sem, count;
} tile_sem_op;

typedef struct {
    tile_sem_op wait[NUM_ENGINES], signal[NUM_ENGINES]; // in the order of engine_id
} tile_sems_in;

typedef struct {
    uint8_t value[CFG_NUM_SEMS];
    bool error; // sticky, as the port error_o
} tile_sems;

void tile_sems_reset(tile_sems *s);
// The grants of this cycle's waits.
void tile_sems_grant(const tile_sems *s, const tile_sem_op wait[NUM_ENGINES], bool gnt[NUM_ENGINES]);
// One clock edge; gnt: the grants of this cycle, as tile_sems_grant gave them.
void tile_sems_step(tile_sems *s, const tile_sems_in *in, const bool gnt[NUM_ENGINES]);
#endif
