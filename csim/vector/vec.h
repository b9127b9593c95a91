// Vector engine of a tile: twin of rtl/vector/vec.sv, bit for bit and cycle for cycle; the head there says what it
// promises.
#ifndef VECTOR_VEC_H
#define VECTOR_VEC_H
#include "common/engine_front.h"
#include "common/mem.h"
#include "events.h"
#include "numerics/mx_quantize.h"
#include "vector/vec_join.h"
#include "vector/vec_lane.h"
#include "vector/vec_walk.h"

enum { VEC_READS = VEC_OPERANDS, VEC_W = VEC_OPERANDS, VEC_PORTS, VEC_FIFO = 8 };

// What becomes of the lanes' results, as vec_pkg::kind_t.
typedef enum { VEC_ROWS, VEC_REDUCE, VEC_BF16, VEC_QUANT } vec_kind;

typedef struct {
    bool own; // an operation of this engine
    lane_op lane;
    vec_kind kind;
    bool uses[VEC_OPERANDS]; // as an operand that is read
} vec_facts;

vec_facts vec_facts_of(uint8_t op);
// Whether a group has the steps, and VQUANT the format, that the operation needs.
bool vec_fits(const vec_facts *facts, const vec_args *args);

typedef struct {
    bool instr_valid;
    instr_t instr;
    mem_rsp rsp[VEC_PORTS];
    bool wait_gnt;
} vec_in;

typedef struct {
    bool instr_ready;
    mem_req req[VEC_PORTS]; // addr and data only where valid
    bool wait_valid;
    uint8_t wait_sem, wait_count;
    bool signal_valid;
    uint8_t signal_sem, signal_count;
    bool busy;
    bool error; // sticky: a poisoned read, or no instruction of this engine
} vec_out;

// A step on its way, as vec_pkg::step_t.
typedef struct {
    bool valid, first, last, tail, final_join, scale_due;
    uint8_t part, byte;
    uint16_t addr, scale_addr;
} vec_way;

typedef struct {
    vec_way way;
    vec_lanes result;
} vec_stage;

typedef struct {
    uint16_t addr;
    row_t row;
} vec_write;

typedef struct {
    engine_front front;
    uint8_t op, arg; // of the instruction taken
    vec_facts facts;
    vec_walk walk;
    bool running, held, error;
    bool got[VEC_READS];
    uint8_t part, reserved;
    vec_way fired[2]; // one and two cycles ago
    vec_lanes operand[VEC_READS];
    vec_stage stage[LANE_STAGES];
    vec_join join;
    vec_lanes kept[3], last_result;
    uint16_t sum_addr;
    mx_quantize quantize;
    vec_way block[2];
    row_t scales;
    bool scale_push;
    uint16_t scale_addr;
    vec_write fifo[VEC_FIFO];
    uint8_t rd, count;
} vec;

void vec_reset(vec *s);
// Outputs of this cycle.
void vec_peek(const vec *s, vec_out *out);
// One clock edge; ev: events of the cycle that ends.
void vec_step(vec *s, const vec_in *in, vec_events *ev);
#endif
