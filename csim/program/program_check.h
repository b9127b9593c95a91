// The steps of program_check, in their order. Each refuses with one line in ctx->error.
#ifndef PROGRAM_PROGRAM_CHECK_H
#define PROGRAM_PROGRAM_CHECK_H
#include "program/program.h"

enum { SRAM_ROWS = CFG_BANKS * CFG_BANK_ROWS };

typedef struct {
    const program *p;
    const char *name;    // of the text, NULL for none
    char *error;         // PROGRAM_ERROR bytes
    uint32_t *reduction; // per instruction, flat: the number of its reduction, filled by program_check_reductions
    uint32_t *base;      // per tile: where its instructions start in `reduction`
    uint32_t num_reductions;
} check_ctx;

// Writes the finding about instruction `index` of a tile (index == count: about the end of its program); returns false.
__attribute__((format(printf, 4, 5))) bool program_refuse(check_ctx *c, int tile, uint32_t index, const char *format,
                                                          ...);

// A vector instruction by itself: counts, formats, rows inside the SRAM, no result row under another.
bool program_check_vector(check_ctx *c, int tile, uint32_t index);
// Every instruction by itself: names, sizes, addresses.
bool program_check_instrs(check_ctx *c);
// Every tile of a rectangle issues its reductions, in one common order.
bool program_check_reductions(check_ctx *c);
// Rows sent to a tag equal rows received; no semaphore is waited for more than it is signalled.
bool program_check_totals(check_ctx *c);
// The program comes to its end when it is executed without time: no wait is left, no queue is stuck.
bool program_check_run(check_ctx *c);
#endif
