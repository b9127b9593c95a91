// Runs a compiled language model on the chip, token by token: the host of the chip.
#ifndef TB_SPEAKER_H
#define TB_SPEAKER_H
#include "chip/harness.h"
#include "compiler/compiler.h"

// The next step: a token, below the vocabulary, at a position; position 0 begins a new sequence, any other one follows.
typedef struct {
    uint32_t token, position;
} speaker_step;

typedef struct {
    harness_options chip;
    // logits: those of the step before, NULL in front of the first. False ends the run.
    bool (*step)(void *context, const float *logits, speaker_step *next);
    void *context;
} speaker_options;

typedef struct {
    harness_result run;
    uint32_t steps;
    uint64_t place_cycles, place_instrs, token_instrs; // until everything is placed; instructions of all programs
} speaker_result;

// Returns the verdict, text in out->run.text. HARNESS_BAD_JOB too where a program does not pass the checker.
harness_verdict speaker_run(const compiled *c, uint32_t vocabulary, const speaker_options *options,
                            speaker_result *out);
#endif
