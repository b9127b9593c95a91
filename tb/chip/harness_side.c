#include "chip/harness_side.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void load_instr(side *s, int tile, size_t addr, const instr_t *instr) {
    row_t row = isa_pack(instr);
    if (s->rtl) chip_dut_load(s->dut, tile, (int)addr, &row);
    else chip_load(s->twin, tile, (int)addr, &row);
}

const harness_program *side_program(const side *s, size_t number) {
    if (number < s->job->num_programs) return &s->job->programs[number];
    return number == s->program ? s->next : NULL;
}

static void load_program(side *s) {
    static const instr_t end = {.op = OP_END, .engine = ENG_SEQ};
    const harness_program *p = side_program(s, s->program);
    for (int t = 0; t < CHIP_TILES; t++) {
        size_t count = p->instrs[t] ? p->num_instrs[t] : 0;
        for (size_t i = 0; i < count; i++) load_instr(s, t, i, &p->instrs[t][i]);
        if (!count || p->instrs[t][count - 1].op != OP_END) load_instr(s, t, count, &end);
    }
}

static bool make_hbm(side *s) {
    hbm_init(&s->mem);
    for (size_t r = 0; r < s->job->num_images; r++) {
        const harness_region *image = &s->job->images[r];
        if (!image->rows) continue;
        row_t *to = hbm_rows(&s->mem, image->port, image->row, image->rows);
        if (!to) return false;
        memcpy(to, image->data, image->rows * sizeof *to);
    }
    for (size_t r = 0; r < s->job->num_results; r++) {
        const harness_region *region = &s->job->results[r];
        if (region->rows && !hbm_rows(&s->mem, region->port, region->row, region->rows)) return false;
    }
    s->writes = calloc(s->job->num_results + 1, sizeof *s->writes);
    for (size_t r = 0; s->writes && r < s->job->num_results; r++)
        if (!(s->writes[r] = calloc(s->job->results[r].rows + 1, sizeof **s->writes))) return false;
    return s->writes != NULL;
}

side *side_new(const harness_job *job, const harness_options *options, bool rtl) {
    side *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->rtl = rtl;
    s->job = job;
    if (rtl) s->dut = chip_dut_new(&(dut_options){.seed = options->seed, .wave = options->wave, .wave_cycles = options->wave_cycles});
    else s->twin = chip_new();
    if ((rtl ? s->dut == NULL : s->twin == NULL) || !make_hbm(s)) {
        side_free(s);
        return NULL;
    }
    return s;
}

void side_free(side *s) {
    if (!s) return;
    if (s->dut) chip_dut_free(s->dut);
    if (s->twin) chip_free(s->twin);
    hbm_free(&s->mem);
    for (size_t r = 0; s->writes && r < s->job->num_results; r++) free(s->writes[r]);
    free(s->writes);
    free(s);
}

// Notes who wrote a result row, and when.
static void note_write(side *s, int port, const flit_t *flit) {
    for (size_t r = 0; r < s->job->num_results; r++) {
        const harness_region *region = &s->job->results[r];
        if (region->port == port && flit->addr >= region->row && flit->addr - region->row < region->rows)
            s->writes[r][flit->addr - region->row] = (side_write){s->first + s->cycle, flit->src, s->program};
    }
}

// One clock of chip and HBM. Returns false, without stepping, where the program has ended.
static bool side_cycle(side *s, bool snapshot) {
    chip_in in = {.start = s->cycle == 0, .snapshot = snapshot};
    if (s->rtl) chip_dut_peek(s->dut, &s->out);
    else chip_peek(s->twin, &s->out);
    s->error |= s->out.error;
    if (s->cycle > 0 && s->out.done && !s->ended) {
        s->ended = true;
        return false;
    }
    for (int p = 0; p < CHIP_PORTS; p++) hbm_peek(&s->mem, p, &in.link[p], &in.credit[p]);
    if (s->rtl) chip_dut_step(s->dut, &in);
    else chip_step(s->twin, &in);
    for (int p = 0; p < CHIP_PORTS; p++) {
        const link_t *link = &s->out.link[p];
        if (link->valid && link->flit.kind == FLIT_STORE_DATA) note_write(s, p, &link->flit);
    }
    hbm_step(&s->mem, s->out.link, s->out.credit);
    s->error |= s->mem.error;
    return true;
}

// Reads the counters of the snapshot just made.
static void read_counters(side *s) {
    for (int t = 0; t < CHIP_TILES; t++) {
        uint64_t now[NUM_EVENTS];
        if (s->rtl) chip_dut_counters(s->dut, t, now);
        else chip_counters(s->twin, t, now);
        for (int e = 0; e < NUM_EVENTS; e++) {
            uint64_t total = now[e] - s->base[t][e];
            s->last[t][e] = total - s->total[t][e];
            s->total[t][e] = total;
        }
    }
}

// Loads the program and runs its cycle 0, whose snapshot is what its counts start from.
static void begin_program(side *s) {
    load_program(s);
    s->ended = false;
    s->cycle = 0;
    side_cycle(s, true);
    s->cycle++;
    for (int t = 0; t < CHIP_TILES; t++) {
        uint64_t now[NUM_EVENTS];
        if (s->rtl) chip_dut_counters(s->dut, t, now);
        else chip_counters(s->twin, t, now);
        for (int e = 0; e < NUM_EVENTS; e++) s->base[t][e] = now[e] - s->total[t][e];
    }
}

// The snapshot of cycle n W of a program ends a window, and that of its first idle cycle the program.
void side_window(side *s) {
    double before = cpu_seconds();
    if (s->ended) {
        s->first = s->end;
        s->program++;
        s->cycle = 0;
    }
    if (s->cycle == 0) begin_program(s);
    s->begin = s->first + s->cycle - 1;
    bool boundary = false;
    while (!s->ended && !boundary) {
        boundary = s->cycle % CFG_WINDOW == 0;
        if (side_cycle(s, boundary)) s->cycle++;
        else side_cycle(s, true);
    }
    s->end = s->first + (s->ended ? s->cycle : s->cycle - 1);
    s->done = s->ended && s->program + 1 >= s->job->num_programs;
    read_counters(s);
    s->seconds += cpu_seconds() - before;
}

void side_continue(side *s, const harness_program *next) {
    s->next = next;
    s->done = false;
}

row_t side_row(side *s, const harness_region *region, uint32_t i) {
    const row_t *row = hbm_rows(&s->mem, region->port, region->row + i, 1);
    return row ? *row : (row_t){{0}};
}

chip_wait side_waits(const side *s, int tile, int engine) {
    return s->rtl ? chip_dut_waits(s->dut, tile, engine) : chip_waits(s->twin, tile, engine);
}
