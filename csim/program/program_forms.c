// The table of operations: what the text form says and in which order.
#include "program/program_text.h"

#include <stddef.h>

const char *const engine_names[NUM_ENGINES] = {"matmul", "move", "send", "recv", "vec"};
const char *const fmt_names[NUM_FMTS] = {"e2m1", "int4", "e4m3", "e5m2", "int8", "bf16"};
const char *const scale_names[3] = {"none", "e8m0", "bf16"};
// In the order of num_scale_rule.
const char *const rule_names[NUM_RULES] = {"floor", "even", "ceil"};
const char *const side_names[2] = {"west", "east"};

#define PLAIN(key, kind, field, max)                                                                                   \
    { key, kind, sizeof(((instr_t *)0)->field), offsetof(instr_t, field), max }
#define NUMBER(key, field) PLAIN(key, ARG_NUMBER, field, 0xFFFF)
#define ADDR(key, field) PLAIN(key, ARG_ADDR, field, 0xFFFF)
#define SEM PLAIN(NULL, ARG_SEM, sem, 31)
#define COUNT PLAIN(NULL, ARG_COUNT, count, 255)
#define ROWS NUMBER("rows=", rows)
#define TAG PLAIN("tag=", ARG_NUMBER, tag, 31)
#define WALK                                                                                                           \
    NUMBER("outer=", vec.outer), NUMBER("lines=", vec.lines), PLAIN("segs=", ARG_NUMBER, vec.segs, 255),               \
        PLAIN("rows=", ARG_NUMBER, vec.rows, 255)
#define OPERAND(key, kind, which)                                                                                      \
    { key, kind, 0, offsetof(instr_t, vec.of) + (which) * sizeof(vec_operand), 0 }
#define A OPERAND("a=", ARG_OPERAND, VEC_A)
#define B OPERAND("b=", ARG_OPERAND, VEC_B)
#define C OPERAND("c=", ARG_STEPS, VEC_C)        // a row for each step
#define GROUP_C OPERAND("c=", ARG_GROUPS, VEC_C) // a row for each group
#define UNARY(name, op)                                                                                                \
    {                                                                                                                  \
        name, op, ENG_VECTOR, 6, {                                                                                     \
            C, A, WALK                                                                                                 \
        }                                                                                                              \
    }
#define BINARY(name, op)                                                                                               \
    {                                                                                                                  \
        name, op, ENG_VECTOR, 7, {                                                                                     \
            C, A, B, WALK                                                                                              \
        }                                                                                                              \
    }
#define OTHER(key, kind)                                                                                               \
    { key, kind, 0, 0, 0 }

const op_form op_forms[] = {
    {"wait", OP_WAIT, ENGINE_ANY, 2, {SEM, COUNT}},
    {"signal", OP_SIGNAL, ENGINE_ANY, 2, {SEM, COUNT}},
    {"matmul",
     OP_MATMUL,
     ENG_MATMUL,
     11,
     {NUMBER("m=", m), NUMBER("n=", n), NUMBER("k=", k), ADDR("a=", addr_a), ADDR("as=", addr_as), ADDR("w=", addr_w),
      ADDR("ws=", addr_ws), ADDR("c=", addr_c), OTHER("fmt=", ARG_FORMATS), OTHER("scales=", ARG_SCALES),
      PLAIN("init=", ARG_NUMBER, init, 1)}},
    {"copy", OP_COPY, ENG_MOVE, 3, {ADDR("c=", addr_c), ADDR("a=", addr_a), ROWS}},
    {"load", OP_LOAD, ENG_MOVE, 3, {ADDR("c=", addr_c), OTHER("from=", ARG_HBM), ROWS}},
    {"store", OP_STORE, ENG_MOVE, 3, {ADDR("a=", addr_a), OTHER("to=", ARG_HBM), ROWS}},
    {"send", OP_SEND, ENG_SEND, 5, {ADDR("a=", addr_a), OTHER("to=", ARG_TILE), ADDR("c=", addr_c), ROWS, TAG}},
    {"multicast",
     OP_MULTICAST,
     ENG_SEND,
     5,
     {ADDR("a=", addr_a), OTHER("to=", ARG_RECT), ADDR("c=", addr_c), ROWS, TAG}},
    {"reduce",
     OP_REDUCE,
     ENG_SEND,
     6,
     {ADDR("a=", addr_a), OTHER("over=", ARG_RECT), OTHER("root=", ARG_ROOT), ADDR("c=", addr_c), ROWS, TAG}},
    {"receive", OP_RECEIVE, ENG_RECV, 2, {TAG, ROWS}},
    BINARY("add", OP_VADD),
    BINARY("sub", OP_VSUB),
    BINARY("mul", OP_VMUL),
    BINARY("fma", OP_VFMA),
    BINARY("max", OP_VMAX),
    BINARY("min", OP_VMIN),
    BINARY("less", OP_VLESS),
    BINARY("select", OP_VSELECT),
    UNARY("exp2", OP_VEXP2),
    UNARY("recip", OP_VRECIP),
    UNARY("rsqrt", OP_VRSQRT),
    {"copy", OP_VCOPY, ENG_VECTOR, 7, {C, A, PLAIN("swap=", ARG_NUMBER, vec.arg, 7), WALK}},
    {"sum", OP_VSUM, ENG_VECTOR, 6, {GROUP_C, A, WALK}},
    {"largest", OP_VLARGEST, ENG_VECTOR, 6, {GROUP_C, A, WALK}},
    {"bf16", OP_VBF16, ENG_VECTOR, 6, {GROUP_C, A, WALK}},
    {"quant",
     OP_VQUANT,
     ENG_VECTOR,
     9,
     {GROUP_C, A, OPERAND("scales=", ARG_GROUPS, VEC_B), OTHER("fmt=", ARG_QUANT_FMT), OTHER("rule=", ARG_QUANT_RULE),
      WALK}},
};
const int num_op_forms = sizeof op_forms / sizeof *op_forms;
