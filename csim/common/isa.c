#include "common/isa.h"

// Fields of isa_pkg::instr_t from the lowest bit up, behind the 8 reserved bits: X(field, bits).
#define FIELDS(X)                                                                                                      \
    X(root.y, 5)                                                                                                       \
    X(root.x, 5)                                                                                                       \
    X(rect.y1, 5)                                                                                                      \
    X(rect.x1, 5)                                                                                                      \
    X(rect.y0, 5)                                                                                                      \
    X(rect.x0, 5)                                                                                                      \
    X(to, 2)                                                                                                           \
    X(hbm_addr, 32)                                                                                                    \
    X(addr_c, 16)                                                                                                      \
    X(addr_ws, 16)                                                                                                     \
    X(addr_w, 16)                                                                                                      \
    X(addr_as, 16)                                                                                                     \
    X(addr_a, 16)                                                                                                      \
    X(rows, 16)                                                                                                        \
    X(k, 16)                                                                                                           \
    X(n, 16)                                                                                                           \
    X(m, 16)                                                                                                           \
    X(init, 1)                                                                                                         \
    X(scale_w, 2)                                                                                                      \
    X(scale_a, 2)                                                                                                      \
    X(fmt_w, 3)                                                                                                        \
    X(fmt_a, 3)                                                                                                        \
    X(tag, 5)                                                                                                          \
    X(count, 8)                                                                                                        \
    X(sem, 5)                                                                                                          \
    X(engine, 3)                                                                                                       \
    X(op, 8)
// The same of isa_pkg::vec_instr_t, behind 45 reserved bits.
#define VEC_OPERAND(X, which) X(which.wide, 1) X(which.seg, 16) X(which.line, 16) X(which.addr, 16)
#define VEC_FIELDS(X)                                                                                                  \
    VEC_OPERAND(X, vec.of[VEC_C])                                                                                      \
    VEC_OPERAND(X, vec.of[VEC_B])                                                                                      \
    VEC_OPERAND(X, vec.of[VEC_A])                                                                                      \
    X(vec.rows, 8)                                                                                                     \
    X(vec.segs, 8)                                                                                                     \
    X(vec.lines, 16)                                                                                                   \
    X(vec.outer, 16)                                                                                                   \
    X(vec.arg, 5)                                                                                                      \
    X(engine, 3)                                                                                                       \
    X(op, 8)
enum { RESERVED_BITS = 8, VEC_RESERVED_BITS = 45, OP_SHIFT = 56 };

static void put(row_t *row, int *at, uint64_t value, int bits) {
    value &= (1ull << bits) - 1;
    int word = *at / 64, shift = *at % 64;
    row->w[word] |= value << shift;
    if (shift + bits > 64) row->w[word + 1] |= value >> (64 - shift);
    *at += bits;
}

static uint64_t get(const row_t *row, int *at, int bits) {
    int word = *at / 64, shift = *at % 64;
    uint64_t value = row->w[word] >> shift;
    if (shift + bits > 64) value |= row->w[word + 1] << (64 - shift);
    *at += bits;
    return value & ((1ull << bits) - 1);
}

row_t isa_pack(const instr_t *instr) {
    row_t row = {{0}};
    int at = isa_is_vector(instr->op) ? VEC_RESERVED_BITS : RESERVED_BITS;
#define PUT(field, bits) put(&row, &at, (uint64_t)instr->field, bits);
    if (isa_is_vector(instr->op)) {
        VEC_FIELDS(PUT)
    } else {
        FIELDS(PUT)
    }
#undef PUT
    return row;
}

instr_t isa_unpack(const row_t *row) {
    instr_t instr = {0};
    bool vector = isa_is_vector((uint8_t)(row->w[ROW_WORDS - 1] >> OP_SHIFT));
    int at = vector ? VEC_RESERVED_BITS : RESERVED_BITS;
#define GET(field, bits) instr.field = (__typeof__(instr.field))get(row, &at, bits);
    if (vector) {
        VEC_FIELDS(GET)
    } else {
        FIELDS(GET)
    }
#undef GET
    return instr;
}

bool isa_equal(const instr_t *a, const instr_t *b) {
#define DIFFERS(field, bits)                                                                                           \
    if (a->field != b->field) return false;
    FIELDS(DIFFERS)
    VEC_FIELDS(DIFFERS)
#undef DIFFERS
    return true;
}
