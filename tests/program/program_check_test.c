#include "program/checks.h"

// Written for the sizes of tiny: 2 x 2 tiles, 8 columns, 16 accumulator rows, 2048 SRAM rows, 16 semaphores and tags,
// queues of 8, 256 instructions.
_Static_assert(CFG_TILES_X == 2 && CFG_TILES_Y == 2 && CFG_COLS == 8 && CFG_ROWS == 16 &&
                   CFG_BANKS * CFG_BANK_ROWS == 2048 && CFG_QUEUE_DEPTH == 8 && CFG_IMEM_ROWS == 256,
               "the sizes of tiny");

Test(program_check, accepts_a_program_that_uses_everything) {
    accepts("tile 0 0:\n"
            "move.load c=0x000 from=west:0:0 rows=16\n"
            "move.load c=0x010 from=east:1:0 rows=64\n"
            "move.signal s0 1\n"
            "matmul.wait s0 1\n"
            "matmul.matmul m=8 n=64 k=33 a=0x0 as=0 w=0x10 ws=0 c=0x100 fmt=int8*int4 scales=none,none init=0\n"
            "matmul.signal s1 2\n"
            "send.wait s1 1\n"
            "send.reduce a=0x100 over=0,0..1,0 root=0,1 c=0x200 rows=64 tag=3\n"
            "send.multicast a=0x100 to=0,0..1,1 c=0x300 rows=4 tag=4\n"
            "recv.receive tag=4 rows=4\n"
            "move.wait s1 1\n"
            "move.copy c=0x400 a=0x100 rows=64\n"
            "move.store a=0x400 to=west:1:0 rows=64\n"
            "end\n"
            "tile 1 0:\n"
            "send.reduce a=0 over=0,0..1,0 root=0,1 c=0x200 rows=64 tag=3\n"
            "recv.receive tag=4 rows=3\nrecv.receive tag=4 rows=1\nend\n"
            "tile 0 1:\nrecv.receive tag=3 rows=64\nrecv.receive tag=4 rows=4\nend\n"
            "tile 1 1:\nrecv.receive tag=4 rows=4\nsend.send a=0 to=1,1 c=7 rows=1 tag=0\nrecv.receive tag=0 "
            "rows=1\nend\n");
}

// KB = 2, NT = 8: 32 rows of activations, 2 of their scales, 64 of E2M1 weights, 4 of their scales, 128 of results.
static void e2m1(const char *a, const char *as, const char *w, const char *ws, const char *c, const char *finding) {
    char text[256];
    snprintf(text, sizeof text,
             "matmul.matmul m=16 n=64 k=33 a=%s as=%s w=%s ws=%s c=%s fmt=e4m3*e2m1 scales=e8m0,e8m0 init=0", a, as, w,
             ws, c);
    one(text, "matmul.matmul", finding);
}

Test(program_check, matmul_operands_fit_to_the_row) {
    e2m1("0x7e0", "0", "0", "0", "0x100", NULL);
    e2m1("0x7e1", "0", "0", "0", "0x100", "activations: rows 0x07e1 + 32 leave the SRAM of 2048 rows");
    e2m1("0", "0x7fe", "0", "0", "0x100", NULL);
    e2m1("0", "0x7ff", "0", "0", "0x100", "activation scales: rows 0x07ff + 2 leave the SRAM of 2048 rows");
    e2m1("0", "0", "0x7c0", "0", "0x100", NULL);
    e2m1("0", "0", "0x7c1", "0", "0x100", "weights: rows 0x07c1 + 64 leave the SRAM of 2048 rows");
    e2m1("0", "0", "0", "0x7fc", "0x100", NULL);
    e2m1("0", "0", "0", "0x7fd", "0x100", "weight scales: rows 0x07fd + 4 leave the SRAM of 2048 rows");
    e2m1("0", "0", "0", "0", "0x780", NULL);
    e2m1("0", "0", "0", "0", "0x781", "result: rows 0x0781 + 128 leave the SRAM of 2048 rows");
}

