// The sub-commands of `poblano`. Each takes its own argv (argv[0] is its name) and returns the exit status: 0 all
// right, 1 a comparison or check failed, 2 bad usage or bad input (one line on stderr).
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include <stdbool.h>
#include <stdint.h>

enum { EXIT_OK = 0, EXIT_MISMATCH = 1, EXIT_BAD_INPUT = 2 };

int cmd_matmul(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_run(int argc, char **argv);

// A whole number up to most, all of the text.
bool whole_number(const char *text, uint64_t most, uint64_t *out);
// Whether a file can be made at path; otherwise one line on stderr.
bool can_write(const char *name, const char *path);

// One line on stderr, "poblano NAME: text"; returns EXIT_BAD_INPUT.
int bad_input(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
