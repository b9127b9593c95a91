// Programs that the checker accepts or refuses, and its words.
#ifndef TESTS_PROGRAM_CHECKS_H
#define TESTS_PROGRAM_CHECKS_H
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"

static char error[PROGRAM_ERROR];

static inline bool check(const char *text) {
    program p;
    program_init(&p);
    error[0] = '\0';
    cr_assert(program_parse(&p, "t", text, strlen(text), error), "%s", error);
    bool ok = program_check(&p, "t", error);
    program_free(&p);
    return ok;
}

static inline void accepts(const char *text) {
    cr_expect(check(text), "refused: %s\n%s", error, text);
}

// Refused with exactly this line behind "t:".
static inline void refuses(const char *text, const char *message) {
    cr_expect_not(check(text), "accepted:\n%s", text);
    cr_expect(strncmp(error, "t:", 2) == 0 && strcmp(error + 2, message) == 0, "\n got %s\nwant t:%s", error, message);
}

// One instruction on tile 0 0 and the end; the finding stands at line 2, instruction 0. NULL: accepted.
static inline void one(const char *instr, const char *op, const char *finding) {
    char text[512], message[512];
    snprintf(text, sizeof text, "tile 0 0:\n%s\nend\n", instr);
    if (!finding) {
        accepts(text);
        return;
    }
    snprintf(message, sizeof message, "2: tile 0 0, instruction 0 (%s): %s", op, finding);
    refuses(text, message);
}
#endif
