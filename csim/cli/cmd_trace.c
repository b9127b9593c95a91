#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/trace.h"

static const char usage[] =
    "usage: poblano trace --model NAME --phase prefill|decode --out DIR [options]\n"
    "  --batch N      sequences (1)\n"
    "  --context N    decode: keys that the token sees, itself included; prefill: tokens before (decode 1024, prefill "
    "0)\n"
    "  --tokens N     prefill: new tokens of each sequence (64)\n"
    "  --layers L     a layer, or FIRST-LAST, counted from 0 (0)\n"
    "  --share F      the part of each operator's columns or instances that the trace covers, in (0, 1] (1)\n"
    "  --seed N       of values and of the choice of experts (1)\n"
    "  --models DIR   the models' facts (models)\n"
    "  --config NAME  the chip (that of this program)\n";

typedef struct {
    const char *model, *phase, *out, *models, *layers;
    uint32_t batch, context, tokens;
    bool has_context, has_tokens, help;
    double share;
    uint64_t seed;
} arguments;

static bool complain(const char *option, const char *want, const char *got) {
    fprintf(stderr, "poblano trace: %s: expected %s, got \"%s\"\n", option, want, got);
    return false;
}

static bool number(const char *option, const char *text, uint32_t *out) {
    uint64_t value;
    if (!whole_number(text, 1 << 24, &value)) return complain(option, "a whole number up to 2^24", text);
    *out = (uint32_t)value;
    return true;
}

static bool real(const char *option, const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return (end != text && !*end) || complain(option, "a number", text);
}

static bool layer_range(const char *text, trace_request *q) {
    char first[16];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    uint64_t from, to;
    if (length >= sizeof first) return complain("--layers", "a layer or FIRST-LAST", text);
    snprintf(first, sizeof first, "%.*s", (int)length, text);
    if (!whole_number(first, 1 << 16, &from)) return complain("--layers", "a layer or FIRST-LAST", text);
    to = from;
    if (dash && (!whole_number(dash + 1, 1 << 16, &to) || to < from))
        return complain("--layers", "a layer or FIRST-LAST", text);
    q->first_layer = (uint32_t)from;
    q->layers = (uint32_t)(to - from + 1);
    return true;
}

static bool option(int key, arguments *a) {
    switch (key) {
    case 'm':
        a->model = optarg;
        return true;
    case 'p':
        a->phase = optarg;
        return true;
    case 'o':
        a->out = optarg;
        return true;
    case 'd':
        a->models = optarg;
        return true;
    case 'l':
        a->layers = optarg;
        return true;
    case 'b':
        return number("--batch", optarg, &a->batch);
    case 'c':
        a->has_context = true;
        return number("--context", optarg, &a->context);
    case 't':
        a->has_tokens = true;
        return number("--tokens", optarg, &a->tokens);
    case 'f':
        return real("--share", optarg, &a->share);
    case 's':
        return whole_number(optarg, UINT64_MAX, &a->seed) || complain("--seed", "a whole number below 2^64", optarg);
    case 'C': // main has chosen the program by it
        return true;
    case 'h':
        a->help = true;
        return true;
    default: // getopt_long has returned '?' or ':'
        return false;
    }
}

static bool parse(int argc, char **argv, arguments *a) {
    static const struct option options[] = {{"model", required_argument, NULL, 'm'},
                                            {"phase", required_argument, NULL, 'p'},
                                            {"out", required_argument, NULL, 'o'},
                                            {"models", required_argument, NULL, 'd'},
                                            {"layers", required_argument, NULL, 'l'},
                                            {"batch", required_argument, NULL, 'b'},
                                            {"context", required_argument, NULL, 'c'},
                                            {"tokens", required_argument, NULL, 't'},
                                            {"share", required_argument, NULL, 'f'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"config", required_argument, NULL, 'C'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    optind = 0; // commands may be called more than once
    opterr = 0;
    for (int key; (key = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        if (key == '?' || key == ':')
            return complain("options", key == ':' ? "a value behind the option" : "an option of --help",
                            argv[optind - 1]);
        if (!option(key, a)) return false;
    }
    if (a->help) return true;
    if (optind < argc) return complain("arguments", "options only", argv[optind]);
    if (!a->model) return complain("--model", "the name of a model", "");
    if (!a->out) return complain("--out", "a directory for the trace", "");
    if (!a->phase || (strcmp(a->phase, "prefill") && strcmp(a->phase, "decode")))
        return complain("--phase", "prefill or decode", a->phase ? a->phase : "");
    if (a->has_tokens && !strcmp(a->phase, "decode")) return complain("--tokens", "it with prefill only", a->phase);
    return true;
}

static void report(const trace *t, const char *dir) {
    uint64_t products = 0;
    for (uint32_t i = 0; i < t->num_ops; i++) products += t->ops[i].count;
    printf("%s/trace.json: %s %s, configuration %s, batch %u, context %u, tokens %u, layers %u-%u\n", dir, t->model,
           t->phase == PHASE_DECODE ? "decode" : "prefill", t->config, t->batch, t->context, t->tokens, t->first_layer,
           t->first_layer + t->layers - 1);
    printf("%u operators, %llu products, %llu multiply-accumulates, %.2f %% of the layers' %llu\n", t->num_ops,
           (unsigned long long)products, (unsigned long long)t->macs, 100.0 * (double)t->macs / (double)t->full_macs,
           (unsigned long long)t->full_macs);
}

static bool make(const arguments *a, trace *t) {
    char error[TRACE_ERROR];
    model_facts facts;
    bool decode = !strcmp(a->phase, "decode");
    trace_request q = {.model = &facts, .phase = decode ? PHASE_DECODE : PHASE_PREFILL};
    q.batch = a->batch;
    q.context = a->has_context ? a->context : decode ? 1024 : 0;
    q.tokens = decode ? 1 : a->tokens;
    q.share = a->share;
    q.seed = a->seed;
    if (!layer_range(a->layers, &q)) return false;
    bool ok =
        model_load(a->models, a->model, &facts, error) && trace_make(&q, t, error) && trace_write(t, a->out, error);
    if (!ok) fprintf(stderr, "poblano trace: %s\n", error);
    return ok;
}

int cmd_trace(int argc, char **argv) {
    arguments a = {.models = "models", .layers = "0", .batch = 1, .tokens = 64, .share = 1, .seed = 1};
    trace t = {0};
    if (!parse(argc, argv, &a)) return 2;
    if (a.help) {
        fputs(usage, stdout);
        return 0;
    }
    bool ok = make(&a, &t);
    if (ok) report(&t, a.out);
    trace_free(&t);
    return ok ? 0 : 2;
}
