#include "tile/tile_sems.h"

#include <string.h>

void tile_sems_reset(tile_sems *s) {
    memset(s, 0, sizeof *s);
}

void tile_sems_grant(const tile_sems *s, const tile_sem_op wait[NUM_ENGINES], bool gnt[NUM_ENGINES]) {
    uint32_t claimed = 0;
    for (int e = 0; e < NUM_ENGINES; e++) {
        gnt[e] = false;
        if (!wait[e].valid || wait[e].sem >= CFG_NUM_SEMS) continue;
        gnt[e] = !(claimed >> wait[e].sem & 1) && s->value[wait[e].sem] >= wait[e].count;
        claimed |= 1u << wait[e].sem;
    }
}

void tile_sems_step(tile_sems *s, const tile_sems_in *in, const bool gnt[NUM_ENGINES]) {
    for (int e = 0; e < NUM_ENGINES; e++) {
        const tile_sem_op *wait = &in->wait[e];
        if (!wait->valid) continue;
        if (wait->sem >= CFG_NUM_SEMS)
            s->error = true;
        else if (gnt[e])
            s->value[wait->sem] = (uint8_t)(s->value[wait->sem] - wait->count);
    }
    for (int e = 0; e < NUM_ENGINES; e++) {
        const tile_sem_op *signal = &in->signal[e];
        if (!signal->valid) continue;
        if (signal->sem >= CFG_NUM_SEMS) {
            s->error = true;
            continue;
        }
        unsigned sum = s->value[signal->sem] + (unsigned)signal->count;
        if (sum > UINT8_MAX) s->error = true;
        s->value[signal->sem] = (uint8_t)(sum > UINT8_MAX ? UINT8_MAX : sum);
    }
}
