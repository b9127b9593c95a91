#include "counters/counters.h"

#include <string.h>

_Static_assert(sizeof(tile_events) == NUM_EVENTS * sizeof(uint16_t), "tile_events is an array of NUM_EVENTS");

void counters_reset(counters *s, int width) {
    memset(s, 0, sizeof *s);
    s->max = (1ull << width) - 1;
}

// Adds where a counter may saturate.
static void add_saturating(counters *s, const uint16_t *inc) {
    s->bound = 0;
    for (int e = 0; e < NUM_EVENTS; e++) {
        s->count[e] += inc[e];
        if (s->count[e] > s->max) {
            s->count[e] = s->max;
            s->sticky[e] = true;
        }
        if (s->count[e] > s->bound) s->bound = s->count[e];
    }
}

void counters_step(counters *s, const tile_events *ev, bool snapshot, bool clear) {
    const uint16_t *inc = (const uint16_t *)(const void *)ev;
    if (snapshot) {
        memcpy(s->snap, s->count, sizeof s->snap);
        memcpy(s->snap_sticky, s->sticky, sizeof s->snap_sticky);
    }
    if (clear) {
        memset(s->count, 0, sizeof s->count);
        memset(s->sticky, 0, sizeof s->sticky);
        s->bound = 0;
    }
    s->bound += UINT16_MAX;
    if (s->bound > s->max) {
        add_saturating(s, inc);
        return;
    }
    for (int e = 0; e < NUM_EVENTS; e++) s->count[e] += inc[e];
}