// BF16: 64 rows of activations, 256 of weights, 256 bytes of scales in 8 rows; INT8: 32 and 128 rows, no scales.
Test(program_check, rows_of_an_operand_follow_its_format) {
#define BF16(a, w, ws)                                                                                                 \
    "matmul.matmul m=16 n=64 k=33 a=" a " as=0xffff w=" w " ws=" ws " c=0x100 fmt=bf16*bf16 scales=none,bf16 init=0"
    one(BF16("0x7c0", "0x700", "0x7f8"), "matmul.matmul", NULL);
    one(BF16("0x7c1", "0x700", "0x7f8"), "matmul.matmul", "activations: rows 0x07c1 + 64 leave the SRAM of 2048 rows");
    one(BF16("0x7c0", "0x701", "0x7f8"), "matmul.matmul", "weights: rows 0x0701 + 256 leave the SRAM of 2048 rows");
    one(BF16("0x7c0", "0x700", "0x7f9"), "matmul.matmul", "weight scales: rows 0x07f9 + 8 leave the SRAM of 2048 rows");
#define INT8(a, w)                                                                                                     \
    "matmul.matmul m=16 n=57 k=64 a=" a " as=0 w=" w " ws=0x900 c=0x100 fmt=int8*int8 scales=none,none init=1"
    one(INT8("0x7e0", "0x780"), "matmul.matmul", NULL); // unused addresses lie anywhere
#define NONE(a, w, m)                                                                                                  \
    "matmul.matmul m=" m " n=57 k=64 a=" a " as=0 w=" w " ws=0 c=0x100 fmt=int8*int8 scales=none,none init=1"
    one(NONE("0x7e0", "0x780", "16"), "matmul.matmul", NULL);
    one(NONE("0x7e1", "0x780", "16"), "matmul.matmul", "activations: rows 0x07e1 + 32 leave the SRAM of 2048 rows");
    one(NONE("0x7e0", "0x781", "16"), "matmul.matmul", "weights: rows 0x0781 + 128 leave the SRAM of 2048 rows");
    one(NONE("0x7e1", "0x780", "15"), "matmul.matmul", NULL);
}

Test(program_check, the_result_lies_over_no_operand) {
    e2m1("0x0e0", "0x180", "0", "0", "0x100", NULL);
    e2m1("0x0e1", "0x180", "0", "0", "0x100", "activations (0x00e1 + 32) overlaps the result (0x0100 + 128)");
    e2m1("0x180", "0x0ff", "0", "0", "0x100", "activation scales (0x00ff + 2) overlaps the result (0x0100 + 128)");
    e2m1("0x180", "0x180", "0x17f", "0", "0x100", "weights (0x017f + 64) overlaps the result (0x0100 + 128)");
    e2m1("0x180", "0x180", "0x180", "0x110", "0x100", "weight scales (0x0110 + 4) overlaps the result (0x0100 + 128)");
    one("move.copy a=0x10 c=0x20 rows=16", "move.copy", NULL);
    one("move.copy a=0x10 c=0x1f rows=16", "move.copy", "source (0x0010 + 16) overlaps the result (0x001f + 16)");
    one("move.copy a=0x1f c=0x10 rows=16", "move.copy", "source (0x001f + 16) overlaps the result (0x0010 + 16)");
}

#define MATMUL(m, n, k, sa)                                                                                            \
    "matmul.matmul m=" m " n=" n " k=" k " a=0 as=0 w=0 ws=0 c=0x400 fmt=int8*int8 scales=" sa ",none init=0"
Test(program_check, shapes) {
    one(MATMUL("16", "8", "32", "e8m0"), "matmul.matmul", NULL);
    one(MATMUL("17", "8", "32", "e8m0"), "matmul.matmul", "m=17 exceeds the 16 accumulator rows");
    one(MATMUL("0", "8", "32", "none"), "matmul.matmul", "m, n and k must be 1 or more");
    one(MATMUL("1", "0", "32", "none"), "matmul.matmul", "m, n and k must be 1 or more");
    one(MATMUL("1", "8", "0", "none"), "matmul.matmul", "m, n and k must be 1 or more");
    one(MATMUL("1", "8", "32", "bf16"), "matmul.matmul", "scales of activations are none or e8m0");
    one(MATMUL("16", "65535", "65535", "none"), "matmul.matmul",
        "activations: rows 0x0000 + 32768 leave the SRAM of 2048 rows");
}

