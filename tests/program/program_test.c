#include "program/program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "common/seed.h"
#include "program/program_text.h"

static program p;
static char error[PROGRAM_ERROR];

static void fresh(void) {
    program_init(&p);
    error[0] = '\0';
}

static void gone(void) {
    program_free(&p);
}

TestSuite(program, .init = fresh, .fini = gone);

static const char *const sample = "# every operation once\n"
                                  "tile 0 1:\n"
                                  "    move.load c=0x0010 from=west:1:0x100 rows=16\n"
                                  "    move.signal s0 1\n"
                                  "    matmul.wait s0 1\n"
                                  "    matmul.matmul m=8 n=64 k=33 a=0x0010 as=0x40 w=0x50 ws=0x150 c=0x200 "
                                  "fmt=e4m3*e2m1 scales=e8m0,bf16 init=1\n"
                                  "    matmul.signal s31 255\n"
                                  "    move.copy c=7 a=9 rows=2 # a comment\n"
                                  "    move.store rows=3 a=0x0011 to=east:0:0xffffffff\n"
                                  "    send.send a=1 to=1,0 c=2 rows=3 tag=4\n"
                                  "    send.multicast a=1 to=0,0..1,1 c=2 rows=3 tag=5\n"
                                  "    send.reduce a=1 over=0,0..1,1 root=1,0 c=2 rows=3 tag=6\n"
                                  "    recv.receive tag=4 rows=65535\n"
                                  "    end\n"
                                  "\r\n"
                                  "tile 1 0:\r\n"
                                  "\tend\r\n";

static bool parse(const char *text) {
    program_free(&p);
    return program_parse(&p, "t", text, strlen(text), error);
}

static char *print(const program *q) {
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    program_print(q, f);
    fclose(f);
    return text;
}

// The same instructions on the same tiles, all 256 bits.
static void assert_same(const program *a, const program *b) {
    for (int t = 0; t < PROGRAM_TILES; t++) {
        cr_assert_eq(a->tiles[t].count, b->tiles[t].count, "tile %d", t);
        for (uint32_t i = 0; i < a->tiles[t].count; i++) {
            row_t x = isa_pack(&a->tiles[t].instrs[i]), y = isa_pack(&b->tiles[t].instrs[i]);
            cr_assert_arr_eq(x.w, y.w, sizeof x.w, "tile %d, instruction %u", t, i);
        }
    }
}

static void assert_round_trip(const program *q) {
    program back;
    program_init(&back);
    char *text = print(q);
    cr_assert(program_parse(&back, "printed", text, strlen(text), error), "%s in\n%s", error, text);
    assert_same(q, &back);
    char *again = print(&back);
    cr_assert_str_eq(text, again);
    free(text);
    free(again);
    program_free(&back);
}

Test(program, reads_every_operation) {
    cr_assert(parse(sample), "%s", error);
    const program_tile *t = &p.tiles[CFG_TILES_X];
    cr_assert_eq(t->count, 12);
    cr_assert_eq(p.tiles[1].count, 1);
    const instr_t *i = t->instrs;
    cr_assert(i[0].op == OP_LOAD && i[0].engine == ENG_MOVE && i[0].addr_c == 16 && i[0].to == TO_WEST &&
              i[0].rect.y0 == 1 && i[0].hbm_addr == 0x100 && i[0].rows == 16);
    cr_assert(i[1].op == OP_SIGNAL && i[1].engine == ENG_MOVE && i[1].sem == 0 && i[1].count == 1);
    cr_assert(i[2].op == OP_WAIT && i[2].engine == ENG_MATMUL);
    cr_assert(i[3].op == OP_MATMUL && i[3].m == 8 && i[3].n == 64 && i[3].k == 33 && i[3].addr_a == 0x10 &&
              i[3].addr_as == 0x40 && i[3].addr_w == 0x50 && i[3].addr_ws == 0x150 && i[3].addr_c == 0x200);
    cr_assert(i[3].fmt_a == FMT_E4M3 && i[3].fmt_w == FMT_E2M1 && i[3].scale_a == SCALE_E8M0 &&
              i[3].scale_w == SCALE_BF16 && i[3].init);
    cr_assert(i[4].sem == 31 && i[4].count == 255);
    cr_assert(i[5].op == OP_COPY && i[5].addr_a == 9 && i[5].addr_c == 7 && i[5].rows == 2);
    cr_assert(i[6].op == OP_STORE && i[6].to == TO_EAST && i[6].hbm_addr == 0xFFFFFFFF && i[6].addr_a == 0x11);
    cr_assert(i[7].op == OP_SEND && i[7].rect.x0 == 1 && i[7].rect.x1 == 1 && i[7].rect.y1 == 0 && i[7].tag == 4);
    cr_assert(i[8].op == OP_MULTICAST && i[8].rect.x0 == 0 && i[8].rect.x1 == 1 && i[8].rect.y1 == 1);
    cr_assert(i[9].op == OP_REDUCE && i[9].root.x == 1 && i[9].root.y == 0 && i[9].tag == 6);
    cr_assert(i[10].op == OP_RECEIVE && i[10].engine == ENG_RECV && i[10].rows == 65535);
    cr_assert(i[11].op == OP_END && i[11].engine == ENG_SEQ);
    cr_assert(t->lines[0] == 3 && t->lines[11] == 14 && p.tiles[1].lines[0] == 17);
}

