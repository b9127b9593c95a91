// poblano: the command. Its sizes are those of one configuration; --config NAME hands over to the program built for it.
#include "cli/cli.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cfg.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"matmul", cmd_matmul, "multiply .npy matrices on the chip: RTL or twin"},
    {"trace", cmd_trace, "make a prefill or decode trace of a model"},
    {"sim", cmd_sim, "run traces on the RTL, the twin or both: compare, count, report"},
    {"run", cmd_run, "continue a text with a language model"},
};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *to) {
    fprintf(to, "usage: poblano COMMAND [OPTION]...   (this program: configuration %s)\n", CFG_NAME);
    for (int i = 0; i < NUM_COMMANDS; i++) fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].what);
    fprintf(to, "`poblano COMMAND --help` lists its options.\n");
}

// Value of --config in argv, or NULL.
static const char *config_asked(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "--config=", 9)) return argv[i] + 9;
        if (!strcmp(argv[i], "--config") && i + 1 < argc) return argv[i + 1];
    }
    return NULL;
}

// Replaces this process by the program of another configuration; returns only where there is none.
static int hand_over(const char *config, char **argv) {
    char self[PATH_MAX], other[PATH_MAX + 64];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size < 0 || strlen(config) > 32 || strchr(config, '/')) return bad_input("", "--config: unknown configuration");
    self[size] = '\0';
    snprintf(other, sizeof other, "%s/../%s/poblano", dirname(self), config);
    execv(other, argv);
    return bad_input("", "--config %s: not built (%s); try: make CONFIG=%s all", config, strerror(errno), config);
}

int main(int argc, char **argv) {
    const char *config = config_asked(argc, argv);
    if (config && strcmp(config, CFG_NAME) != 0) return hand_over(config, argv);
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))) {
        usage(stdout);
        return EXIT_OK;
    }
    for (int i = 0; argc > 1 && i < NUM_COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 1, argv + 1);
    if (argc > 1) return bad_input("", "unknown command '%s'; `poblano --help` lists them", argv[1]);
    usage(stderr);
    return EXIT_BAD_INPUT;
}
