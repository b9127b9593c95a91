// Cycles of MATMUL instructions in closed form: what rtl/matmul takes for them where every access is granted at once.
// Held to the twin, and so to the RTL, over random jobs (tests/matmul/matmul_time_test.c).
#ifndef MATMUL_MATMUL_TIME_H
#define MATMUL_MATMUL_TIME_H
#include <stdint.h>

#include "common/isa.h"

// Cycles of the weight port that a block of this job takes.
uint32_t matmul_load(const instr_t *job);

// Cycles from the one in which an idle engine takes the first of `n` MATMUL jobs, offered one behind the other, to the
// one in which the last result is granted, both included. For activations of up to 8 bits without initial values.
uint64_t matmul_time(const instr_t *jobs, uint32_t n);
#endif
