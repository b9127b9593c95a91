#include "chip/product.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const product_options *options;
    product_result *out;
    bool failed;
} collector;

static void keep_window(void *context, const harness_window *window, uint32_t milliwatt[CHIP_TILES]) {
    collector *c = context;
    product_result *r = c->out;
    if (r->num_windows == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 256;
        product_window *grown = realloc(r->windows, capacity * sizeof *grown);
        c->failed |= !grown;
        if (!grown) return;
        r->windows = grown;
        r->capacity = capacity;
    }
    product_window *w = &r->windows[r->num_windows++];
    w->begin = window->begin;
    w->cycles = window->cycles;
    for (int t = 0; t < CHIP_TILES; t++) {
        double pj = energy_total(c->options->energy, window->counts[t]);
        w->pj[t] = (float)pj;
        // pJ a cycle times MHz is microwatt
        milliwatt[t] = (uint32_t)(pj / window->cycles * CFG_CLOCK_MHZ / 1000);
    }
}

// The kernel as a job of the harness; its arrays are allocated. False where there is no memory.
static bool make_job(const kernel *k, harness_job *job, row_t **results) {
    harness_program *programs = calloc(k->num_programs, sizeof *programs);
    harness_region *images = calloc(HBM_PORTS, sizeof *images);
    harness_region *regions = calloc(k->num_regions, sizeof *regions);
    size_t rows = 0;
    *job = (harness_job){.programs = programs,
                         .num_programs = k->num_programs,
                         .images = images,
                         .num_images = HBM_PORTS,
                         .results = regions,
                         .num_results = k->num_regions};
    *results = NULL;
    if (!programs || !images || !regions) return false;
    for (uint32_t p = 0; p < k->num_programs; p++)
        for (int t = 0; t < CHIP_TILES; t++) {
            programs[p].instrs[t] = k->programs[p].tiles[t].instrs;
            programs[p].num_instrs[t] = k->programs[p].tiles[t].count;
        }
    for (int p = 0; p < HBM_PORTS; p++)
        images[p] = (harness_region){.name = k->name, .port = p, .rows = k->hbm[p].count, .data = k->hbm[p].rows};
    for (uint32_t i = 0; i < k->num_regions; i++) {
        const kernel_region *r = &k->regions[i];
        regions[i] = (harness_region){.name = k->name, .port = r->port, .row = r->row, .rows = r->nt * r->m * (CFG_COLS / 8)};
        rows += regions[i].rows;
    }
    row_t *to = *results = calloc(rows, sizeof *to);
    for (uint32_t i = 0; to && i < k->num_regions; to += regions[i++].rows) regions[i].result = to;
    return *results != NULL;
}

static void free_job(harness_job *job, row_t *results) {
    free((void *)job->programs);
    free((void *)job->images);
    free((void *)job->results);
    free(results);
}

// y from the result rows that the harness has copied out.
static bool unpack(const kernel *k, const harness_job *job, float *y) {
    hbm mem;
    hbm_init(&mem);
    bool ok = true;
    for (size_t i = 0; ok && i < job->num_results; i++) {
        const harness_region *r = &job->results[i];
        row_t *rows = hbm_rows(&mem, r->port, r->row, r->rows);
        ok = rows != NULL;
        if (ok) memcpy(rows, r->result, r->rows * sizeof *rows);
    }
    ok = ok && kernel_result(k, &mem, y);
    hbm_free(&mem);
    return ok;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void compare(const kernel *k, const float *got, const float *want, product_result *out) {
    out->elements = (uint64_t)k->spec.m * k->spec.n;
    for (uint64_t i = 0; i < out->elements; i++) {
        if (bits_of(got[i]) == bits_of(want[i])) continue;
        if (!out->reference_mismatches++ && out->run.verdict == HARNESS_OK)
            snprintf(out->run.text, sizeof out->run.text, "%s, element [%llu][%llu]: got %08x (chip), want %08x (reference)",
                     k->name, (unsigned long long)(i / k->spec.n), (unsigned long long)(i % k->spec.n), bits_of(got[i]),
                     bits_of(want[i]));
    }
    if (out->reference_mismatches && out->run.verdict == HARNESS_OK) out->run.verdict = HARNESS_MISMATCH;
}

static bool run(const kernel *k, const gemm_operands *o, const product_options *options, const harness_job *job, float *y,
                product_result *out) {
    collector c = {options, out, false};
    harness_options h = {.backend = options->backend, .seed = options->seed, .wave = options->wave};
    h.wave_cycles = options->wave_cycles;
    h.on_window = options->energy ? keep_window : NULL;
    h.context = &c;
    harness_verdict verdict = harness_run(job, &h, &out->run);
    if (c.failed) return false;
    if (verdict != HARNESS_OK && verdict != HARNESS_MISMATCH) return true;
    size_t size = (size_t)k->spec.m * k->spec.n;
    float *got = y ? y : malloc(size * sizeof *got);
    float *want = options->reference ? malloc(size * sizeof *want) : NULL;
    bool ok = got && (want || !options->reference) && unpack(k, job, got);
    if (ok && want && (ok = kernel_reference(k, o, want))) compare(k, got, want, out);
    free(want);
    if (!y) free(got);
    return ok;
}

harness_verdict product_run(const kernel *k, const gemm_operands *o, const product_options *options, float *y,
                            product_result *out) {
    harness_job job;
    row_t *results;
    memset(out, 0, sizeof *out);
    bool ok = make_job(k, &job, &results) && run(k, o, options, &job, y, out);
    if (!ok) {
        out->run.verdict = HARNESS_NO_MEMORY;
        snprintf(out->run.text, sizeof out->run.text, "%s: no memory", k->name);
    }
    free_job(&job, results);
    return out->run.verdict;
}

void product_free(product_result *r) {
    free(r->windows);
    r->windows = NULL;
    r->num_windows = r->capacity = 0;
}
