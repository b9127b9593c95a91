// One float32 lane of the vector engine, three cycles deep, an operation a cycle: twin of rtl/vector/vec_lane.sv around
// numerics/num_fp32.
#ifndef VECTOR_VEC_LANE_H
#define VECTOR_VEC_LANE_H
#include <stdbool.h>
#include <stdint.h>

// As vec_pkg::lane_op_t, which says what each does.
typedef enum {
    LANE_ADD,
    LANE_SUB,
    LANE_MUL,
    LANE_FMA,
    LANE_MAX,
    LANE_MIN,
    LANE_LESS,
    LANE_SELECT,
    LANE_EXP2,
    LANE_RECIP,
    LANE_RSQRT,
    LANE_PASS,
    NUM_LANE_OPS
} lane_op;

enum { LANE_STAGES = 3 };

typedef struct {
    bool valid;
    uint8_t op; // lane_op
    uint32_t a, b, c;
} vec_lane_in;

typedef struct {
    bool valid;
    uint32_t result; // only while valid
} vec_lane_out;

typedef struct {
    vec_lane_out stage[LANE_STAGES];
} vec_lane;

// The operation's result at once.
uint32_t vec_lane_result(lane_op op, uint32_t a, uint32_t b, uint32_t c);

void vec_lane_reset(vec_lane *s);
void vec_lane_peek(const vec_lane *s, vec_lane_out *out);
void vec_lane_step(vec_lane *s, const vec_lane_in *in);
#endif
