// The model takes tokens: on the reference, or compiled for the chip.
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/run_session.h"
#include "numerics/num.h"

static const char NAME[] = "run";

const char *run_weights_name(const run_arguments *a) {
    return a->weights < NUM_FMTS ? num_fmt_name(a->weights) : a->chip ? "bf16" : "f32";
}

static bool by_reference(const run_arguments *a, const run_session *s, uint32_t positions, run_step *step,
                         void *context) {
    float *logits = malloc(llm_config_of(s->model)->vocabulary * sizeof *logits);
    llm_run *run = NULL;
    speaker_step next;
    bool ok = logits != NULL;
    for (bool more = ok && step(context, NULL, &next); ok && more; more = ok && step(context, logits, &next)) {
        if (next.position == 0) {
            llm_end(run);
            ok = (run = llm_start(s->model, positions, a->mla)) != NULL;
        }
        if (ok) llm_step(run, next.token, logits, NULL);
    }
    if (!ok) bad_input(NAME, "expected fewer tokens: no memory");
    llm_end(run);
    free(logits);
    return ok;
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

static bool on_chip(const run_arguments *a, const run_session *s, uint32_t positions, run_step *step, void *context,
                    int *status) {
    char error[COMPILER_ERROR];
    compiler_options o = {.weights = a->weights == NUM_FMTS ? FMT_BF16 : a->weights,
                          .activations = a->activations,
                          .positions = positions};
    compiled *c = compile(s->model, &o, error);
    if (!c) {
        bad_input(NAME, "%s", error);
        return false;
    }
    speaker_options options = {.chip = {.backend = a->chip, .seed = 1}, .step = step, .context = context};
    speaker_result *r = malloc(sizeof *r);
    bool ok = r && speaker_run(c, llm_config_of(s->model)->vocabulary, &options, r) == HARNESS_OK;
    if (!ok) {
        fprintf(stderr, "\npoblano run: %s: %s\n", r ? harness_verdict_name(r->run.verdict) : "NO MEMORY",
                r ? r->run.text : "of the result");
        *status = EXIT_MISMATCH;
    }
    if (ok && r->steps) report_chip(c, r);
    free(r);
    compiled_free(c);
    return ok;
}

bool run_steps(const run_arguments *a, run_session *s, uint32_t positions, run_step *step, void *context, int *status) {
    return a->chip ? on_chip(a, s, positions, step, context, status) : by_reference(a, s, positions, step, context);
}
