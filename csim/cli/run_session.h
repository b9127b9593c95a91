// One call of `poblano run`: inside of cmd_run.
#ifndef CLI_RUN_SESSION_H
#define CLI_RUN_SESSION_H
#include "chip/speaker.h"
#include "llm/llm_score.h"

typedef struct {
    const char *dir, *prompt, *ids, *score, *logits;
    uint32_t tokens;
    fmt_id weights, activations; // NUM_FMTS: as stored, of the chip BF16
    harness_backend chip;        // 0: the functional reference
    llm_mla mla;
    bool help;
} run_arguments;

typedef struct {
    llm *model;
    tokenizer *words; // NULL: ids are printed
    uint32_t *ids;    // [capacity]: prompt, then answer
    size_t prompt, count, capacity;
    float *logits; // [capacity or 1][vocabulary]
    size_t taken;
    double surprise; // of the prompt's tokens but the first
} run_session;

const char *run_weights_name(const run_arguments *a);
typedef bool run_step(void *context, const float *logits, speaker_step *next); // as of speaker_options
// Takes tokens, at positions below `positions`, as long as step gives one.
bool run_steps(const run_arguments *a, run_session *s, uint32_t positions, run_step *step, void *context, int *status);
// Takes every token of the prompt, then its own, and prints them as they come: on the reference, or on the chip. False
// with one line on stderr; *status is then what the command ends with.
bool run_speak(const run_arguments *a, run_session *s, int *status);
// Puts the questions of a->score to the reference or the chip, and prints how many answers are right.
bool run_score(const run_arguments *a, run_session *s, int *status);
#endif
