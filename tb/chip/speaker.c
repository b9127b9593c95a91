#include "chip/speaker.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const compiled *c;
    const speaker_options *options;
    speaker_result *out;
    program text;
    harness_program now;
    harness_region images[CHIP_PORTS], results[CHIP_TILES];
    compiled_logits places[CHIP_TILES];
    size_t num_results;
    row_t *rows[CHIP_TILES];
    float *logits; // [vocabulary]
    char why[PROGRAM_ERROR + 32]; // what stopped the host, "" for nothing
} speaker;

// The program in s->text for the harness; it must pass the checker, which is asked for the first and the last position
// of a block of positions: in between only addresses differ.
static bool show_program(speaker *s, uint64_t *count) {
    for (int t = 0; t < CHIP_TILES; t++) {
        s->now.instrs[t] = s->text.tiles[t].instrs;
        s->now.num_instrs[t] = s->text.tiles[t].count;
        *count += s->text.tiles[t].count;
    }
    bool due = s->out->steps % 32 < 2;
    char error[PROGRAM_ERROR];
    if (!due || program_check(&s->text, "program", error)) return true;
    snprintf(s->why, sizeof s->why, "step %u: %s", s->out->steps, error);
    return false;
}

static void gather_logits(speaker *s) {
    for (int t = 0; t < CHIP_TILES; t++)
        if (s->places[t].count)
            memcpy(s->logits + s->places[t].first, s->rows[t], s->places[t].count * sizeof *s->logits);
}

static const harness_program *more(void *context, uint64_t cycles) {
    speaker *s = context;
    speaker_step step;
    if (s->out->steps)
        gather_logits(s);
    else
        s->out->place_cycles = cycles;
    if (!s->options->step(s->options->context, s->out->steps ? s->logits : NULL, &step)) return NULL;
    program_free(&s->text);
    program_init(&s->text);
    bool made = compiled_token(s->c, step.token, step.position, &s->text);
    if (!made) snprintf(s->why, sizeof s->why, "no memory for a program");
    made = made && show_program(s, &s->out->token_instrs);
    s->out->steps++;
    return made ? &s->now : NULL;
}

static bool prepare(speaker *s, uint32_t vocabulary) {
    s->logits = calloc(vocabulary, sizeof *s->logits);
    bool ok = s->logits != NULL;
    for (int p = 0; p < CHIP_PORTS; p++) {
        compiler_image image = compiled_image(s->c, p);
        s->images[p] = (harness_region){.name = "model", .port = p, .rows = image.count, .data = image.rows};
    }
    for (int t = 0; ok && t < CHIP_TILES; t++) {
        const compiled_logits *l = &s->places[t];
        s->places[t] = compiled_logits_of(s->c, t);
        if (!l->count) continue;
        ok = (s->rows[t] = calloc(l->rows, sizeof *s->rows[t])) != NULL;
        s->results[s->num_results++] =
            (harness_region){.name = "logits", .port = l->port, .row = l->row, .rows = l->rows, .result = s->rows[t]};
    }
    return ok && compiled_place(s->c, &s->text) && show_program(s, &s->out->place_instrs);
}

harness_verdict speaker_run(const compiled *c, uint32_t vocabulary, const speaker_options *options,
                            speaker_result *out) {
    memset(out, 0, sizeof *out);
    speaker *s = calloc(1, sizeof *s);
    if (!s) return out->run.verdict = HARNESS_NO_MEMORY;
    *s = (speaker){.c = c, .options = options, .out = out};
    program_init(&s->text);
    if (prepare(s, vocabulary)) {
        harness_job job = {&s->now, 1, s->images, CHIP_PORTS, s->results, s->num_results, more, s};
        harness_run(&job, &options->chip, &out->run);
    } else {
        out->run.verdict = HARNESS_NO_MEMORY;
    }
    if (s->why[0]) {
        out->run.verdict = HARNESS_BAD_JOB;
        snprintf(out->run.text, sizeof out->run.text, "%s", s->why);
    }
    program_free(&s->text);
    for (int t = 0; t < CHIP_TILES; t++) free(s->rows[t]);
    free(s->logits);
    free(s);
    return out->run.verdict;
}
