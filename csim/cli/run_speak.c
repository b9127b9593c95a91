#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run_session.h"

static const char NAME[] = "run";

typedef struct {
    const run_arguments *a;
    run_session *s;
    size_t shown; // tokens in front that are not printed
} speech;

static void print_token(const run_session *s, uint32_t id, bool first) {
    size_t size, skip = 0;
    if (!s->words)
        printf("%s%u", first ? "" : " ", id);
    else {
        const char *bytes = tok_bytes(s->words, id, &size);
        skip = first && size && bytes[0] == ' '; // the space in front of a text
        fwrite(bytes + skip, 1, size - skip, stdout);
    }
    fflush(stdout);
}

static bool ends(const llm_config *c, uint32_t id) {
    for (uint32_t i = 0; i < c->num_ends; i++)
        if (c->ends[i] == id) return true;
    return false;
}

static void keep_logits(const run_arguments *a, run_session *s, const float *logits) {
    uint32_t n = llm_config_of(s->model)->vocabulary;
    if (a->logits) memcpy(s->logits + (s->taken - 1) * n, logits, n * sizeof *logits);
}

// The step behind the one that left these logits.
static bool next_step(void *context, const float *logits, speaker_step *next) {
    const speech *x = context;
    run_session *s = x->s;
    const llm_config *c = llm_config_of(s->model);
    if (logits) keep_logits(x->a, s, logits);
    if (logits && s->taken < s->prompt) s->surprise += llm_surprise(logits, c->vocabulary, s->ids[s->taken]);
    if (logits && s->taken >= s->prompt) {
        if (s->count == s->capacity) return false; // --tokens 0
        uint32_t id = llm_argmax(logits, c->vocabulary);
        s->ids[s->count++] = id;
        if (!ends(c, id)) print_token(s, id, s->count - 1 == x->shown);
        if (ends(c, id) || s->count == s->capacity) return false;
    }
    *next = (speaker_step){s->ids[s->taken], (uint32_t)s->taken};
    s->taken++;
    return true;
}

static bool speak_by_reference(speech *x) {
    run_session *s = x->s;
    float *logits = malloc(llm_config_of(s->model)->vocabulary * sizeof *logits);
    llm_run *run = logits ? llm_start(s->model, (uint32_t)s->capacity, x->a->mla) : NULL;
    speaker_step step;
    if (!run) bad_input(NAME, "--tokens: expected fewer: no memory");
    for (bool more = run && next_step(x, NULL, &step); more; more = next_step(x, logits, &step))
        llm_step(run, step.token, logits, NULL);
    llm_end(run);
    free(logits);
    return run != NULL;
}

static void report_chip(const compiled *c, const speaker_result *r) {
    const harness_result *run = &r->run;
    double cycles = (double)(run->cycles - r->place_cycles);
    compiled_describe(c, stderr);
    fprintf(stderr, "%llu cycles to place the model, then %u tokens of %.0f cycles each: %.0f tokens/s at %d MHz\n",
            (unsigned long long)r->place_cycles, r->steps, cycles / r->steps, r->steps * 1e6 * CFG_CLOCK_MHZ / cycles,
            CFG_CLOCK_MHZ);
    if (run->rows_compared)
        fprintf(stderr, "RTL and twin: %llu rows of logits, the cycles and every counter compared, %llu differ\n",
                (unsigned long long)run->rows_compared, (unsigned long long)run->mismatches);
}

static bool speak_on_chip(speech *x, int *status) {
    char error[COMPILER_ERROR];
    compiler_options o = {.weights = x->a->weights == NUM_FMTS ? FMT_BF16 : x->a->weights,
                          .activations = x->a->activations,
                          .positions = (uint32_t)x->s->capacity};
    compiled *c = compile(x->s->model, &o, error);
    if (!c) {
        bad_input(NAME, "%s", error);
        return false;
    }
    speaker_options options = {.chip = {.backend = x->a->chip, .seed = 1}, .step = next_step, .context = x};
    speaker_result *r = malloc(sizeof *r);
    bool ok = r && speaker_run(c, llm_config_of(x->s->model)->vocabulary, &options, r) == HARNESS_OK;
    if (!ok) {
        fprintf(stderr, "\npoblano run: %s: %s\n", r ? harness_verdict_name(r->run.verdict) : "NO MEMORY",
                r ? r->run.text : "of the result");
        *status = EXIT_MISMATCH;
    }
    if (ok) report_chip(c, r);
    free(r);
    compiled_free(c);
    return ok;
}

bool run_speak(const run_arguments *a, run_session *s, int *status) {
    const llm_config *c = llm_config_of(s->model);
    speech x = {a, s, s->words && s->ids[0] == c->begin ? 1 : 0};
    for (size_t i = x.shown; i < s->prompt; i++) print_token(s, s->ids[i], i == x.shown);
    bool ok = a->chip ? speak_on_chip(&x, status) : speak_by_reference(&x);
    putchar('\n');
    return ok;
}
