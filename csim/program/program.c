#include "program/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void program_init(program *p) {
    memset(p, 0, sizeof *p);
}

void program_free(program *p) {
    for (int t = 0; t < PROGRAM_TILES; t++) {
        free(p->tiles[t].instrs);
        free(p->tiles[t].lines);
    }
    program_init(p);
}

static bool grow(program_tile *t) {
    uint32_t capacity = t->capacity ? 2 * t->capacity : 64;
    instr_t *instrs = realloc(t->instrs, capacity * sizeof *instrs);
    if (!instrs) return false;
    t->instrs = instrs;
    uint32_t *lines = realloc(t->lines, capacity * sizeof *lines);
    if (!lines) return false;
    t->lines = lines;
    t->capacity = capacity;
    return true;
}

// Whether every field fits its bits and belongs to the operation's layout: nothing is lost in the 256 bits.
static bool fits(const instr_t *i) {
    row_t row = isa_pack(i);
    instr_t back = isa_unpack(&row);
    return isa_equal(i, &back);
}

bool program_add(program *p, node_t tile, const instr_t *instr, uint32_t line) {
    if (tile.x >= CFG_TILES_X || tile.y >= CFG_TILES_Y || !fits(instr)) return false;
    program_tile *t = &p->tiles[tile.y * CFG_TILES_X + tile.x];
    if (t->count == t->capacity && !grow(t)) return false;
    t->instrs[t->count] = *instr;
    t->lines[t->count++] = line;
    return true;
}

enum { MAX_FILE_BYTES = 1 << 30 };

// The whole of a file, NULL with errno where that fails.
static char *read_all(FILE *f, size_t *size) {
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    for (*size = 0; text; capacity *= 2) {
        *size += fread(text + *size, 1, capacity - *size, f);
        if (ferror(f)) break;
        if (*size < capacity) return text;
        if (capacity >= MAX_FILE_BYTES) {
            errno = EFBIG;
            break;
        }
        char *more = realloc(text, 2 * capacity);
        if (!more) break;
        text = more;
    }
    free(text);
    return NULL;
}

bool program_load(program *p, const char *path, char error[PROGRAM_ERROR]) {
    size_t size;
    FILE *f = fopen(path, "rb");
    char *text = f ? read_all(f, &size) : NULL;
    if (!text) snprintf(error, PROGRAM_ERROR, "%s: expected a readable program: %s", path, strerror(errno));
    if (f) fclose(f);
    bool ok = text && program_parse(p, path, text, size, error);
    free(text);
    return ok;
}