Test(program, reads_vector_instructions) {
    cr_assert(parse("tile 0 0:\n"
                    "vec.fma c=0x10:1:2 a=3:4:5:group b=0xFFFF:65535:6 outer=65535 lines=7 segs=255 rows=8\n"
                    "vec.copy swap=5 a=0:0:0 c=0:0:0 outer=1 lines=1 segs=1 rows=1\n"
                    "vec.quant c=1:2:3 scales=4:5:6 a=7:8:9 fmt=int8 rule=ceil outer=1 lines=1 segs=1 rows=4\n"
                    "vec.sum c=1:2:3 a=7:8:9:group outer=1 lines=1 segs=1 rows=4\n"
                    "vec.wait s1 2\n"),
              "%s", error);
    const instr_t *i = p.tiles[0].instrs;
    const vec_operand *of = i[0].vec.of;
    cr_assert(i[0].op == OP_VFMA && i[0].engine == ENG_VECTOR && i[0].vec.outer == 65535 && i[0].vec.lines == 7 &&
              i[0].vec.segs == 255 && i[0].vec.rows == 8 && i[0].vec.arg == 0);
    cr_assert(of[VEC_A].addr == 3 && of[VEC_A].line == 4 && of[VEC_A].seg == 5 && !of[VEC_A].wide);
    cr_assert(of[VEC_B].addr == 0xFFFF && of[VEC_B].line == 65535 && of[VEC_B].seg == 6 && of[VEC_B].wide);
    cr_assert(of[VEC_C].addr == 0x10 && of[VEC_C].line == 1 && of[VEC_C].seg == 2 && of[VEC_C].wide);
    cr_assert(i[1].op == OP_VCOPY && i[1].vec.arg == 5);
    cr_assert(i[2].op == OP_VQUANT && i[2].vec.arg == FMT_INT8 + 8 * NUM_CEIL && i[2].vec.of[VEC_B].line == 5 &&
              !i[2].vec.of[VEC_B].wide && !i[2].vec.of[VEC_C].wide && i[2].vec.of[VEC_A].wide);
    cr_assert(i[3].op == OP_VSUM && !i[3].vec.of[VEC_C].wide && !i[3].vec.of[VEC_A].wide);
    cr_assert(i[4].op == OP_WAIT && i[4].engine == ENG_VECTOR && i[4].sem == 1);
    assert_round_trip(&p);
    char text[PROGRAM_LINE];
    program_print_instr(&i[2], text);
    cr_assert_str_eq(text, "vec.quant c=0x0001:2:3 a=0x0007:8:9 scales=0x0004:5:6 fmt=int8 rule=ceil outer=1 lines=1 "
                           "segs=1 rows=4");
    program_print_instr(&i[0], text);
    cr_assert_str_eq(text, "vec.fma c=0x0010:1:2 a=0x0003:4:5:group b=0xffff:65535:6 outer=65535 lines=7 segs=255 "
                           "rows=8");
}

Test(program, a_field_of_the_other_layout_is_not_lost) {
    cr_assert_not(program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_VADD, .engine = ENG_VECTOR, .m = 1}, 0));
    cr_assert_not(program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_COPY, .vec = {.rows = 1}}, 0));
    cr_assert_not(program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_VCOPY, .vec = {.arg = 32}}, 0));
    cr_assert(program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_VCOPY, .vec = {.arg = 31}}, 0));
}