Test(program_check, zero_sizes) {
    one("move.copy a=0 c=1 rows=0", "move.copy", "rows must be 1 or more");
    one("move.load c=1 from=west:0:0 rows=0", "move.load", "rows must be 1 or more");
    one("move.store a=1 to=west:0:0 rows=0", "move.store", "rows must be 1 or more");
    one("send.send a=1 to=0,0 c=1 rows=0 tag=1", "send.send", "rows must be 1 or more");
    one("send.multicast a=1 to=0,0..1,1 c=1 rows=0 tag=1", "send.multicast", "rows must be 1 or more");
    one("send.reduce a=1 over=0,0..0,0 root=0,0 c=1 rows=0 tag=1", "send.reduce", "rows must be 1 or more");
    one("recv.receive tag=1 rows=0", "recv.receive", "rows must be 1 or more");
    one("recv.wait s0 0", "recv.wait", "the count must be 1 or more");
    one("move.signal s0 0", "move.signal", "the count must be 1 or more");
}

Test(program_check, rows_of_moves_and_messages_lie_inside_the_sram) {
#define AT(op, what, rest) one(op " " rest, op, what ": rows 0x07ff + 2 leave the SRAM of 2048 rows")
    AT("move.copy", "source", "a=0x7ff c=0 rows=2");
    AT("move.copy", "destination", "a=0 c=0x7ff rows=2");
    AT("move.load", "destination", "from=west:0:0 c=0x7ff rows=2");
    AT("move.store", "source", "to=west:0:0 a=0x7ff rows=2");
    AT("send.send", "source", "a=0x7ff c=0 rows=2 tag=0 to=0,0");
    AT("send.send", "destination", "a=0 c=0x7ff rows=2 tag=0 to=0,0");
    AT("send.multicast", "source", "a=0x7ff c=0 rows=2 tag=0 to=0,0..0,0");
    AT("send.multicast", "destination", "a=0 c=0x7ff rows=2 tag=0 to=0,0..0,0");
    AT("send.reduce", "source", "a=0x7ff c=0 rows=2 tag=0 over=0,0..0,0 root=0,0");
    AT("send.reduce", "destination", "a=0 c=0x7ff rows=2 tag=0 over=0,0..0,0 root=0,0");
    one("move.load from=west:0:0 c=0x7fe rows=2", "move.load", NULL);
    one("move.store to=west:0:0 a=0x7fe rows=2", "move.store", NULL);
    one("move.copy a=0x7fe c=0 rows=2", "move.copy", NULL);
}

Test(program_check, unknown_tiles_tags_semaphores_and_ports) {
    one("move.load c=0 from=east:2:0 rows=1", "move.load", "there is no HBM port east:2, each side has 2");
    one("move.store a=0 to=west:2:0 rows=1", "move.store", "there is no HBM port west:2, each side has 2");
    one("move.store a=0 to=west:1:0xfffffffe rows=1", "move.store", NULL);
    one("move.store a=0 to=west:1:0xfffffffe rows=2", "move.store", "HBM rows 0xfffffffe + 2 leave the address space");
    one("move.signal s16 1", "move.signal", "there is no semaphore s16, there are 16");
    one("recv.wait s16 1", "recv.wait", "there is no semaphore s16, there are 16");
    one("recv.receive tag=16 rows=1", "recv.receive", "there is no tag 16, there are 16");
    one("send.send a=0 to=0,0 c=0 rows=1 tag=16", "send.send", "there is no tag 16, there are 16");
    one("send.send a=0 to=2,0 c=0 rows=1 tag=0", "send.send", "there is no tile 2,0 in 2 x 2 tiles");
    one("send.send a=0 to=1,2 c=0 rows=1 tag=0", "send.send", "there is no tile 1,2 in 2 x 2 tiles");
    one("send.multicast a=0 to=0,0..2,1 c=0 rows=1 tag=0", "send.multicast", "there is no tile 2,1 in 2 x 2 tiles");
    one("send.multicast a=0 to=1,0..0,1 c=0 rows=1 tag=0", "send.multicast", "the rectangle 1,0..0,1 is empty");
    one("send.multicast a=0 to=0,1..1,0 c=0 rows=1 tag=0", "send.multicast", "the rectangle 0,1..1,0 is empty");
    one("send.reduce a=0 over=0,0..0,2 root=0,0 c=0 rows=1 tag=0", "send.reduce",
        "there is no tile 0,2 in 2 x 2 tiles");
    one("send.reduce a=0 over=0,0..1,1 root=0,2 c=0 rows=1 tag=0", "send.reduce",
        "there is no tile 0,2 in 2 x 2 tiles");
}

