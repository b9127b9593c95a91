// The check of a vector instruction. Which rows an operand touches is found as a set, so strided operands may
// interleave.
#include "program/program_check.h"
#include "vector/vec.h"

typedef struct {
    bool has[SRAM_ROWS];
} row_set;

// Extent of an operand's loops; the row of indices (x, y, r) is addr + x * line + y * seg + r.
typedef struct {
    const char *what;
    const vec_operand *of;
    uint64_t lines, segs, rows;
} walk_t;

// Adds to every row of the set those `stride`, 2 `stride`, .. (count - 1) `stride` rows above it; none leaves the SRAM.
static void spread(row_set *s, uint32_t stride, uint64_t count) {
    uint32_t more[SRAM_ROWS]; // rows still to be marked above this one
    if (stride == 0 || count < 2) return;
    for (uint32_t i = 0; i < SRAM_ROWS; i++) {
        uint32_t below = i >= stride ? more[i - stride] : 0;
        more[i] = s->has[i] ? (uint32_t)(count - 1) : below ? below - 1 : 0;
        s->has[i] |= below > 0;
    }
}

static row_set rows_of(const walk_t *w) {
    row_set s = {{false}};
    s.has[w->of->addr] = true;
    spread(&s, w->of->line, w->lines);
    spread(&s, w->of->seg, w->segs);
    spread(&s, 1, w->rows);
    return s;
}

static uint64_t size_of(const row_set *s) {
    uint64_t n = 0;
    for (int i = 0; i < SRAM_ROWS; i++) n += s->has[i];
    return n;
}

static bool meet(const row_set *a, const row_set *b) {
    for (int i = 0; i < SRAM_ROWS; i++)
        if (a->has[i] && b->has[i]) return true;
    return false;
}

static bool same_walk(const vec_operand *a, const vec_operand *b) {
    return a->addr == b->addr && a->line == b->line && a->seg == b->seg && a->wide == b->wide;
}

// The instruction being checked.
typedef struct {
    check_ctx *c;
    int tile;
    uint32_t index;
    const vec_args *args;
    vec_facts facts;
    walk_t walk[VEC_OPERANDS];
    bool used[VEC_OPERANDS], written[VEC_OPERANDS];
} here_t;

#define REFUSE(h, ...) program_refuse((h)->c, (h)->tile, (h)->index, __VA_ARGS__)

static bool check_sizes(const here_t *h) {
    const vec_args *v = h->args;
    if (!v->outer || !v->lines || !v->segs || !v->rows)
        return REFUSE(h, "outer, lines, segs and rows must be 1 or more");
    int steps = v->segs * v->rows, need = h->facts.kind == VEC_BF16 ? 2 : h->facts.kind == VEC_QUANT ? 4 : steps;
    if (steps != need) return REFUSE(h, "segs * rows must be %d, it is %d", need, steps);
    return vec_fits(&h->facts, v) || REFUSE(h, "the formats are e2m1, e4m3, e5m2 and int8");
}

static void find_walks(here_t *h) {
    static const char *const names[VEC_OPERANDS] = {"a", "b", "the result"};
    const vec_args *v = h->args;
    bool quant = h->facts.kind == VEC_QUANT;
    for (int x = 0; x < VEC_OPERANDS; x++) {
        bool wide = v->of[x].wide;
        h->walk[x] =
            (walk_t){names[x], &v->of[x], v->lines, wide ? (uint64_t)v->outer * v->segs : v->outer, wide ? v->rows : 1};
        h->used[x] = h->facts.uses[x];
    }
    h->used[VEC_C] = h->written[VEC_C] = true;
    if (!quant) return;
    h->used[VEC_B] = h->written[VEC_B] = true;
    h->walk[VEC_B].what = "the scales";
    h->walk[VEC_B].lines = (v->lines + 31u) / 32;
}

static bool inside(const here_t *h, const walk_t *w) {
    uint64_t last = w->of->addr + (w->lines - 1) * w->of->line + (w->segs - 1) * w->of->seg + w->rows - 1;
    return last < SRAM_ROWS || REFUSE(h, "%s: rows 0x%04x to 0x%04llx leave the SRAM of %d rows", w->what, w->of->addr,
                                      (unsigned long long)last, SRAM_ROWS);
}

// What operand x writes: each row once, none that another operand touches, unless that one walks as x does and is read.
static bool check_written(const here_t *h, int x) {
    const walk_t *w = &h->walk[x];
    row_set rows = rows_of(w);
    if (size_of(&rows) != w->lines * w->segs * w->rows)
        return REFUSE(h, "%s: a row is written more than once", w->what);
    for (int y = 0; y < VEC_OPERANDS; y++) {
        if (y == x || !h->used[y] || (!h->written[y] && same_walk(w->of, h->walk[y].of))) continue;
        row_set others = rows_of(&h->walk[y]);
        if (meet(&rows, &others))
            return REFUSE(h, "rows of %s are rows of %s too, which walks otherwise", w->what, h->walk[y].what);
    }
    return true;
}

bool program_check_vector(check_ctx *c, int tile, uint32_t index) {
    const instr_t *i = &c->p->tiles[tile].instrs[index];
    here_t h = {.c = c, .tile = tile, .index = index, .args = &i->vec, .facts = vec_facts_of(i->op)};
    if (!check_sizes(&h)) return false;
    find_walks(&h);
    for (int x = 0; x < VEC_OPERANDS; x++)
        if (h.used[x] && !inside(&h, &h.walk[x])) return false;
    for (int x = 0; x < VEC_OPERANDS; x++)
        if (h.written[x] && !check_written(&h, x)) return false;
    return true;
}