Test(program, prints_what_it_read) {
    cr_assert(parse(sample), "%s", error);
    assert_round_trip(&p);
    char text[PROGRAM_LINE];
    program_print_instr(&p.tiles[CFG_TILES_X].instrs[3], text);
    cr_assert_str_eq(text, "matmul.matmul m=8 n=64 k=33 a=0x0010 as=0x0040 w=0x0050 ws=0x0150 c=0x0200 fmt=e4m3*e2m1 "
                           "scales=e8m0,bf16 init=1");
}

// A random instruction in the form of a random operation: a text with random values, parsed.
static instr_t random_form(rng_t *rng) {
    instr_t i;
    row_t row;
    for (;;) {
        for (int w = 0; w < ROW_WORDS; w++) row.w[w] = rng_next(rng);
        i = isa_unpack(&row);
        char text[PROGRAM_LINE];
        unsigned x = i.rect.x0, y = i.rect.y0;
        switch (rng_below(rng, 8)) {
        case 0:
            snprintf(text, sizeof text, "%s.wait s%u %u", engine_names[i.engine % NUM_ENGINES], i.sem, i.count);
            break;
        case 1:
            snprintf(text, sizeof text, "move.load c=%u from=east:%u:%u rows=%u", i.addr_c, y, i.hbm_addr, i.rows);
            break;
        case 2:
            snprintf(text, sizeof text, "send.send c=%u a=%u tag=%u rows=%u to=%u,%u", i.addr_c, i.addr_a, i.tag,
                     i.rows, x, y);
            break;
        case 3:
            snprintf(text, sizeof text, "recv.receive rows=0x%X tag=0x%x", i.rows, i.tag);
            break;
        case 4:
            snprintf(text, sizeof text, "send.reduce c=%u a=%u tag=%u rows=%u over=%u,%u..%u,%u root=%u,%u", i.addr_c,
                     i.addr_a, i.tag, i.rows, x, y, i.rect.x1, i.rect.y1, i.root.x, i.root.y);
            break;
        case 5:
            snprintf(text, sizeof text, "vec.less c=%u:%u:%u a=%u:%u:0x%x%s b=%u:1:2 outer=%u lines=%u segs=%u rows=3",
                     i.m, i.n, i.k, i.addr_a, i.addr_as, i.addr_w, i.init ? ":group" : "", i.addr_ws, i.rows, i.addr_c,
                     i.count);
            break;
        case 6:
            snprintf(text, sizeof text,
                     "vec.quant c=%u:%u:%u a=%u:9:8:group scales=%u:3:4 outer=%u lines=1 segs=1 rows=%u fmt=%s rule=%s",
                     i.m, i.n, i.k, i.addr_a, i.addr_as, i.addr_w, i.count, fmt_names[i.fmt_a % NUM_FMTS],
                     rule_names[i.scale_a % NUM_RULES]);
            break;
        default:
            snprintf(text, sizeof text,
                     "matmul.matmul m=%u n=%u k=%u a=%u as=%u w=%u ws=%u c=%u fmt=%s*%s scales=%s,%s init=%u", i.m, i.n,
                     i.k, i.addr_a, i.addr_as, i.addr_w, i.addr_ws, i.addr_c, fmt_names[i.fmt_a % NUM_FMTS],
                     fmt_names[i.fmt_w % NUM_FMTS], scale_names[i.scale_a % 3], scale_names[i.scale_w % 3], i.init);
        }
        cr_assert(program_parse_instr(text, &i), "%s", text);
        return i;
    }
}

Test(program, random_programs_round_trip_in_their_own_syntax) {
    rng_t rng = rng_new(1);
    for (int n = 0; n < 4000; n++) {
        instr_t i = random_form(&rng);
        char text[PROGRAM_LINE];
        program_print_instr(&i, text);
        cr_assert_neq(strncmp(text, "raw", 3), 0, "%s", text);
        cr_assert(program_add(&p, (node_t){(uint8_t)rng_below(&rng, CFG_TILES_X), 0}, &i, 0));
    }
    assert_round_trip(&p);
}