Test(program_check, instructions_without_a_form) {
    static const instr_t bad[] = {
        {.op = OP_MATMUL, .engine = ENG_MOVE, .m = 1, .n = 1, .k = 1},
        {.op = OP_COPY, .engine = ENG_MOVE, .rows = 1, .addr_c = 5, .tag = 1},
        {.op = NUM_OPS, .engine = ENG_MOVE},
        {.op = OP_SIGNAL, .engine = ENG_SEQ, .count = 1},
        {.op = OP_VCOPY, .engine = ENG_MOVE, .vec = {.outer = 1, .lines = 1, .segs = 1, .rows = 1}},
        {.op = OP_VSUM, .engine = ENG_VECTOR, .vec = {.arg = 1, .outer = 1, .lines = 1, .segs = 1, .rows = 1}},
        {.op = OP_END, .engine = ENG_MOVE},
        {.op = OP_MATMUL, .engine = ENG_MATMUL, .m = 1, .n = 1, .k = 1, .addr_c = 99, .fmt_a = 6},
        {.op = OP_MATMUL, .engine = ENG_MATMUL, .m = 1, .n = 1, .k = 1, .addr_c = 99, .scale_w = 3},
        {.op = OP_LOAD, .engine = ENG_MOVE, .rows = 1, .to = TO_TILE},
        {.op = OP_SEND, .engine = ENG_SEND, .rows = 1, .rect = {0, 0, 1, 0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        program p;
        program_init(&p);
        program_add(&p, (node_t){0, 1}, &bad[i], 0);
        program_add(&p, (node_t){0, 1}, &(instr_t){.op = OP_END, .engine = ENG_SEQ}, 0);
        cr_expect_not(program_check(&p, NULL, error), "instruction %zu", i);
        cr_expect(strncmp(error, "tile 0 1, instruction 0 (", 25) == 0 && strstr(error, "): no instruction: "), "%s",
                  error);
        program_free(&p);
    }
}

Test(program_check, the_end_is_there_and_is_the_end) {
    refuses("tile 1 0:\nmove.signal s0 1\n", " tile 1 0, instruction 1 (its end): the program must end with 'end'");
    refuses("tile 1 0:\nend\nmove.signal s0 1\nend\n",
            "3: tile 1 0, instruction 1 (move.signal): stands behind the end of the program");
}

Test(program_check, programs_fit_the_instruction_memory) {
    for (int extra = 0; extra < 2; extra++) {
        program p;
        program_init(&p);
        for (int i = 0; i < CFG_IMEM_ROWS - 1 + extra; i++)
            program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_COPY, .engine = ENG_MOVE, .rows = 1, .addr_c = 1}, 0);
        program_add(&p, (node_t){0, 0}, &(instr_t){.op = OP_END, .engine = ENG_SEQ}, 0);
        cr_assert_eq(program_check(&p, NULL, error), extra == 0);
        program_free(&p);
    }
    cr_assert_str_eq(error, "tile 0 0, instruction 256 (end): the program has 257 instructions, the memory holds 256");
}

Test(program_check, rows_received_equal_rows_sent) {
    refuses("tile 0 0:\nsend.send a=0 to=1,0 c=0 rows=3 tag=2\nend\ntile 1 0:\nrecv.receive tag=2 rows=2\nrecv.receive "
            "tag=2 rows=2\nend\n",
            "6: tile 1 0, instruction 1 (recv.receive): receives 4 rows of tag 2 up to here, 3 are sent to it");
    refuses("tile 0 0:\nsend.send a=0 to=1,0 c=0 rows=3 tag=2\nend\ntile 1 0:\nrecv.receive tag=2 rows=2\nend\n",
            "2: tile 0 0, instruction 0 (send.send): tile 1 0 receives 2 of the 3 rows sent to its tag 2");
    refuses("tile 0 0:\nsend.send a=0 to=1,0 c=0 rows=3 tag=2\nend\ntile 1 0:\nrecv.receive tag=3 rows=3\nend\n",
            "5: tile 1 0, instruction 0 (recv.receive): receives 3 rows of tag 3 up to here, 0 are sent to it");
    refuses(
        "tile 0 1:\nsend.multicast a=0 to=0,0..1,0 c=0 rows=1 tag=0\nend\ntile 0 0:\nrecv.receive tag=0 rows=1\nend\n",
        "2: tile 0 1, instruction 0 (send.multicast): tile 1 0 receives 0 of the 1 rows sent to its tag 0");
    refuses("tile 0 0:\nsend.reduce a=0 over=0,0..0,1 root=0,0 c=0 rows=5 tag=1\nrecv.receive tag=1 rows=10\nend\n"
            "tile 0 1:\nsend.reduce a=0 over=0,0..0,1 root=0,0 c=0 rows=5 tag=1\nend\n",
            "3: tile 0 0, instruction 1 (recv.receive): receives 10 rows of tag 1 up to here, 5 are sent to it");
}

