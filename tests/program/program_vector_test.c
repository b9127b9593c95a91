#include "program/checks.h"

// Written for the sizes of tiny: 2048 SRAM rows.
_Static_assert(CFG_BANKS *CFG_BANK_ROWS == 2048, "the sizes of tiny");

Test(program_vector, accepts_every_operation) {
    accepts("tile 0 0:\n"
            "vec.add c=0:8:4 a=0x100:8:4 b=0x200:1:0:group outer=1 lines=4 segs=2 rows=4\n"
            "vec.sub c=0:8:4 a=0x100:8:4 b=0x200:8:4 outer=1 lines=4 segs=2 rows=4\n"
            "vec.mul c=0:8:4 a=0:8:4 b=0:8:4 outer=1 lines=4 segs=2 rows=4\n"
            "vec.fma c=0:8:4 a=0x100:8:4 b=0x200:0:0:group outer=1 lines=4 segs=2 rows=4\n"
            "vec.max c=0:1:1 a=0x100:1:1 b=0x200:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.min c=0:1:1 a=0x100:1:1 b=0x200:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.less c=0:1:1 a=0x100:1:1 b=0x200:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.select c=0:1:1 a=0x100:1:1 b=0x200:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.exp2 c=0:1:1 a=0x100:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.recip c=0:1:1 a=0x100:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.rsqrt c=0:1:1 a=0x100:1:1 outer=1 lines=1 segs=1 rows=1\n"
            "vec.copy c=0:1:1 a=0x100:1:1 swap=7 outer=1 lines=1 segs=1 rows=1\n"
            "vec.sum c=0:1:4 a=0x100:8:0 outer=1 lines=4 segs=1 rows=8\n"
            "vec.largest c=0:1:4 a=0x100:8:0 outer=1 lines=4 segs=1 rows=8\n"
            "vec.bf16 c=0:1:4 a=0x100:2:0 outer=1 lines=4 segs=1 rows=2\n"
            "vec.quant c=0:1:33 a=0x100:4:132 scales=0x400:1:2 fmt=e4m3 rule=even outer=2 lines=33 segs=1 rows=4\n"
            "vec.signal s0 1\n"
            "vec.wait s0 1\n"
            "end\n");
}

#define WALK " outer=2 lines=3 segs=4 rows=5"

// Strides of c and a in the loops of WALK; NULL: accepted.
static void exp2_of(const char *c, const char *a, const char *finding) {
    char text[256];
    snprintf(text, sizeof text, "vec.exp2 c=%s a=%s" WALK, c, a);
    one(text, "vec.exp2", finding);
}

// The last row of c: addr + 2 line + 7 seg + 4.
Test(program_vector, rows_end_where_the_sram_ends) {
    exp2_of("0x7AA:40:5", "0:40:5", "the result: rows 0x07aa to 0x0821 leave the SRAM of 2048 rows");
    exp2_of("1928:40:5", "0:40:5", NULL);
    exp2_of("1929:40:5", "0:40:5", "the result: rows 0x0789 to 0x0800 leave the SRAM of 2048 rows");
    exp2_of("100:40:5", "1:1021:0", NULL);
    exp2_of("100:40:5", "1:1021:1", "a: rows 0x0001 to 0x0806 leave the SRAM of 2048 rows");
    exp2_of("0:40:5", "65535:65535:65535", "a: rows 0xffff to 0x9fffa leave the SRAM of 2048 rows");
    exp2_of("0:40:5", "2045:1:0:group", NULL);
    exp2_of("0:40:5", "2046:1:0:group", "a: rows 0x07fe to 0x0800 leave the SRAM of 2048 rows");
    exp2_of("0:40:5", "2044:1:1:group", NULL); // a group a line of each of the two outer rounds
    exp2_of("0:40:5", "2045:1:1:group", "a: rows 0x07fd to 0x0800 leave the SRAM of 2048 rows");
}

Test(program_vector, no_result_row_is_written_twice) {
    const char *twice = "the result: a row is written more than once";
    exp2_of("0x400:40:5", "0:0:0", NULL);
    exp2_of("0x400:39:5", "0:0:0", twice);
    exp2_of("0x400:40:4", "0:0:0", twice);
    exp2_of("0x400:0:5", "0:0:0", twice);
    exp2_of("0x400:5:15", "0:0:0", NULL); // lines within the segments' stride
    one("vec.sum c=0:0:1 a=100:1:1" WALK, "vec.sum", twice);
    one("vec.sum c=0:1:3 a=100:1:1" WALK, "vec.sum", NULL);
    one("vec.sum c=0:1:2 a=100:1:1" WALK, "vec.sum", twice);
}

