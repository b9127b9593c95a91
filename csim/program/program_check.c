#include "program/program_check.h"
#include "program/program_text.h"

#include <stdarg.h>
#include <stdlib.h>

bool program_refuse(check_ctx *c, int tile, uint32_t index, const char *format, ...) {
    const program_tile *t = &c->p->tiles[tile];
    char what[PROGRAM_ERROR / 2], op[32] = "its end", line[16] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (index < t->count) program_op_name(&t->instrs[index], op);
    if (index < t->count && t->lines[index]) snprintf(line, sizeof line, "%u:", t->lines[index]);
    snprintf(c->error, PROGRAM_ERROR, "%.128s%s%s%stile %d %d, instruction %u (%s): %s", c->name ? c->name : "",
             c->name ? ":" : "", line, c->name || *line ? " " : "", tile % CFG_TILES_X, tile / CFG_TILES_X, index, op,
             what);
    return false;
}

// The instruction being checked.
typedef struct {
    check_ctx *c;
    int tile;
    uint32_t index;
    const instr_t *i;
} here_t;

static bool rows_fit(const here_t *h, const char *what, uint32_t first, uint64_t rows) {
    if (rows == 0 || first + rows <= SRAM_ROWS) return true; // 0: an operand that this instruction does not read
    return program_refuse(h->c, h->tile, h->index, "%s: rows 0x%04x + %llu leave the SRAM of %d rows", what, first,
                          (unsigned long long)rows, SRAM_ROWS);
}

static bool apart(const here_t *h, const char *what, uint32_t a, uint64_t rows_a, uint32_t c, uint64_t rows_c) {
    if (rows_a == 0 || a + rows_a <= c || c + rows_c <= a) return true;
    return program_refuse(h->c, h->tile, h->index, "%s (0x%04x + %llu) overlaps the result (0x%04x + %llu)", what, a,
                          (unsigned long long)rows_a, c, (unsigned long long)rows_c);
}

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}

static int fmt_bits(int fmt) {
    return fmt == FMT_BF16 ? 16 : fmt == FMT_E2M1 || fmt == FMT_INT4 ? 4 : 8;
}

// Rows of each operand as docs/architecture.md lays them out; all inside the SRAM, none under the result.
static bool check_matmul(const here_t *h) {
    const instr_t *i = h->i;
    if (i->m == 0 || i->n == 0 || i->k == 0)
        return program_refuse(h->c, h->tile, h->index, "m, n and k must be 1 or more");
    if (i->m > CFG_ROWS)
        return program_refuse(h->c, h->tile, h->index, "m=%u exceeds the %d accumulator rows", i->m, CFG_ROWS);
    if (i->scale_a == SCALE_BF16)
        return program_refuse(h->c, h->tile, h->index, "scales of activations are none or e8m0");
    uint64_t kb = ceil_div(i->k, 32), nt = ceil_div(i->n, CFG_COLS), columns = kb * nt * CFG_COLS;
    uint64_t a = kb * i->m * (i->fmt_a == FMT_BF16 ? 2 : 1);
    uint64_t as = i->scale_a == SCALE_NONE ? 0 : kb * ceil_div(i->m, 32);
    uint64_t w = columns * (uint64_t)fmt_bits(i->fmt_w) / 8;
    uint64_t ws = i->scale_w == SCALE_NONE ? 0 : ceil_div(columns * (i->scale_w == SCALE_BF16 ? 2 : 1), ROW_BYTES);
    uint64_t c = nt * i->m * (CFG_COLS / 8);
    return rows_fit(h, "activations", i->addr_a, a) && rows_fit(h, "activation scales", i->addr_as, as) &&
           rows_fit(h, "weights", i->addr_w, w) && rows_fit(h, "weight scales", i->addr_ws, ws) &&
           rows_fit(h, "result", i->addr_c, c) && apart(h, "activations", i->addr_a, a, i->addr_c, c) &&
           apart(h, "activation scales", i->addr_as, as, i->addr_c, c) &&
           apart(h, "weights", i->addr_w, w, i->addr_c, c) && apart(h, "weight scales", i->addr_ws, ws, i->addr_c, c);
}

static bool check_hbm(const here_t *h) {
    if (h->i->rect.y0 >= CFG_TILES_Y)
        return program_refuse(h->c, h->tile, h->index, "there is no HBM port %s:%u, each side has %d",
                              side_names[h->i->to - TO_WEST], h->i->rect.y0, CFG_TILES_Y);
    if (h->i->hbm_addr > UINT32_MAX - h->i->rows)
        return program_refuse(h->c, h->tile, h->index, "HBM rows 0x%x + %u leave the address space", h->i->hbm_addr,
                              h->i->rows);
    return true;
}

static bool check_rect(const here_t *h) {
    rect_t r = h->i->rect;
    if (r.x0 > r.x1 || r.y0 > r.y1)
        return program_refuse(h->c, h->tile, h->index, "the rectangle %u,%u..%u,%u is empty", r.x0, r.y0, r.x1, r.y1);
    if (r.x1 >= CFG_TILES_X || r.y1 >= CFG_TILES_Y)
        return program_refuse(h->c, h->tile, h->index, "there is no tile %u,%u in %d x %d tiles", r.x1, r.y1,
                              CFG_TILES_X, CFG_TILES_Y);
    return true;
}

