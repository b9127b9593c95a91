// Random numbers of synthetic workloads: the same on every machine for the same seed.
#ifndef WORKLOAD_RANDOM_H
#define WORKLOAD_RANDOM_H
#include <stdint.h>

typedef struct {
    uint64_t state;
} random_t;

// splitmix64
static inline uint64_t random_next(random_t *r) {
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// A generator of its own for one thing among others: mix the names of the thing in, one after the other.
static inline random_t random_of(random_t r, uint64_t name) {
    random_t mixed = {r.state ^ (name + 1) * 0xD1342543DE82EF95u};
    return (random_t){random_next(&mixed)};
}

// Uniform in [0, 1).
static inline double random_uniform(random_t *r) {
    return (double)(random_next(r) >> 11) * 0x1p-53;
}

// Mean 0, variance 1, nearly normal up to 3.4: the sum of four uniform numbers.
static inline float random_normal(random_t *r) {
    uint64_t z = random_next(r);
    int32_t sum =
        (int32_t)(z & 0xFFFF) + (int32_t)(z >> 16 & 0xFFFF) + (int32_t)(z >> 32 & 0xFFFF) + (int32_t)(z >> 48);
    return (float)(sum - 131070) * (1.7320508f / 65536.0f);
}
#endif