Test(program_vector, results_lie_over_what_walks_as_they_do_only) {
    exp2_of("0:40:5", "0:40:5", NULL);
    exp2_of("0:40:5", "0:39:5", "rows of the result are rows of a too, which walks otherwise");
    exp2_of("0:40:5", "0:40:4", "rows of the result are rows of a too, which walks otherwise");
    exp2_of("0:40:5", "1:40:5", "rows of the result are rows of a too, which walks otherwise");
    exp2_of("0:40:5", "119:0:0:group", "rows of the result are rows of a too, which walks otherwise");
    exp2_of("0:40:5", "120:0:0:group", NULL);
    exp2_of("0:80:10", "5:80:10", NULL); // rows between each other's
    one("vec.add c=0:40:5 a=0:40:5 b=60:0:0:group" WALK, "vec.add",
        "rows of the result are rows of b too, which walks otherwise");
    one("vec.sum c=20:1:3 a=0:2:1" WALK, "vec.sum", NULL);
    one("vec.sum c=15:1:3 a=0:2:1" WALK, "vec.sum", "rows of the result are rows of a too, which walks otherwise");
    one("vec.sum c=0:1:3 a=0:1:3:group" WALK, "vec.sum", NULL);
}

#define QUANT " fmt=e4m3 rule=floor outer=1 lines=33 segs=1 rows=4"
Test(program_vector, scales_are_a_row_for_32_lines) {
    one("vec.quant c=0x400:1:0 a=0:4:0 scales=2046:1:0" QUANT, "vec.quant", NULL);
    one("vec.quant c=0x400:1:0 a=0:4:0 scales=2047:1:0" QUANT, "vec.quant",
        "the scales: rows 0x07ff to 0x0800 leave the SRAM of 2048 rows");
    one("vec.quant c=0x400:1:0 a=0:4:0 scales=0x7f0:0:0" QUANT, "vec.quant",
        "the scales: a row is written more than once");
    one("vec.quant c=0x400:1:0 a=0:4:0 scales=0x420:1:0" QUANT, "vec.quant",
        "rows of the scales are rows of the result too, which walks otherwise");
    one("vec.quant c=0x400:1:0 a=0:4:0 scales=0x400:1:0" QUANT, "vec.quant",
        "rows of the scales are rows of the result too, which walks otherwise");
    one("vec.quant c=0x400:1:0 a=0:4:0 scales=131:1:0" QUANT, "vec.quant",
        "rows of the scales are rows of a too, which walks otherwise");
}

Test(program_vector, sizes) {
    const char *zero = "outer, lines, segs and rows must be 1 or more";
    one("vec.sum c=0:1:3 a=9:1:1 outer=0 lines=1 segs=1 rows=1", "vec.sum", zero);
    one("vec.sum c=0:1:3 a=9:1:1 outer=1 lines=0 segs=1 rows=1", "vec.sum", zero);
    one("vec.sum c=0:1:3 a=9:1:1 outer=1 lines=1 segs=0 rows=1", "vec.sum", zero);
    one("vec.sum c=0:1:3 a=9:1:1 outer=1 lines=1 segs=1 rows=0", "vec.sum", zero);
    one("vec.bf16 c=0:1:3 a=9:1:1 outer=1 lines=1 segs=2 rows=2", "vec.bf16", "segs * rows must be 2, it is 4");
    one("vec.bf16 c=0:1:3 a=9:1:1 outer=1 lines=1 segs=2 rows=1", "vec.bf16", NULL);
    one("vec.quant c=0:1:3 a=9:1:1 scales=8:0:0 fmt=e2m1 rule=ceil outer=1 lines=1 segs=1 rows=2", "vec.quant",
        "segs * rows must be 4, it is 2");
    one("vec.quant c=0:1:3 a=9:1:1 scales=8:0:0 fmt=int8 rule=ceil outer=1 lines=1 segs=2 rows=2", "vec.quant", NULL);
    one("vec.quant c=0:1:3 a=9:1:1 scales=8:0:0 fmt=int4 rule=ceil outer=1 lines=1 segs=2 rows=2", "vec.quant",
        "the formats are e2m1, e4m3, e5m2 and int8");
}