static bool check_reduce(const here_t *h) {
    rect_t r = h->i->rect;
    node_t root = h->i->root;
    int x = h->tile % CFG_TILES_X, y = h->tile / CFG_TILES_X;
    if (!check_rect(h)) return false;
    if (x < r.x0 || x > r.x1 || y < r.y0 || y > r.y1)
        return program_refuse(h->c, h->tile, h->index, "this tile lies outside %u,%u..%u,%u", r.x0, r.y0, r.x1, r.y1);
    if (root.x >= CFG_TILES_X || root.y >= CFG_TILES_Y)
        return program_refuse(h->c, h->tile, h->index, "there is no tile %u,%u in %d x %d tiles", root.x, root.y,
                              CFG_TILES_X, CFG_TILES_Y);
    if (root.x < r.x0 || root.x > r.x1)
        return program_refuse(h->c, h->tile, h->index, "the root's column %u lies outside %u,%u..%u,%u", root.x, r.x0,
                              r.y0, r.x1, r.y1);
    return true;
}

static bool check_names(const here_t *h) {
    const instr_t *i = h->i;
    bool sem = i->op == OP_WAIT || i->op == OP_SIGNAL;
    bool tag = i->op == OP_SEND || i->op == OP_MULTICAST || i->op == OP_REDUCE || i->op == OP_RECEIVE;
    bool rows = tag || i->op == OP_COPY || i->op == OP_LOAD || i->op == OP_STORE;
    if (sem && i->sem >= CFG_NUM_SEMS)
        return program_refuse(h->c, h->tile, h->index, "there is no semaphore s%u, there are %d", i->sem, CFG_NUM_SEMS);
    if (sem && i->count == 0) return program_refuse(h->c, h->tile, h->index, "the count must be 1 or more");
    if (tag && i->tag >= CFG_NUM_TAGS)
        return program_refuse(h->c, h->tile, h->index, "there is no tag %u, there are %d", i->tag, CFG_NUM_TAGS);
    if (rows && i->rows == 0) return program_refuse(h->c, h->tile, h->index, "rows must be 1 or more");
    return true;
}

static bool check_instr(const here_t *h) {
    const instr_t *i = h->i;
    if (!program_has_form(i))
        return program_refuse(
            h->c, h->tile, h->index,
            "no instruction: unknown operation, engine or format, or a field set that it does not use");
    if (!check_names(h)) return false;
    if (isa_is_vector(i->op)) return program_check_vector(h->c, h->tile, h->index);
    switch (i->op) {
    case OP_MATMUL:
        return check_matmul(h);
    case OP_COPY:
        return rows_fit(h, "source", i->addr_a, i->rows) && rows_fit(h, "destination", i->addr_c, i->rows) &&
               apart(h, "source", i->addr_a, i->rows, i->addr_c, i->rows);
    case OP_LOAD:
        return check_hbm(h) && rows_fit(h, "destination", i->addr_c, i->rows);
    case OP_STORE:
        return check_hbm(h) && rows_fit(h, "source", i->addr_a, i->rows);
    case OP_SEND:
    case OP_MULTICAST:
    case OP_REDUCE:
        return (i->op == OP_REDUCE ? check_reduce(h) : check_rect(h)) && rows_fit(h, "source", i->addr_a, i->rows) &&
               rows_fit(h, "destination", i->addr_c, i->rows);
    default:
        return true;
    }
}

static bool check_tile(check_ctx *c, int tile) {
    const program_tile *t = &c->p->tiles[tile];
    if (t->count == 0) return true;
    for (uint32_t i = 0; i < t->count; i++) {
        here_t here = {c, tile, i, &t->instrs[i]};
        if (!check_instr(&here)) return false;
        if (t->instrs[i].op == OP_END && i + 1 < t->count)
            return program_refuse(c, tile, i + 1, "stands behind the end of the program");
    }
    if (t->instrs[t->count - 1].op != OP_END)
        return program_refuse(c, tile, t->count, "the program must end with 'end'");
    if (t->count > CFG_IMEM_ROWS)
        return program_refuse(c, tile, CFG_IMEM_ROWS, "the program has %u instructions, the memory holds %d", t->count,
                              CFG_IMEM_ROWS);
    return true;
}

bool program_check_instrs(check_ctx *c) {
    for (int tile = 0; tile < PROGRAM_TILES; tile++)
        if (!check_tile(c, tile)) return false;
    return true;
}

bool program_check(const program *p, const char *name, char error[PROGRAM_ERROR]) {
    uint32_t base[PROGRAM_TILES];
    size_t total = 0;
    for (int t = 0; t < PROGRAM_TILES; t++) {
        base[t] = (uint32_t)total;
        total += p->tiles[t].count;
    }
    check_ctx c = {.p = p, .name = name, .error = error, .base = base};
    if (!program_check_instrs(&c)) return false;
    c.reduction = calloc(total + 1, sizeof *c.reduction);
    if (!c.reduction) {
        snprintf(error, PROGRAM_ERROR, "%.128s: no memory for the check of %zu instructions", name ? name : "", total);
        return false;
    }
    bool ok = program_check_reductions(&c) && program_check_totals(&c) && program_check_run(&c);
    free(c.reduction);
    return ok;
}
