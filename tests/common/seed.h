// Seeds and random numbers of the tests: fixed, replayed with SEED=n in the environment.
#ifndef TESTS_SEED_H
#define TESTS_SEED_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    uint64_t state;
} rng_t;

// The seed of this test: SEED of the environment, otherwise the one given; printed on stderr where it is not the
// default.
static inline rng_t rng_new(uint64_t seed) {
    const char *env = getenv("SEED");
    if (env) {
        seed = strtoull(env, NULL, 0);
        fprintf(stderr, "SEED=%llu\n", (unsigned long long)seed);
    }
    return (rng_t){seed * 0x9E3779B97F4A7C15u + 1};
}

// 64 random bits (splitmix64).
static inline uint64_t rng_next(rng_t *r) {
    uint64_t z = r->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Uniform in 0..n-1, n >= 1.
static inline uint64_t rng_below(rng_t *r, uint64_t n) {
    return rng_next(r) % n;
}
#endif
