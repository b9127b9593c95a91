// poblano sim: traces on the RTL, the twin or both.
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sim_report.h"

static const char usage[] =
    "usage: poblano sim TRACE... [options]\n"
    "  TRACE          directories of `poblano trace`; each is a run of the report\n"
    "  --backend rtl|twin|all   all: RTL and twin side by side, compared window by window (all)\n"
    "  --report DIR   write report.json, power.csv and report.html there\n"
    "  --waves F.fst  waves of the RTL of the first product\n"
    "  --wave-cycles N  cycles of waves at most (20000; 0: all)\n"
    "  --workers N    processes (as many as there are processors)\n"
    "  --seed N       of the RTL's initial values (1)\n"
    "  --energy FILE  coefficients (energy/v0.csv)\n"
    "  --config NAME  the chip (that of this program)\n";

typedef struct {
    sim_options how;
    const char *report, *energy;
    uint64_t workers, seed;
    bool help;
} arguments;

static bool complain(const char *option, const char *want, const char *got) {
    bad_input("sim", "%s: expected %s, got \"%s\"", option, want, got);
    return false;
}

static bool backend_option(const char *text, harness_backend *out) {
    static const char *const names[] = {"rtl", "twin", "all"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) return *out = (harness_backend)(HARNESS_RTL + i), true;
    return complain("--backend", "rtl, twin or all", text);
}

static bool option(int key, arguments *a) {
    switch (key) {
    case 'b':
        return backend_option(optarg, &a->how.backend);
    case 'r':
        return a->report = optarg, true;
    case 'f':
        return a->how.wave = optarg, true;
    case 'n':
        return whole_number(optarg, 1u << 31, &a->how.wave_cycles) ||
               complain("--wave-cycles", "a whole number up to 2^31", optarg);
    case 'w':
        return (whole_number(optarg, 64, &a->workers) && a->workers) ||
               complain("--workers", "a whole number, 1 to 64", optarg);
    case 'S':
        return whole_number(optarg, UINT32_MAX, &a->seed) || complain("--seed", "a whole number below 2^32", optarg);
    case 'e':
        return a->energy = optarg, true;
    case 'C':
        return true;
    case 'h':
        return a->help = true;
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, arguments *a) {
    static const struct option options[] = {
        {"backend", required_argument, NULL, 'b'}, {"report", required_argument, NULL, 'r'},
        {"waves", required_argument, NULL, 'f'},   {"wave-cycles", required_argument, NULL, 'n'},
        {"workers", required_argument, NULL, 'w'}, {"seed", required_argument, NULL, 'S'},
        {"energy", required_argument, NULL, 'e'},  {"config", required_argument, NULL, 'C'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    optind = 0;
    opterr = 0;
    for (int key; (key = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        if (key == '?' || key == ':')
            return complain("options", key == ':' ? "a value behind the option" : "an option of --help",
                            argv[optind - 1]);
        if (!option(key, a)) return false;
    }
    a->how.workers = (int)a->workers;
    a->how.seed = (uint32_t)a->seed;
    if (a->help) return true;
    if (optind == argc) return complain("arguments", "a trace", "");
    if (a->how.wave && !(a->how.backend & HARNESS_RTL))
        return complain("--waves", "it with --backend rtl or all only", a->how.wave);
    return !a->how.wave || can_write("sim", a->how.wave);
}

// Makes the directory where it does not exist; it must be writable before the work begins.
static bool make_report_dir(const char *dir) {
    if ((mkdir(dir, 0777) == 0 || errno == EEXIST) && access(dir, W_OK | X_OK) == 0) return true;
    bad_input("sim", "--report %s: cannot write: %s", dir, strerror(errno));
    return false;
}

static int simulate(arguments *a, sim_run *s) {
    char error[TRACE_ERROR];
    if (!sim_all(s, &a->how, error)) {
        fprintf(stderr, "poblano sim: %s\n", error);
        return EXIT_MISMATCH;
    }
    sim_print(s, &a->how, stdout);
    if (a->report && !sim_write(s, &a->how, a->report, error)) return bad_input("sim", "%s", error);
    for (size_t i = 0; i < s->num_products; i++)
        if (s->products[i].verdict != HARNESS_OK) return EXIT_MISMATCH;
    return EXIT_OK;
}

int cmd_sim(int argc, char **argv) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    arguments a = {.how = {.backend = HARNESS_BOTH, .wave_cycles = 20000}, .energy = "energy/v0.csv", .seed = 1};
    a.workers = processors < 1 ? 1 : (uint64_t)processors;
    if (!parse(argc, argv, &a)) return EXIT_BAD_INPUT;
    if (a.help) {
        fputs(usage, stdout);
        return EXIT_OK;
    }
    static energy_table energy;
    char error[TRACE_ERROR];
    if (!energy_load(a.energy, &energy, error)) return bad_input("sim", "%s", error);
    sim_run s = {0};
    int status = EXIT_BAD_INPUT;
    if (!sim_open(&s, argv + optind, (size_t)(argc - optind), error))
        bad_input("sim", "%s", error);
    else if (!a.report || make_report_dir(a.report)) {
        s.energy = &energy;
        status = simulate(&a, &s);
    }
    sim_close(&s);
    return status;
}
