#include "chip/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip/harness_report.h"

const char *harness_verdict_name(harness_verdict verdict) {
    static const char *const names[] = {"OK", "MISMATCH", "DEADLOCK", "TIMEOUT", "ERROR", "BAD JOB", "NO MEMORY"};
    return names[verdict];
}

static bool check_regions(const harness_region *regions, size_t count, bool images, harness_result *result) {
    for (size_t i = 0; i < count; i++) {
        const harness_region *r = &regions[i];
        if (r->port < 0 || r->port >= CHIP_PORTS || r->row + r->rows < r->row || (images && r->rows && !r->data)) {
            snprintf(result->text, sizeof result->text, "%s %zu (%s): port %d, rows %u to %u, expected a port of 0 to %d",
                     images ? "image" : "result", i, r->name ? r->name : "-", r->port, r->row, r->row + r->rows,
                     CHIP_PORTS - 1);
            return false;
        }
    }
    return true;
}

static bool check_program(const harness_program *p, size_t number, harness_result *result) {
    for (int t = 0; t < CHIP_TILES; t++) {
        bool ends = p->instrs[t] && p->num_instrs[t] && p->instrs[t][p->num_instrs[t] - 1].op == OP_END;
        size_t count = p->num_instrs[t] - ends;
        if (!p->instrs[t] || count <= CFG_IMEM_ROWS - 1) continue;
        snprintf(result->text, sizeof result->text, "program %zu of tile (%d,%d): %zu instructions, expected at most %d",
                 number, t % CFG_TILES_X, t / CFG_TILES_X, count, CFG_IMEM_ROWS - 1);
        return false;
    }
    return true;
}

static bool check_job(const harness_job *job, harness_result *result) {
    if (!job->num_programs) snprintf(result->text, sizeof result->text, "no program");
    if (!job->num_programs) return false;
    for (size_t i = 0; i < job->num_programs; i++)
        if (!check_program(&job->programs[i], i, result)) return false;
    return check_regions(job->images, job->num_images, true, result) &&
           check_regions(job->results, job->num_results, false, result);
}

// A difference: counted, and described where it is the first.
static bool first_mismatch(harness_result *result) {
    return result->mismatches++ == 0;
}

// Compares the windows just run.
static void compare_windows(const side *rtl, const side *twin, harness_result *result) {
    for (int t = 0; t < CHIP_TILES; t++)
        for (int e = 0; e < NUM_EVENTS; e++)
            if (rtl->last[t][e] != twin->last[t][e] && first_mismatch(result))
                report_counter(rtl, twin, t, e, result->text, sizeof result->text);
    if ((rtl->ended != twin->ended || rtl->end != twin->end) && first_mismatch(result))
        snprintf(result->text, sizeof result->text, "cycles: rtl %s at cycle %llu, twin %s at cycle %llu",
                 rtl->ended ? "done" : "running", (unsigned long long)rtl->end, twin->ended ? "done" : "running",
                 (unsigned long long)twin->end);
}

static void compare_results(side *rtl, side *twin, harness_result *result) {
    for (size_t r = 0; r < rtl->job->num_results; r++) {
        const harness_region *region = &rtl->job->results[r];
        for (uint32_t i = 0; i < region->rows; i++) {
            row_t a = side_row(rtl, region, i), b = side_row(twin, region, i);
            result->rows_compared++;
            for (int w = 0; w < ROW_BYTES / 4; w++) {
                uint64_t differ = (a.w[w / 2] ^ b.w[w / 2]) >> 32 * (w % 2);
                if ((uint32_t)differ && first_mismatch(result))
                    report_word(rtl, twin, r, i, w, result->text, sizeof result->text);
            }
        }
    }
}

static bool progressed(const side *s) {
    for (int t = 0; t < CHIP_TILES; t++)
        for (int e = 0; e < NUM_EVENTS; e++)
            if (s->last[t][e] && report_is_progress(e)) return true;
    return false;
}

// Reports the window of s to the caller; the power it returns goes into the waves.
static void show_window(side *s, const harness_options *options) {
    if (!options->on_window || s->end == s->begin) return;
    harness_window window = {s->begin, (uint32_t)(s->end - s->begin), (const uint64_t(*)[NUM_EVENTS])s->last};
    uint32_t milliwatt[CHIP_TILES] = {0};
    options->on_window(options->context, &window, milliwatt);
    for (int t = 0; s->dut && t < CHIP_TILES; t++) chip_dut_power(s->dut, t, milliwatt[t]);
}