Test(program, any_256_bits_round_trip) {
    rng_t rng = rng_new(2);
    for (int n = 0; n < 4000; n++) {
        row_t row;
        for (int w = 0; w < ROW_WORDS; w++) row.w[w] = rng_next(&rng);
        row.w[3] = row.w[3] << 8 >> 8 | rng_below(&rng, NUM_OPS + 1) << 56; // often a known operation
        instr_t i = isa_unpack(&row);
        cr_assert(program_add(&p, (node_t){0, (uint8_t)rng_below(&rng, CFG_TILES_Y)}, &i, 0));
    }
    assert_round_trip(&p);
}

Test(program, a_field_that_the_operation_does_not_use_is_not_lost) {
    instr_t i = {.op = OP_COPY, .engine = ENG_MOVE, .rows = 1, .tag = 3};
    char text[PROGRAM_LINE];
    program_print_instr(&i, text);
    cr_assert_eq(strncmp(text, "raw ", 4), 0, "%s", text);
    cr_assert(program_add(&p, (node_t){0, 0}, &i, 0));
    assert_round_trip(&p);
}

Test(program, add_refuses_other_tiles_and_fields_over_their_bits) {
    instr_t end = {.op = OP_END, .engine = ENG_SEQ};
    cr_assert_not(program_add(&p, (node_t){CFG_TILES_X, 0}, &end, 0));
    cr_assert_not(program_add(&p, (node_t){0, CFG_TILES_Y}, &end, 0));
    cr_assert_not(program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_WAIT, .sem = 32}, 0));
    cr_assert_not(program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_SEND, .rect = {.x1 = 32}}, 0));
    cr_assert(program_add(&p, (node_t){CFG_TILES_X - 1, CFG_TILES_Y - 1}, &end, 0));
}