Test(program_check, waits_are_signalled) {
    refuses("tile 0 0:\nmove.signal s3 2\nsend.wait s3 1\nmatmul.wait s3 2\nend\n",
            "4: tile 0 0, instruction 2 (matmul.wait): deadlock: the waits for s3 add up to 3 here, its signals to 2");
    refuses("tile 0 0:\nmove.signal s3 1\nend\ntile 1 0:\nsend.wait s3 1\nend\n",
            "5: tile 1 0, instruction 0 (send.wait): deadlock: the waits for s3 add up to 1 here, its signals to 0");
    accepts("tile 0 0:\nmove.signal s3 255\nend\n");
    refuses("tile 0 0:\nmove.signal s3 255\nmove.signal s3 1\nend\n",
            "3: tile 0 0, instruction 1 (move.signal): s3 is left at 256, a semaphore holds 255");
}

#define REDUCE(over, root, tag) "send.reduce a=0 over=" over " root=" root " c=0x100 rows=2 tag=" tag "\n"
#define RECEIVE(tag, rows) "recv.receive tag=" tag " rows=" rows "\n"
Test(program_check, reductions_have_their_root_and_all_their_tiles) {
    refuses("tile 0 0:\n" REDUCE("0,0..0,1", "1,0", "0") "end\n",
            "2: tile 0 0, instruction 0 (send.reduce): the root's column 1 lies outside 0,0..0,1");
    refuses("tile 1 0:\n" REDUCE("1,0..1,1", "0,0", "0") "end\n",
            "2: tile 1 0, instruction 0 (send.reduce): the root's column 0 lies outside 1,0..1,1");
    refuses("tile 1 0:\n" REDUCE("0,0..0,1", "0,0", "0") "end\n",
            "2: tile 1 0, instruction 0 (send.reduce): this tile lies outside 0,0..0,1");
    refuses(
        "tile 0 0:\n" REDUCE("0,0..0,1", "0,0", "0") RECEIVE("0", "2") "end\ntile 1 1:\nend\n",
        "2: tile 0 0, instruction 0 (send.reduce): tile 0 1 lies in 0,0..0,1 and does not issue this reduction (same "
        "rectangle, root, c, rows and tag, time 1)");
    refuses(
        "tile 0 0:\n" REDUCE("0,0..0,1", "0,0", "0") REDUCE("0,0..0,1", "0,0", "0")
            RECEIVE("0", "4") "end\n"
                              "tile 0 1:\n" REDUCE("0,0..0,1", "0,0", "0") "end\n",
        "3: tile 0 0, instruction 1 (send.reduce): tile 0 1 lies in 0,0..0,1 and does not issue this reduction (same "
        "rectangle, root, c, rows and tag, time 2)");
    refuses(
        "tile 0 0:\n" REDUCE("0,0..0,1", "0,0", "0")
            RECEIVE("0", "2") "end\n"
                              "tile 0 1:\n" REDUCE("0,0..0,1", "0,0", "1") "end\n",
        "2: tile 0 0, instruction 0 (send.reduce): tile 0 1 lies in 0,0..0,1 and does not issue this reduction (same "
        "rectangle, root, c, rows and tag, time 1)");
    // a root outside the rectangle's rows is legal
    accepts("tile 0 0:\n" REDUCE("0,0..1,0", "1,1", "0") "end\ntile 1 0:\n" REDUCE(
        "0,0..1,0", "1,1", "0") "end\n"
                                "tile 1 1:\n" RECEIVE("0", "2") "end\n");
}

