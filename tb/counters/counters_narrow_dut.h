// RTL behind the twin's shape: rtl/counters/counters.sv with counters of NARROW_WIDTH bits, which saturate within a
// test.
#ifndef TB_COUNTERS_NARROW_DUT_H
#define TB_COUNTERS_NARROW_DUT_H
#include "counters/counters_dut.h"
enum { NARROW_WIDTH = 18 };
#endif
