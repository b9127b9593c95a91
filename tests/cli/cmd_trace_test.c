#include "cli/cli.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workload/trace.h"

enum { MAX_ARGS = 20 };

static int run(const char *line) {
    static char copy[1024];
    char *argv[MAX_ARGS + 1] = {NULL};
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && argc < MAX_ARGS; word = strtok(NULL, " ")) argv[argc++] = word;
    return cmd_trace(argc, argv);
}

Test(cmd_trace, makes_a_trace_that_reads_back) {
    char dir[] = "/tmp/cmd_trace_XXXXXX", line[256], error[TRACE_ERROR], path[64];
    cr_assert(mkdtemp(dir));
    snprintf(line, sizeof line,
             "trace --model gpt-oss-120b --phase decode --batch 8 --context 1024 --layers 1-2 --out %s", dir);
    cr_redirect_stdout();
    cr_assert_eq(run(line), 0);
    trace t;
    cr_assert(trace_read(dir, &t, error), "%s", error);
    cr_assert(t.batch == 8 && t.context == 1024 && t.first_layer == 1 && t.layers == 2 && t.phase == PHASE_DECODE);
    trace_free(&t);
    snprintf(line, sizeof line, "trace --model gpt-oss-20b --phase prefill --tokens 70 --share 0.25 --seed 9 --out %s",
             dir);
    cr_assert_eq(run(line), 0);
    cr_assert(trace_read(dir, &t, error), "%s", error);
    cr_assert(t.tokens == 70 && t.share == 0.25 && t.seed == 9 && t.context == 0 && t.phase == PHASE_PREFILL);
    trace_free(&t);
    snprintf(path, sizeof path, "%s/trace.json", dir);
    remove(path);
    rmdir(dir);
}

// Exit status 2 and one line that says what was expected.
#define REFUSES(name, line, because)                                                                                   \
    Test(cmd_trace, name) {                                                                                            \
        char text[1024] = "";                                                                                          \
        cr_redirect_stderr();                                                                                          \
        cr_assert_eq(run("trace " line), 2);                                                                           \
        fflush(stderr);                                                                                                \
        FILE *f = cr_get_redirected_stderr();                                                                          \
        size_t n = fread(text, 1, sizeof text - 1, f);                                                                 \
        text[n] = '\0';                                                                                                \
        cr_assert(strstr(text, because), "got \"%s\"", text);                                                          \
        cr_assert(n > 0 && strchr(text, '\n') == text + n - 1, "one line, got \"%s\"", text);                          \
    }
#define GOOD "--model gpt-oss-120b --phase decode --out build/no-trace "

REFUSES(refuses_no_model, "--phase decode --out build/no-trace", "--model: expected")
REFUSES(refuses_no_phase, "--model gpt-oss-120b --out build/no-trace", "--phase: expected prefill or decode")
REFUSES(refuses_no_out, "--model gpt-oss-120b --phase decode", "--out: expected")
REFUSES(refuses_another_phase, "--model gpt-oss-120b --phase both --out build/no-trace", "got \"both\"")
REFUSES(refuses_an_unknown_model, "--model gpt-5 --phase decode --out build/no-trace", "models/gpt-5.json")
REFUSES(refuses_an_unknown_option, GOOD "--bach 8", "--bach")
REFUSES(refuses_an_option_without_value, GOOD "--batch", "expected a value")
REFUSES(refuses_text_for_a_number, GOOD "--batch eight", "--batch: expected a whole number")
REFUSES(refuses_a_negative_number, GOOD "--batch -1", "--batch: expected a whole number")
REFUSES(refuses_a_huge_number, GOOD "--context 99999999999999999999", "--context: expected a whole number")
REFUSES(refuses_one_more_than_allowed, GOOD "--batch 16777217", "--batch: expected a whole number")
REFUSES(refuses_a_negative_seed, GOOD "--seed -1", "--seed: expected a whole number")
REFUSES(refuses_a_context_beyond_the_model, GOOD "--context 131073", "context: expected 1 to 131072")
REFUSES(refuses_a_layer_beyond_the_model, GOOD "--layers 36", "layers: expected layers of the 36")
REFUSES(refuses_a_range_that_runs_back, GOOD "--layers 3-2", "--layers: expected")
REFUSES(refuses_a_share_above_one, GOOD "--share 1.5", "share: expected")
REFUSES(refuses_tokens_in_decode, GOOD "--tokens 4", "--tokens: expected")
REFUSES(refuses_arguments, GOOD "more", "options only")
REFUSES(refuses_a_directory_that_cannot_be, "--model gpt-oss-120b --phase decode --out /proc/no/trace",
        "/proc/no/trace")
