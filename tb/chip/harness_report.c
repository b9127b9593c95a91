#include "chip/harness_report.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *unit, *event, *meaning;
} names[] = {
#define NAME(unit, event, bits, energy, meaning) {unit, event, meaning},
    EVENTS_TABLE(NAME)
#undef NAME
};

static bool is_stall(int event) {
    return !strncmp(names[event].event, "stall", 5);
}

bool report_is_progress(int event) {
    const char *name = names[event].event;
    return !is_stall(event) && strcmp(name, "idle") && strcmp(name, "gated") && strcmp(name, "conflicts") &&
           strcmp(name, "credit_stalls") && strcmp(name, "write_stalls");
}

// Appends formatted text; what does not fit is cut.
static void add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    __builtin_va_list args;
    __builtin_va_start(args, format);
    if (used + 1 < size) vsnprintf(text + used, size - used, format, args);
    __builtin_va_end(args);
}

static int engine_of(const char *unit) {
    static const char *const engines[NUM_ENGINES] = {"matmul", "move", "send", "recv", "vec"};
    for (int e = 0; e < NUM_ENGINES; e++)
        if (!strcmp(unit, engines[e])) return e;
    return -1;
}

void report_stuck(const side *s, char *text, size_t size) {
    for (int t = 0; t < CHIP_TILES; t++) {
        for (int e = 0; e < NUM_EVENTS; e++) {
            if (!is_stall(e) || !s->last[t][e]) continue;
            add(text, size, "; tile (%d,%d) %s: %s", t % CFG_TILES_X, t / CFG_TILES_X, names[e].unit, names[e].meaning);
            int engine = engine_of(names[e].unit);
            chip_wait wait = engine < 0 ? (chip_wait){0} : side_waits(s, t, engine);
            if (wait.valid && !strcmp(names[e].event, "stall_sem"))
                add(text, size, " (semaphore %d >= %d)", wait.sem, wait.count);
        }
    }
}

void report_counter(const side *got, const side *want, int tile, int event, char *text, size_t size) {
    snprintf(text, size,
             "counter %s.%s of tile (%d,%d), cycles %llu to %llu: got %llu (rtl), want %llu (twin); in the run so far "
             "%llu and %llu",
             names[event].unit, names[event].event, tile % CFG_TILES_X, tile / CFG_TILES_X,
             (unsigned long long)want->begin, (unsigned long long)want->end - 1,
             (unsigned long long)got->last[tile][event], (unsigned long long)want->last[tile][event],
             (unsigned long long)got->total[tile][event], (unsigned long long)want->total[tile][event]);
}

// Index of the STORE of a tile that writes row `row` of an HBM port, -1 for none or where the program is gone.
static int find_store(const harness_program *program, node_t src, int port, uint32_t row) {
    int t = src.y * CFG_TILES_X + src.x;
    if (t >= CHIP_TILES || !program || !program->instrs[t]) return -1;
    uint8_t to = port < CFG_TILES_Y ? TO_WEST : TO_EAST;
    for (size_t i = 0; i < program->num_instrs[t]; i++) {
        const instr_t *instr = &program->instrs[t][i];
        if (instr->op == OP_STORE && instr->to == to && instr->rect.y0 == port % CFG_TILES_Y &&
            row >= instr->hbm_addr && row - instr->hbm_addr < instr->rows)
            return (int)i;
    }
    return -1;
}

void report_word(side *got, side *want, size_t region, uint32_t i, int word, char *text, size_t size) {
    const harness_region *r = &want->job->results[region];
    side_write write = got->writes[region][i];
    row_t a = side_row(got, r, i), b = side_row(want, r, i);
    snprintf(text, size, "result %s, element %llu (port %d, row %u, word %d): ", r->name ? r->name : "region",
             (unsigned long long)i * 8 + (unsigned)word, r->port, r->row + i, word);
    if (write.cycle)
        add(text, size, "tile (%d,%d), program %zu, instruction %d (STORE), cycle %llu: ", write.src.x, write.src.y,
            write.program, find_store(side_program(want, write.program), write.src, r->port, r->row + i),
            (unsigned long long)write.cycle);
    else add(text, size, "never written: ");
    add(text, size, "got %08x (rtl), want %08x (twin)", (uint32_t)(a.w[word / 2] >> 32 * (word % 2)),
        (uint32_t)(b.w[word / 2] >> 32 * (word % 2)));
}
