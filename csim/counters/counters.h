// Activity counters of a tile: twin of rtl/counters/counters.sv, whose head says on which side of a snapshot events
// count.
#ifndef COUNTERS_COUNTERS_H
#define COUNTERS_COUNTERS_H
#include <stdbool.h>
#include <stdint.h>

#include "events.h"

enum { COUNTER_WIDTH = 48 };

// Events in the order of EV_*.
typedef struct {
    uint64_t max;   // 2^width - 1
    uint64_t bound; // no counter is above it
    uint64_t count[NUM_EVENTS], snap[NUM_EVENTS];
    bool sticky[NUM_EVENTS], snap_sticky[NUM_EVENTS];
} counters;

// width: bits of a counter, 1 to 48; COUNTER_WIDTH in a tile.
void counters_reset(counters *s, int width);
// One clock edge. The snapshot is read from snap and snap_sticky from the next cycle on.
void counters_step(counters *s, const tile_events *ev, bool snapshot, bool clear);
#endif
