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

bool run_speak(const run_arguments *a, run_session *s, int *status) {
    const llm_config *c = llm_config_of(s->model);
    speech x = {a, s, s->words && s->ids[0] == c->begin ? 1 : 0};
    for (size_t i = x.shown; i < s->prompt; i++) print_token(s, s->ids[i], i == x.shown);
    bool ok = run_steps(a, s, (uint32_t)s->capacity, next_step, &x, status);
    putchar('\n');
    return ok;
}

static bool next_question_step(void *context, const float *logits, speaker_step *next) {
    return llm_questions_step(context, logits, &next->token, &next->position);
}

bool run_score(const run_arguments *a, run_session *s, int *status) {
    char error[LLM_ERROR];
    llm_questions *q = llm_questions_open(s->model, s->words, a->score, error);
    if (!q) {
        bad_input(NAME, "%s", error);
        return false;
    }
    bool ok = run_steps(a, s, llm_config_of(s->model)->positions, next_question_step, q, status);
    llm_scored got = llm_questions_score(q);
    if (ok && got.error) bad_input(NAME, "%s", got.error);
    ok = ok && !got.error;
    if (ok)
        printf("%u of %u right (%.1f %%), weights %s\n", got.right, got.asked, 100.0 * got.right / got.asked,
               run_weights_name(a));
    llm_questions_close(q);
    return ok;
}
