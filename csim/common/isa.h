// Instructions of a tile: twin of rtl/common/isa_pkg.sv, which says what the fields mean.
#ifndef COMMON_ISA_H
#define COMMON_ISA_H
#include <stdbool.h>
#include <stdint.h>

#include "common/flit.h"
#include "common/mem.h"

typedef enum { ENG_MATMUL, ENG_MOVE, ENG_SEND, ENG_RECV, ENG_VECTOR, ENG_SEQ } engine_id;
enum { NUM_ENGINES = 5 };

typedef enum {
    OP_END,
    OP_WAIT,
    OP_SIGNAL,
    OP_MATMUL,
    OP_COPY,
    OP_LOAD,
    OP_STORE,
    OP_SEND,
    OP_MULTICAST,
    OP_REDUCE,
    OP_RECEIVE,
    OP_VADD = 32, // from here to 63: fields of vec_args
    OP_VSUB,
    OP_VMUL,
    OP_VFMA,
    OP_VMAX,
    OP_VMIN,
    OP_VLESS,
    OP_VSELECT,
    OP_VEXP2,
    OP_VRECIP,
    OP_VRSQRT,
    OP_VCOPY,
    OP_VSUM,
    OP_VLARGEST,
    OP_VBF16,
    OP_VQUANT,
    NUM_OPS
} op_id;

typedef enum { FMT_E2M1, FMT_INT4, FMT_E4M3, FMT_E5M2, FMT_INT8, FMT_BF16, NUM_FMTS } fmt_id;
typedef enum { SCALE_NONE, SCALE_E8M0, SCALE_BF16 } scale_id;

// Operand of a vector instruction.
typedef struct {
    uint16_t addr, line, seg;
    bool wide;
} vec_operand;

enum { VEC_A, VEC_B, VEC_C, VEC_OPERANDS };
enum { VEC_ARG_RULE = 8 }; // arg of OP_VQUANT: fmt_id + VEC_ARG_RULE * num_scale_rule

// What only vector instructions have.
typedef struct {
    uint8_t arg, segs, rows;
    uint16_t outer, lines;
    vec_operand of[VEC_OPERANDS];
} vec_args;

typedef struct {
    uint8_t op;     // op_id
    uint8_t engine; // engine_id
    uint8_t sem, count, tag;
    uint8_t fmt_a, fmt_w;     // fmt_id
    uint8_t scale_a, scale_w; // scale_id
    bool init;
    uint16_t m, n, k, rows;
    uint16_t addr_a, addr_as, addr_w, addr_ws, addr_c;
    uint32_t hbm_addr;
    uint8_t to; // flit_to
    rect_t rect;
    node_t root;
    vec_args vec;
} instr_t;

// Whether the instruction has the layout of isa_pkg::vec_instr_t.
static inline bool isa_is_vector(uint8_t op) {
    return op >> 5 == 1;
}

// The 256 bits of an instruction, in the layout of isa_pkg::instr_t or vec_instr_t (bit 0 of the struct is bit 0 of
// w[0]).
row_t isa_pack(const instr_t *instr);
instr_t isa_unpack(const row_t *row);
// Field by field, those of both layouts.
bool isa_equal(const instr_t *a, const instr_t *b);
#endif
