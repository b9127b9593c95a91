#include "common/isa.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/seed.h"

// Bits high..low of a row, bit by bit.
static uint64_t bits(const row_t *row, int high, int low) {
    uint64_t value = 0;
    for (int b = high; b >= low; b--) value = value << 1 | (row->w[b / 64] >> (b % 64) & 1);
    return value;
}

typedef struct {
    const char *name;
    int high, low;
    instr_t ones; // this field all ones, the others zero (but the operation)
} field_at;

// The fields follow on each other downward from bit `next`; `always` are the bits of the operation. Returns the bit
// below the last field.
static int assert_fields(const field_at *fields, size_t count, int next, uint64_t always) {
    for (size_t f = 0; f < count; f++) {
        cr_assert_eq(fields[f].high, next, "%s", fields[f].name);
        next = fields[f].low - 1;
        row_t row = isa_pack(&fields[f].ones);
        row.w[ROW_WORDS - 1] ^= always;
        for (int b = 0; b < ROW_BITS; b++)
            cr_assert_eq(bits(&row, b, b), b <= fields[f].high && b >= fields[f].low, "%s: bit %d is %llu",
                         fields[f].name, b, (unsigned long long)bits(&row, b, b));
    }
    return next;
}

// The positions follow from isa_pkg::instr_t by hand: the first field is the most significant, 256 bits in all.
Test(isa, every_field_lies_where_the_packed_struct_has_it) {
    static const field_at fields[] = {
        {"op", 255, 248, {.op = 0xFF}},
        {"engine", 247, 245, {.engine = 7}},
        {"sem", 244, 240, {.sem = 31}},
        {"count", 239, 232, {.count = 0xFF}},
        {"tag", 231, 227, {.tag = 31}},
        {"fmt_a", 226, 224, {.fmt_a = 7}},
        {"fmt_w", 223, 221, {.fmt_w = 7}},
        {"scale_a", 220, 219, {.scale_a = 3}},
        {"scale_w", 218, 217, {.scale_w = 3}},
        {"init", 216, 216, {.init = true}},
        {"m", 215, 200, {.m = 0xFFFF}},
        {"n", 199, 184, {.n = 0xFFFF}},
        {"k", 183, 168, {.k = 0xFFFF}},
        {"rows", 167, 152, {.rows = 0xFFFF}},
        {"addr_a", 151, 136, {.addr_a = 0xFFFF}},
        {"addr_as", 135, 120, {.addr_as = 0xFFFF}},
        {"addr_w", 119, 104, {.addr_w = 0xFFFF}},
        {"addr_ws", 103, 88, {.addr_ws = 0xFFFF}},
        {"addr_c", 87, 72, {.addr_c = 0xFFFF}},
        {"hbm_addr", 71, 40, {.hbm_addr = 0xFFFFFFFF}},
        {"to", 39, 38, {.to = 3}},
        {"rect_x0", 37, 33, {.rect = {.x0 = 31}}},
        {"rect_y0", 32, 28, {.rect = {.y0 = 31}}},
        {"rect_x1", 27, 23, {.rect = {.x1 = 31}}},
        {"rect_y1", 22, 18, {.rect = {.y1 = 31}}},
        {"root_x", 17, 13, {.root = {.x = 31}}},
        {"root_y", 12, 8, {.root = {.y = 31}}},
    };
    cr_assert_eq(assert_fields(fields, sizeof fields / sizeof *fields, 255, 0), 7); // the reserved bits
}

// The same of isa_pkg::vec_instr_t, which operations 32 to 63 have.
Test(isa, every_field_of_a_vector_instruction_lies_where_the_packed_struct_has_it) {
    enum { OP = 32 };
    static const field_at fields[] = {
        {"engine", 247, 245, {.op = OP, .engine = 7}},
        {"arg", 244, 240, {.op = OP, .vec = {.arg = 31}}},
        {"outer", 239, 224, {.op = OP, .vec = {.outer = 0xFFFF}}},
        {"lines", 223, 208, {.op = OP, .vec = {.lines = 0xFFFF}}},
        {"segs", 207, 200, {.op = OP, .vec = {.segs = 0xFF}}},
        {"rows", 199, 192, {.op = OP, .vec = {.rows = 0xFF}}},
        {"a.addr", 191, 176, {.op = OP, .vec = {.of = {{.addr = 0xFFFF}}}}},
        {"a.line", 175, 160, {.op = OP, .vec = {.of = {{.line = 0xFFFF}}}}},
        {"a.seg", 159, 144, {.op = OP, .vec = {.of = {{.seg = 0xFFFF}}}}},
        {"a.wide", 143, 143, {.op = OP, .vec = {.of = {{.wide = true}}}}},
        {"b.addr", 142, 127, {.op = OP, .vec = {.of = {[VEC_B] = {.addr = 0xFFFF}}}}},
        {"b.line", 126, 111, {.op = OP, .vec = {.of = {[VEC_B] = {.line = 0xFFFF}}}}},
        {"b.seg", 110, 95, {.op = OP, .vec = {.of = {[VEC_B] = {.seg = 0xFFFF}}}}},
        {"b.wide", 94, 94, {.op = OP, .vec = {.of = {[VEC_B] = {.wide = true}}}}},
        {"c.addr", 93, 78, {.op = OP, .vec = {.of = {[VEC_C] = {.addr = 0xFFFF}}}}},
        {"c.line", 77, 62, {.op = OP, .vec = {.of = {[VEC_C] = {.line = 0xFFFF}}}}},
        {"c.seg", 61, 46, {.op = OP, .vec = {.of = {[VEC_C] = {.seg = 0xFFFF}}}}},
        {"c.wide", 45, 45, {.op = OP, .vec = {.of = {[VEC_C] = {.wide = true}}}}},
    };
    cr_assert_eq(assert_fields(fields, sizeof fields / sizeof *fields, 247, (uint64_t)OP << 56), 44);
}

// Fields longer than a bit: their own order is kept.
Test(isa, values_keep_their_bit_order) {
    instr_t i = {.op = 0x81, .sem = 0x13, .count = 0xA5, .m = 0x1234, .hbm_addr = 0x89ABCDEF, .addr_as = 0xC001};
    row_t row = isa_pack(&i);
    cr_assert_eq(bits(&row, 255, 248), 0x81);
    cr_assert_eq(bits(&row, 244, 240), 0x13);
    cr_assert_eq(bits(&row, 239, 232), 0xA5);
    cr_assert_eq(bits(&row, 215, 200), 0x1234);
    cr_assert_eq(bits(&row, 135, 120), 0xC001);   // across words 1 and 2
    cr_assert_eq(bits(&row, 71, 40), 0x89ABCDEF); // across words 0 and 1
}

Test(isa, round_trip_of_random_rows_keeps_all_but_the_reserved_bits) {
    rng_t rng = rng_new(5);
    for (int n = 0; n < 20000; n++) {
        row_t row, back;
        for (int w = 0; w < ROW_WORDS; w++) row.w[w] = rng_next(&rng);
        instr_t i = isa_unpack(&row);
        back = isa_pack(&i);
        row.w[0] &= isa_is_vector(i.op) ? ~0ull << 45 : ~0xFFull;
        cr_assert_arr_eq(back.w, row.w, sizeof row.w, "row %d", n);
    }
}
