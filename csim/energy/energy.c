#include "energy/energy.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *unit, *name, *class;
} table[NUM_EVENTS] = {
#define ROW(unit, event, bits, class, meaning) {unit, event, class},
    EVENTS_TABLE(ROW)
#undef ROW
};

const char *event_unit(int event) {
    return table[event].unit;
}

const char *event_name(int event) {
    return table[event].name;
}

const char *event_class(int event) {
    return table[event].class;
}

static int find_class(const energy_table *t, const char *name) {
    for (int i = 0; i < t->num_classes; i++)
        if (!strcmp(t->classes[i].name, name)) return i;
    return -1;
}

// One row "class,pj,..." into the table; false with a line in error.
static bool read_row(energy_table *t, const char *path, int number, char *line, char error[ENERGY_ERROR_SIZE]) {
    char *comma = strchr(line, ',');
    char *end = NULL;
    double pj = comma ? strtod(comma + 1, &end) : -1;
    size_t size = comma ? (size_t)(comma - line) : 0;
    if (!comma || end == comma + 1 || *end != ',' || size == 0 || size >= ENERGY_NAME_SIZE) {
        snprintf(error, ENERGY_ERROR_SIZE, "%s:%d: expected class,pj,unit,node,source", path, number);
        return false;
    }
    if (!(pj >= 0) || isinf(pj) || t->num_classes == ENERGY_MAX_CLASSES) {
        snprintf(error, ENERGY_ERROR_SIZE, "%s:%d: coefficient %g: expected a finite number >= 0", path, number, pj);
        return false;
    }
    *comma = '\0';
    if (find_class(t, line) >= 0) {
        snprintf(error, ENERGY_ERROR_SIZE, "%s:%d: class %.*s is given twice", path, number, ENERGY_NAME_SIZE, line);
        return false;
    }
    memcpy(t->classes[t->num_classes].name, line, size + 1);
    t->classes[t->num_classes++].pj = pj;
    return true;
}

bool energy_load(const char *path, energy_table *t, char error[ENERGY_ERROR_SIZE]) {
    char line[1024];
    FILE *f = fopen(path, "r");
    *t = (energy_table){0};
    if (!f) {
        snprintf(error, ENERGY_ERROR_SIZE, "%s: cannot read: %s", path, strerror(errno));
        return false;
    }
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, f); number++)
        if (line[0] != '#' && line[0] != '\n' && strncmp(line, "class,", 6) != 0)
            ok = read_row(t, path, number, line, error);
    fclose(f);
    for (int e = 0; ok && e < NUM_EVENTS; e++) {
        t->class_of[e] = strcmp(table[e].class, "-") ? find_class(t, table[e].class) : -1;
        if (t->class_of[e] < 0 && strcmp(table[e].class, "-") != 0) {
            snprintf(error, ENERGY_ERROR_SIZE, "%s: class %s is missing", path, table[e].class);
            ok = false;
        }
    }
    return ok;
}

double energy_of_event(const energy_table *t, int event, uint64_t count) {
    int class = t->class_of[event];
    return class < 0 ? 0 : (double)count * t->classes[class].pj;
}

double energy_total(const energy_table *t, const uint64_t counts[NUM_EVENTS]) {
    double sum = 0;
    for (int e = 0; e < NUM_EVENTS; e++) sum += energy_of_event(t, e, counts[e]);
    return sum;
}
