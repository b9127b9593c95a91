// RTL behind the twin's shape: rtl/counters/counters.sv.
#ifndef TB_COUNTERS_DUT_H
#define TB_COUNTERS_DUT_H
#include "common/dut.h"
#include "counters/counters.h"
#ifdef __cplusplus
extern "C" {
#endif
// The snapshot that the ports show.
typedef struct {
    uint64_t snap[NUM_EVENTS];
    bool sticky[NUM_EVENTS];
} counters_dut_out;

typedef struct counters_dut counters_dut;
counters_dut *counters_dut_new(const dut_options *options);
// One cycle: out before the edge; NULL where it is not wanted.
void counters_dut_step(counters_dut *d, const tile_events *ev, bool snapshot, bool clear, counters_dut_out *out);
int counters_dut_errors(const counters_dut *d);
void counters_dut_free(counters_dut *d);
#ifdef __cplusplus
}
#endif
#endif