Test(program_check, reductions_are_issued_in_one_order) {
    const char *order = "tile 0 0:\n%s%s" RECEIVE("0", "2") RECEIVE("1", "2") "end\ntile 0 1:\n%s%send\n";
    const char *a = REDUCE("0,0..0,1", "0,0", "0"), *b = REDUCE("0,0..0,1", "0,0", "1");
    char text[1024];
    snprintf(text, sizeof text, order, a, b, a, b);
    accepts(text);
    snprintf(text, sizeof text, order, a, b, b, a);
    refuses(
        text,
        "2: tile 0 0, instruction 0 (send.reduce): tile 0 1 issues another reduction first (its instruction 0): tiles "
        "must issue reductions in one order");
    // a ring of three rectangles, no two tiles of which share two: A before B, B before C, C before A
    const char *ring = "tile 0 0:\n%s%s" RECEIVE("0", "2") "end\ntile 1 0:\n%s%s" RECEIVE("1", "2")
        RECEIVE("2", "2") "end\n"
                          "tile 1 1:\n%s%send\ntile 0 1:\n%s%s" RECEIVE("3", "2") "end\n";
    const char *s = REDUCE("0,0..1,0", "0,0", "0"), *e = REDUCE("1,0..1,1", "1,0", "1");
    const char *n = REDUCE("0,1..1,1", "0,1", "3"), *w = REDUCE("0,0..0,1", "0,1", "2");
    snprintf(text, sizeof text, ring, s, w, s, e, e, n, n, w);
    char *receive = strstr(text, RECEIVE("2", "2")); // tag 2 arrives at tile 0 1
    memmove(receive, receive + strlen(RECEIVE("2", "2")), strlen(receive + strlen(RECEIVE("2", "2"))) + 1);
    strcpy(strrchr(text, 'r'), "rows=2\n" RECEIVE("2", "2") "end\n");
    accepts(text);
    char *swapped = strstr(text, s); // tile 0 0: w before s; then s waits for w, w for n, n for e, e for s
    memcpy(swapped, w, strlen(w));
    memcpy(swapped + strlen(w), s, strlen(s));
    cr_expect_not(check(text));
    cr_expect(strstr(error, "tiles must issue reductions in one order"), "%s", error);
}

Test(program_check, circles_of_waits_are_deadlocks) {
    accepts("tile 0 0:\nmatmul.signal s1 1\nmatmul.wait s0 1\nmove.wait s1 1\nmove.signal s0 1\nend\n");
    refuses("tile 0 0:\nmatmul.wait s0 1\nmatmul.signal s1 1\nmove.wait s1 1\nmove.signal s0 1\nend\n",
            "2: tile 0 0, instruction 0 (matmul.wait): deadlock: waits for s0 to reach 1, it stays at 0");
    refuses("tile 0 0:\nrecv.receive tag=0 rows=1\nrecv.signal s0 1\nsend.wait s0 1\nsend.send a=0 to=1,1 c=0 rows=1 "
            "tag=0\nend\n"
            "tile 1 1:\nrecv.receive tag=0 rows=1\nrecv.signal s0 1\nsend.wait s0 1\nsend.send a=0 to=0,0 c=0 rows=1 "
            "tag=0\nend\n",
            "4: tile 0 0, instruction 2 (send.wait): deadlock: waits for s0 to reach 1, it stays at 0");
    refuses("tile 0 0:\n" REDUCE("0,0..1,0", "0,0",
                                 "0") "send.signal s0 1\nrecv.receive tag=0 rows=2\nend\n"
                                      "tile 1 0:\nrecv.receive tag=1 rows=1\nrecv.signal s1 1\nsend.wait s1 1\n" REDUCE(
                                          "0,0..1,0", "0,0",
                                          "0") "end\n"
                                               "tile 1 1:\nrecv.receive tag=2 rows=1\nrecv.signal s1 1\nsend.wait s1 "
                                               "1\nsend.send a=0 to=1,0 c=0 rows=1 tag=1\nend\n"
                                               "tile 0 1:\nrecv.receive tag=3 rows=1\nrecv.signal s1 1\nsend.wait s1 "
                                               "1\nsend.send a=0 to=1,1 c=0 rows=1 tag=2\n"
                                               "move.wait s2 1\nmove.signal s3 1\nmatmul.wait s3 1\nmatmul.signal s2 "
                                               "1\nsend.send a=0 to=0,1 c=0 rows=1 tag=3\nend\n",
            "2: tile 0 0, instruction 0 (send.reduce): deadlock: waits for the other tiles of the reduction");
}