// What ends a run before its programs do; HARNESS_OK to go on.
static harness_verdict watch(const side *s, uint64_t *moved, const harness_options *options, harness_result *result) {
    uint64_t patience = options->stall_cycles ? options->stall_cycles : 4 * CFG_HBM_LATENCY + 4096;
    if (s->error || (s->dut && chip_dut_errors(s->dut))) {
        if (!result->mismatches)
            snprintf(result->text, sizeof result->text, "%s: error raised in cycles %llu to %llu: %s",
                     s->rtl ? "rtl" : "twin", (unsigned long long)s->begin, (unsigned long long)s->end,
                     s->mem.error ? s->mem.text : s->out.error ? "the chip's error output" : "an assertion of the RTL");
        return HARNESS_ERROR;
    }
    if (s->done) return HARNESS_OK;
    if (progressed(s)) *moved = s->end;
    harness_verdict verdict = HARNESS_OK;
    if (s->end - *moved >= patience) verdict = HARNESS_DEADLOCK;
    else if (options->max_cycles && s->end >= options->max_cycles) verdict = HARNESS_TIMEOUT;
    if (verdict == HARNESS_OK || result->mismatches) return verdict;
    snprintf(result->text, sizeof result->text, "%s: %s at cycle %llu", s->rtl ? "rtl" : "twin",
             harness_verdict_name(verdict), (unsigned long long)s->end);
    report_stuck(s, result->text, sizeof result->text);
    return verdict;
}

// Copies the results from the backend that counts to the caller.
static void copy_results(side *s) {
    for (size_t r = 0; r < s->job->num_results; r++) {
        const harness_region *region = &s->job->results[r];
        for (uint32_t i = 0; region->result && i < region->rows; i++) region->result[i] = side_row(s, region, i);
    }
}

// The programs of the job have ended alike. HARNESS_OK, and *goes_on where the caller has one more.
static harness_verdict go_on(side *sides[2], bool *goes_on, harness_result *result) {
    side *first = sides[0] ? sides[0] : sides[1];
    const harness_job *job = first->job;
    *goes_on = false;
    if (sides[0] && sides[1]) compare_results(sides[0], sides[1], result);
    if (result->mismatches) return HARNESS_MISMATCH;
    if (!job->more) return HARNESS_OK;
    copy_results(first);
    const harness_program *next = job->more(job->context, first->end);
    if (!next) return HARNESS_OK;
    if (!check_program(next, first->program + 1, result)) return HARNESS_BAD_JOB;
    for (int i = 0; i < 2; i++)
        if (sides[i]) side_continue(sides[i], next);
    *goes_on = true;
    return HARNESS_OK;
}

static harness_verdict run(side *sides[2], const harness_options *options, harness_result *result) {
    side *first = sides[0] ? sides[0] : sides[1];
    uint64_t moved[2] = {0, 0};
    for (;;) {
        for (int i = 0; i < 2; i++)
            if (sides[i]) side_window(sides[i]);
        if (sides[0] && sides[1]) compare_windows(sides[0], sides[1], result);
        show_window(first, options);
        for (int i = 0; i < 2; i++) {
            harness_verdict verdict = sides[i] ? watch(sides[i], &moved[i], options, result) : HARNESS_OK;
            if (verdict != HARNESS_OK) return result->mismatches ? HARNESS_MISMATCH : verdict;
        }
        bool differ = sides[0] && sides[1] && (sides[0]->ended != sides[1]->ended || sides[0]->end != sides[1]->end);
        bool goes_on = !differ;
        if (differ) compare_results(sides[0], sides[1], result);
        harness_verdict verdict = first->done && !differ ? go_on(sides, &goes_on, result) : HARNESS_OK;
        if (!goes_on) return verdict == HARNESS_OK && result->mismatches ? HARNESS_MISMATCH : verdict;
    }
}

harness_verdict harness_run(const harness_job *job, const harness_options *options, harness_result *result) {
    memset(result, 0, sizeof *result);
    if (!check_job(job, result)) return result->verdict = HARNESS_BAD_JOB;
    side *sides[2] = {NULL, NULL}; // RTL, twin
    bool memory = true;
    if (options->backend & HARNESS_RTL) memory &= (sides[0] = side_new(job, options, true)) != NULL;
    if (options->backend & HARNESS_TWIN) memory &= (sides[1] = side_new(job, options, false)) != NULL;
    if (memory && (sides[0] || sides[1])) {
        result->verdict = run(sides, options, result);
        side *counts = sides[0] ? sides[0] : sides[1];
        copy_results(counts);
        result->cycles = counts->end;
        memcpy(result->counters, counts->total, sizeof result->counters);
    } else {
        result->verdict = HARNESS_NO_MEMORY;
        snprintf(result->text, sizeof result->text, "no memory for the chip");
    }
    if (sides[1]) result->model_cycles = sides[1]->end;
    if (sides[0]) result->seconds_rtl = sides[0]->seconds;
    if (sides[1]) result->seconds_twin = sides[1]->seconds;
    for (int i = 0; i < 2; i++) side_free(sides[i]);
    return result->verdict;
}