Test(program, errors_name_file_line_and_what_was_expected) {
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "t:0: expected 'tile X Y:' and a program, found the end of the line"},
        {"end\n", "t:1: expected 'tile X Y:' before the first instruction, found 'end'"},
        {"tile 0 0:\n", "t:1: expected an instruction of the last tile, found the end of the line"},
        {"tile 0 0:\ntile 1 0:\nend", "t:2: expected an instruction of tile 0 0, found 'tile'"},
        {"tile 2 0:\nend", "t:1: expected 'tile X Y:' of a chip of 2 x 2 tiles, found 'tile 2 0:'"},
        {"tile 0 2:\nend", "t:1: expected 'tile X Y:' of a chip of 2 x 2 tiles, found 'tile 0 2:'"},
        {"tile 0 0\nend", "t:1: expected 'tile X Y:' of a chip of 2 x 2 tiles, found 'tile 0 0'"},
        {"tile 0 0:\nend\ntile 0 0:\nend", "t:3: expected each tile once, tile 0 0 is there already, found 'tile'"},
        {"tile 0 0:\nend end", "t:2: expected the end of the line, found 'end'"},
        {"tile 0 0:\njump 3",
         "t:2: expected 'tile X Y:', 'end', 'raw' or ENGINE.OPERATION of matmul, move, send, recv, vec, found 'jump'"},
        {"tile 0 0:\n\nmove.fly", "t:3: expected an operation of move, found 'move.fly'"},
        {"tile 0 0:\nsend.copy c=1 a=2 rows=3", "t:2: expected move.copy, found 'send.copy'"},
        {"tile 0 0:\nmove.wait", "t:2: expected a semaphore such as s0, found the end of the line"},
        {"tile 0 0:\nmove.wait 0 1", "t:2: expected a semaphore such as s0, at most s31, found '0'"},
        {"tile 0 0:\nmove.wait s32 1", "t:2: expected a semaphore such as s0, at most s31, found 's32'"},
        {"tile 0 0:\nmove.wait s1 256", "t:2: expected a number, at most 255, found '256'"},
        {"tile 0 0:\nmove.wait s1 1 1", "t:2: expected an operand of wait, found '1'"},
        {"tile 0 0:\nmove.copy c=1 a=2", "t:2: expected rows=a number, found the end of the line"},
        {"tile 0 0:\nmove.copy c=1 a=2 c=3", "t:2: expected each operand once, found 'c=3'"},
        {"tile 0 0:\nmove.copy c=65536 a=2 rows=3", "t:2: expected c=a number, at most 65535, found 'c=65536'"},
        {"tile 0 0:\nmove.copy c=-1 a=2 rows=3", "t:2: expected c=a number, at most 65535, found 'c=-1'"},
        {"tile 0 0:\nmove.copy c=0x a=2 rows=3", "t:2: expected c=a number, at most 65535, found 'c=0x'"},
        {"tile 0 0:\nmove.copy c=1x a=2 rows=3", "t:2: expected c=a number, at most 65535, found 'c=1x'"},
        {"tile 0 0:\nmove.copy c= a=2 rows=3", "t:2: expected c=a number, at most 65535, found 'c='"},
        {"tile 0 0:\nmove.load c=1 rows=1 from=north:0:1",
         "t:2: expected from=west|east:ROW:HBM_ROW, found 'from=north:0:1'"},
        {"tile 0 0:\nmove.load c=1 rows=1 from=west:0:4294967296",
         "t:2: expected from=west|east:ROW:HBM_ROW, found 'from=west:0:4294967296'"},
        {"tile 0 0:\nsend.send a=1 c=1 rows=1 tag=1 to=1", "t:2: expected to=a tile X,Y, found 'to=1'"},
        {"tile 0 0:\nsend.send a=1 c=1 rows=1 tag=1 to=32,0", "t:2: expected to=a tile X,Y, found 'to=32,0'"},
        {"tile 0 0:\nsend.multicast a=1 c=1 rows=1 tag=1 to=1,1",
         "t:2: expected to=tiles X0,Y0..X1,Y1, found 'to=1,1'"},
        {"tile 0 0:\nvec.sum c=0:1:2:group a=0:0:0 outer=1 lines=1 segs=1 rows=1",
         "t:2: expected c=ADDR:LINE:SEG, found 'c=0:1:2:group'"},
        {"tile 0 0:\nvec.sum c=0:1:2 a=0:0 outer=1 lines=1 segs=1 rows=1",
         "t:2: expected a=ADDR:LINE:SEG or ADDR:LINE:SEG:group, found 'a=0:0'"},
        {"tile 0 0:\nvec.sum c=0:65536:2 a=0:0:0 outer=1 lines=1 segs=1 rows=1",
         "t:2: expected c=ADDR:LINE:SEG, found 'c=0:65536:2'"},
        {"tile 0 0:\nvec.copy swap=8 c=0:0:0 a=0:0:0 outer=1 lines=1 segs=1 rows=1",
         "t:2: expected swap=a number, at most 7, found 'swap=8'"},
        {"tile 0 0:\nvec.quant c=0:0:0 a=0:0:0 scales=0:0:0 fmt=fp8 rule=floor outer=1 lines=1 segs=1 rows=1",
         "t:2: expected fmt=e2m1, e4m3, e5m2 or int8, found 'fmt=fp8'"},
        {"tile 0 0:\nvec.quant c=0:0:0 a=0:0:0 scales=0:0:0 fmt=e4m3 rule=down outer=1 lines=1 segs=1 rows=1",
         "t:2: expected rule=floor, even or ceil, found 'rule=down'"},
        {"tile 0 0:\nmove.copy swap=8 c=0:0:0 a=0:0:0", "t:2: expected an operand of copy, found 'swap=8'"},
        {"tile 0 0:\nraw 12",
         "t:2: expected 64 hexadecimal digits, the reserved bits zero (the last 8, of vec the last 45), found '12'"},
        {"tile 0 0:\nraw 0000000000000000000000000000000000000000000000000000000000000001",
         "t:2: expected 64 hexadecimal digits, the reserved bits zero (the last 8, of vec the last 45), found "
         "'0000000000000000000000000000000000000'"},
        {"tile 0 0:\nraw 00000000000000000000000000000000000000000000000000000000000000000",
         "t:2: expected 64 hexadecimal digits, the reserved bits zero (the last 8, of vec the last 45), found "
         "'0000000000000000000000000000000000000'"},
        {"tile 0 0:\n\x01\xff{",
         "t:2: expected 'tile X Y:', 'end', 'raw' or ENGINE.OPERATION of matmul, move, send, recv, vec, found '\?\?{'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_not(parse(bad[i].text), "accepted: %s", bad[i].text);
        cr_expect_str_eq(error, bad[i].message, "\n got %s\nwant %s", error, bad[i].message);
    }
}

