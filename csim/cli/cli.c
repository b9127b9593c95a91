#include "cli/cli.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bad_input(const char *name, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, *name ? "poblano %s: " : "poblano%s: ", name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return EXIT_BAD_INPUT;
}

bool whole_number(const char *text, uint64_t most, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end && !errno && *out <= most;
}

bool can_write(const char *name, const char *path) {
    char copy[PATH_MAX];
    if (strlen(path) >= sizeof copy) {
        bad_input(name, "%.40s...: path too long", path);
        return false;
    }
    strcpy(copy, path);
    const char *dir = dirname(copy);
    if (access(dir, W_OK) == 0) return true;
    bad_input(name, "%s: cannot write: %s: %s", path, dir, strerror(errno));
    return false;
}
