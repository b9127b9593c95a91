// The syntax of each operation, one table for parser and printer.
#ifndef PROGRAM_PROGRAM_TEXT_H
#define PROGRAM_PROGRAM_TEXT_H
#include <stdbool.h>
#include <stdint.h>

#include "common/isa.h"
#include "numerics/num.h"

typedef enum {
    ARG_SEM,     // s3, without a key
    ARG_COUNT,   // 1, without a key
    ARG_NUMBER,  // m=8
    ARG_ADDR,    // a=0x0400: a number that is printed in base 16
    ARG_FORMATS, // fmt=e4m3*e2m1: activations * weights
    ARG_SCALES,  // scales=e8m0,bf16: activations, weights
    ARG_HBM,     // from=west:0:0x100: side, row of the mesh, HBM row
    ARG_TILE,    // to=1,0
    ARG_RECT,    // to=0,0..1,1
    ARG_ROOT,    // root=1,0
    // of vector instructions: addresses, lines and segments of vec_operand
    ARG_OPERAND,   // a=0x0400:4:1, a row for each step, or a=0x0400:4:1:group
    ARG_STEPS,     // c=0x0400:4:1, a row for each step
    ARG_GROUPS,    // the same, a row for each group
    ARG_QUANT_FMT, // fmt=e4m3: into the low bits of arg
    ARG_QUANT_RULE // rule=floor: into the high bits of arg
} arg_kind;

enum { MAX_ARGS = 12, ENGINE_ANY = 255, NUM_RULES = NUM_CEIL + 1 };

// One operand; offset, bytes and max describe the field of instr_t for the kinds that are plain numbers.
typedef struct {
    const char *key; // "m=", NULL for the kinds without a key
    uint8_t kind, bytes;
    uint16_t offset;
    uint32_t max;
} arg_form;

typedef struct {
    const char *name;
    uint8_t op, engine, num_args;
    arg_form args[MAX_ARGS];
} op_form;

extern const op_form op_forms[];
extern const int num_op_forms;
extern const char *const engine_names[NUM_ENGINES];
extern const char *const fmt_names[NUM_FMTS];
extern const char *const scale_names[3];
extern const char *const rule_names[NUM_RULES];
extern const char *const side_names[2]; // TO_WEST, TO_EAST

// Whether the text form (not `raw`) holds every field of this instruction.
bool program_has_form(const instr_t *instr);
// "matmul.wait": engine and operation, "?" where there is no such thing.
void program_op_name(const instr_t *instr, char name[32]);
// Parses one instruction, zero-terminated and without comment. False where it is none; see program_parse.c.
bool program_parse_instr(const char *text, instr_t *out);
#endif