Test(program, matmul_names_the_missing_operand) {
    const char *all[] = {
        "m=1", "n=1", "k=1", "a=0", "as=0", "w=0", "ws=0", "c=0", "fmt=int8*int4", "scales=none,none", "init=0"};
    for (int skip = -1; skip < 11; skip++) {
        char text[PROGRAM_LINE] = "tile 0 0:\nmatmul.matmul", want[64];
        for (int i = 0; i < 11; i++) {
            if (i == skip) continue;
            strcat(text, " ");
            strcat(text, all[i]);
        }
        cr_assert_eq(parse(text), skip < 0, "%s", text);
        if (skip < 0) continue;
        snprintf(want, sizeof want, "expected %.*s=", (int)(strchr(all[skip], '=') - all[skip]), all[skip]);
        cr_assert(strstr(error, want), "%s", error);
    }
}

Test(program, load_says_which_file) {
    cr_assert_not(program_load(&p, "/nonexistent/p.prog", error));
    cr_assert_str_eq(error, "/nonexistent/p.prog: expected a readable program: No such file or directory");
    cr_assert_not(program_load(&p, "/", error));
    cr_assert(strstr(error, "/: expected a readable program: Is a directory"), "%s", error);
}

Test(program, load_reads_a_file_of_any_size) {
    char path[] = "/tmp/program_test_XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "tile 1 1:\n");
    for (int i = 0; i < 20000; i++) fprintf(f, "  send.signal s1 1\n");
    fprintf(f, "end"); // no newline at the end of the file
    fclose(f);
    bool ok = program_load(&p, path, error);
    remove(path);
    cr_assert(ok, "%s", error);
    cr_assert_eq(p.tiles[PROGRAM_TILES - 1].count, 20001);
    cr_assert_eq(p.tiles[PROGRAM_TILES - 1].lines[20000], 20002);
}

// A damaged text is refused in one line or it is another program, which prints, parses and is checked like any other.
// The text is copied to memory of its exact size, so that the sanitizers see a byte read too far.
static void damaged(const char *text, size_t size, int *accepted) {
    char *copy = malloc(size ? size : 1);
    memcpy(copy, text, size);
    error[0] = '\0';
    program_free(&p);
    bool ok = program_parse(&p, "damaged", copy, size, error);
    free(copy);
    if (ok) {
        assert_round_trip(&p);
        error[0] = '\0';
        bool runs = program_check(&p, "damaged", error);
        cr_assert_eq(runs, error[0] == '\0', "%s", error);
        ++*accepted;
    } else {
        cr_assert_eq(strncmp(error, "damaged:", 8), 0, "%s", error);
    }
    for (const char *c = error; *c; c++) cr_assert(*c >= ' ' && *c <= '~', "%s", error);
}

Test(program, a_text_cut_anywhere_never_crashes) {
    int accepted = 0;
    for (size_t size = 0; size <= strlen(sample); size++) damaged(sample, size, &accepted);
    cr_assert(accepted > 10 && accepted < 200, "%d", accepted);
}

Test(program, garbled_text_never_crashes) {
    static const char letters[] = "0123456789abcdefx=,.:*#s \n\t\r";
    rng_t rng = rng_new(3);
    int accepted = 0;
    size_t length = strlen(sample);
    char *text = malloc(length);
    for (int n = 0; n < 20000; n++) {
        memcpy(text, sample, length);
        for (uint64_t c = 1 + rng_below(&rng, 4); c > 0; c--)
            text[rng_below(&rng, length)] =
                (char)(rng_below(&rng, 4) ? letters[rng_below(&rng, sizeof letters - 1)] : (char)rng_next(&rng));
        if (rng_below(&rng, 4) == 0) { // a piece moved elsewhere
            size_t from = rng_below(&rng, length), to = rng_below(&rng, length),
                   most = length - (from > to ? from : to);
            memmove(text + to, text + from, rng_below(&rng, most + 1));
        }
        damaged(text, length, &accepted);
    }
    free(text);
    cr_assert(accepted > 200 && accepted < 19000, "%d", accepted);
}

Test(program, noise_never_crashes) {
    rng_t rng = rng_new(4);
    char text[300];
    int accepted = 0;
    for (int n = 0; n < 5000; n++) {
        size_t size = rng_below(&rng, sizeof text);
        for (size_t i = 0; i < size; i++) text[i] = (char)rng_next(&rng);
        damaged(text, size, &accepted);
    }
    cr_assert_eq(accepted, 0);
}
