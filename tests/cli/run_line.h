// Runs a command with the words of a line.
#ifndef TESTS_CLI_RUN_LINE_H
#define TESTS_CLI_RUN_LINE_H
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

enum { RUN_LINE_ARGS = 40 };

static inline int run_line(int (*command)(int argc, char **argv), const char *line) {
    char copy[1024];
    char *argv[RUN_LINE_ARGS + 1] = {NULL};
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word && argc < RUN_LINE_ARGS; word = strtok(NULL, " ")) argv[argc++] = word;
    return command(argc, argv);
}

// Exit status 2 and one line on stderr (redirected before) that says why.
static inline void refuse_line(int (*command)(int argc, char **argv), const char *line, const char *because) {
    char text[2048] = "";
    cr_assert_eq(run_line(command, line), 2, "%s", line);
    fflush(stderr);
    FILE *f = cr_get_redirected_stderr();
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    cr_assert(strstr(text, because), "got \"%s\"", text);
    cr_assert(n > 0 && strchr(text, '\n') == text + n - 1, "one line, got \"%s\"", text);
}
#endif
