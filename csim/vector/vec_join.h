// Partial results of a reduction: twin of rtl/vector/vec_join.sv.
#ifndef VECTOR_VEC_JOIN_H
#define VECTOR_VEC_JOIN_H
#include <stdbool.h>
#include <stdint.h>

enum { VEC_LANES = 8, VEC_PARTS = 4 };

typedef struct {
    uint32_t x[VEC_LANES];
} vec_lanes;

typedef struct {
    vec_lanes partial[VEC_PARTS];
    bool active;
    uint8_t count;
} vec_join;

typedef struct {
    bool valid;      // a joining enters the lanes, with a and b
    uint8_t part;    // the partial result that it makes
    bool final_join; // it makes the group's result
    vec_lanes a, b;
    bool release; // the next group's first step may be fired in the next cycle
} vec_join_out;

// Lane i from lane i ^ by.
vec_lanes vec_swap(const vec_lanes *x, int by);

void vec_join_reset(vec_join *s);
void vec_join_peek(const vec_join *s, vec_join_out *out);
// clear: a group begins, largest: of OP_VLARGEST. result: of the lanes for partial result `part`, or NULL; last: of the
// group's last step.
void vec_join_step(vec_join *s, bool clear, bool largest, const vec_lanes *result, int part, bool last);
#endif