// What a wait has taken does not satisfy the next one.
Test(program_check, waits_and_receives_take_off_what_they_waited_for) {
    refuses("tile 0 0:\nmove.signal s0 1\nmove.wait s2 1\nmove.signal s0 1\nmatmul.wait s0 1\nmatmul.wait s0 1\n"
            "matmul.signal s2 1\nend\n",
            "6: tile 0 0, instruction 4 (matmul.wait): deadlock: waits for s0 to reach 1, it stays at 0");
    refuses("tile 0 0:\nrecv.receive tag=0 rows=1\nrecv.receive tag=0 rows=1\nrecv.signal s0 1\n"
            "send.send a=0 to=0,0 c=0 rows=1 tag=0\nsend.wait s0 1\nsend.send a=0 to=0,0 c=0 rows=1 tag=0\nend\n",
            "6: tile 0 0, instruction 4 (send.wait): deadlock: waits for s0 to reach 1, it stays at 0");
}

// A WAIT and seven more fill the queue of eight; one more stands before the signal that would free it.
Test(program_check, a_full_queue_before_the_signal_is_a_deadlock) {
    for (int copies = 7; copies < 9; copies++) {
        char text[1024] = "tile 0 0:\nmove.wait s0 1\n";
        for (int i = 0; i < copies; i++) strcat(text, "move.copy a=0 c=1 rows=1\n");
        strcat(text, "matmul.signal s0 1\nend\n");
        if (copies == 7)
            accepts(text);
        else
            refuses(text, "2: tile 0 0, instruction 0 (move.wait): deadlock: waits for s0 to reach 1, it stays at 0; "
                          "the queue of move "
                          "is full, so instruction 8 is not dispatched");
    }
}

// Ping-pong between two tiles for the whole instruction memory: many rounds of the check, one after the other.
Test(program_check, long_exchanges_come_to_their_end) {
    program p;
    program_init(&p);
    for (int t = 0; t < 2; t++) {
        node_t tile = {(uint8_t)t, (uint8_t)t};
        uint8_t other = (uint8_t)(1 - t);
        for (int i = 0; i < 62; i++) {
            instr_t send = {.op = OP_SEND, .engine = ENG_SEND, .rows = 1, .rect = {other, other, other, other}};
            instr_t receive = {.op = OP_RECEIVE, .engine = ENG_RECV, .rows = 1};
            instr_t wait = {.op = OP_WAIT, .engine = ENG_SEND, .count = 1};
            instr_t signal = {.op = OP_SIGNAL, .engine = ENG_RECV, .count = 1};
            if (t == 0) program_add(&p, tile, &send, 0);
            program_add(&p, tile, &receive, 0);
            program_add(&p, tile, &signal, 0);
            program_add(&p, tile, &wait, 0);
            if (t == 1) program_add(&p, tile, &send, 0);
        }
        program_add(&p, tile, &(instr_t){.op = OP_END, .engine = ENG_SEQ}, 0);
    }
    cr_assert(program_check(&p, NULL, error), "%s", error);
    p.tiles[0].instrs[0].rect = (rect_t){0, 0, 0, 0}; // the first ball goes to its own sender
    cr_assert_not(program_check(&p, NULL, error));
    program_free(&p);
}

// The kernel of docs/programs.md (absent where only the sources are copied).
Test(program_check, the_first_kernel_of_the_guide_runs) {
    FILE *f = fopen("docs/programs.md", "r");
    if (!f) cr_skip_test("no docs/programs.md");
    static char text[1 << 16];
    size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[size] = '\0';
    char *begin = strstr(text, "```poblano\n"), *end = begin ? strstr(begin + 4, "```") : NULL;
    cr_assert(end, "docs/programs.md: expected a block ```poblano");
    *end = '\0';
    accepts(strchr(begin, '\n') + 1);
}
