// Programs of a chip: a list of instructions per tile, their text form, and the checker that refuses a program before
// it runs. docs/programs.md describes the text form.
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cfg.h"
#include "common/isa.h"

enum { PROGRAM_TILES = CFG_TILES_X * CFG_TILES_Y, PROGRAM_ERROR = 512, PROGRAM_LINE = 256 };

// The instructions of one tile. lines[i]: the line of the text that instrs[i] came from, 0 where there was none.
typedef struct {
    instr_t *instrs;
    uint32_t *lines;
    uint32_t count, capacity;
} program_tile;

// Tile (x, y) has index y * CFG_TILES_X + x; a tile without instructions takes no part.
typedef struct {
    program_tile tiles[PROGRAM_TILES];
} program;

void program_init(program *p);
void program_free(program *p);

// Appends an instruction to a tile. False where the chip has no such tile, a field exceeds its bits in isa_pkg or is
// none of its layout, or there is no memory.
bool program_add(program *p, node_t tile, const instr_t *instr, uint32_t line);

// Reads the text form into an empty program. False with one line in error, "NAME:LINE: expected ..., found ...". The
// program is to be freed in both cases. text needs no terminating zero.
bool program_parse(program *p, const char *name, const char *text, size_t size, char error[PROGRAM_ERROR]);
// The same from a file.
bool program_load(program *p, const char *path, char error[PROGRAM_ERROR]);

// Writes the text form; parsed again it gives the same program, instruction by instruction.
void program_print(const program *p, FILE *out);
// The text of one instruction, without a newline. An instruction that its operation's syntax does not cover (unknown
// operation, fields set that the operation does not use) is written as `raw` with its 256 bits.
void program_print_instr(const instr_t *instr, char text[PROGRAM_LINE]);

// Whether the program may run. False with one line in error that names the tile, the instruction and, where there is
// one, the line of the text `name` (NULL: no name). Each finding is explained in docs/programs.md.
bool program_check(const program *p, const char *name, char error[PROGRAM_ERROR]);
#endif
