#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run_session.h"
#include "npy/npy.h"
#include "numerics/num.h"

static const char
    NAME[] = "run",
    usage[] =
        "usage: poblano run MODEL_DIR --prompt TEXT | --prompt-ids N,N,... | --score FILE [options]\n"
        "MODEL_DIR: config.json and safetensors as of Hugging Face (llama, gpt_oss, deepseek_v3); vocab.json for text\n"
        "  --prompt TEXT     behind the token that begins a text\n"
        "  --prompt-ids LIST tokens as they are\n"
        "  --score FILE      answers questions instead, each line a prompt, a tab, the answer; prints how many are "
        "right\n"
        "  --tokens N        at most so many more, greedily; ends where the model ends (32)\n"
        "  --backend B       ref: the functional reference in float32; the chip: twin, rtl, or all, which compares "
        "them (ref)\n"
        "  --weights F       matrices of the layers in: f32 (as stored), bf16, int8, e4m3, e5m2, int4, e2m1 (f32, on "
        "the chip bf16)\n"
        "  --activations F   on the chip, in front of the layers' products: bf16, e4m3, e5m2 or int8 (bf16)\n"
        "  --mla F           deepseek_v3: expanded or absorbed (expanded)\n"
        "  --logits FILE     .npy, float32 [tokens taken, vocabulary]\n"
        "  --config NAME     the chip (that of this program)\n";

static bool refuse(const char *option, const char *want, const char *got) {
    bad_input(NAME, "%s: expected %s, got \"%.100s\"", option, want, got);
    return false;
}

// ---- options
static bool choose_weights(const char *text, fmt_id *out) {
    *out = NUM_FMTS;
    if (!strcmp(text, "f32")) return true;
    for (int f = 0; f < NUM_FMTS; f++)
        if (!strcmp(text, num_fmt_name((fmt_id)f))) {
            *out = (fmt_id)f;
            return true;
        }
    return refuse("--weights", "f32, bf16, int8, e4m3, e5m2, int4 or e2m1", text);
}

static bool choose_activations(const char *text, fmt_id *out) {
    *out = num_fmt_parse(text);
    return *out == FMT_BF16 || *out == FMT_E4M3 || *out == FMT_E5M2 || *out == FMT_INT8 ||
           refuse("--activations", "bf16, e4m3, e5m2 or int8", text);
}

static bool choose_backend(const char *text, harness_backend *out) {
    *out = !strcmp(text, "twin")  ? HARNESS_TWIN
           : !strcmp(text, "rtl") ? HARNESS_RTL
           : !strcmp(text, "all") ? HARNESS_BOTH
                                  : 0;
    return *out || !strcmp(text, "ref") || refuse("--backend", "ref, twin, rtl or all", text);
}

static bool option(int key, run_arguments *a) {
    uint64_t value;
    switch (key) {
    case 'p':
        a->prompt = optarg;
        return true;
    case 'i':
        a->ids = optarg;
        return true;
    case 's':
        a->score = optarg;
        return true;
    case 't':
        if (!whole_number(optarg, 1 << 24, &value)) return refuse("--tokens", "a whole number up to 2^24", optarg);
        a->tokens = (uint32_t)value;
        return true;
    case 'b':
        return choose_backend(optarg, &a->chip);
    case 'x':
        return choose_activations(optarg, &a->activations);
    case 'w':
        return choose_weights(optarg, &a->weights);
    case 'a':
        a->mla = !strcmp(optarg, "absorbed") ? LLM_ABSORBED : LLM_EXPANDED;
        return a->mla == LLM_ABSORBED || !strcmp(optarg, "expanded") || refuse("--mla", "expanded or absorbed", optarg);
    case 'l':
        a->logits = optarg;
        return true;
    case 'C': // main has chosen the program by it
        return true;
    default:
        a->help = true;
        return true;
    }
}

static bool parse(int argc, char **argv, run_arguments *a) {
    static const struct option options[] = {
        {"prompt", required_argument, NULL, 'p'},  {"prompt-ids", required_argument, NULL, 'i'},
        {"tokens", required_argument, NULL, 't'},  {"backend", required_argument, NULL, 'b'},
        {"weights", required_argument, NULL, 'w'}, {"activations", required_argument, NULL, 'x'},
        {"mla", required_argument, NULL, 'a'},     {"logits", required_argument, NULL, 'l'},
        {"config", required_argument, NULL, 'C'},  {"score", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    optind = 0; // commands may be called more than once
    opterr = 0;
    for (int key; (key = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        if (key == ':') return refuse("options", "a value behind the option", argv[optind - 1]);
        if (key == '?') return refuse("options", "an option of --help", argv[optind - 1]);
        if (!option(key, a)) return false;
    }
    if (a->help) return true;
    if (optind >= argc) return refuse("MODEL_DIR", "a directory", "");
    a->dir = argv[optind++];
    if (optind < argc) return refuse("arguments", "one MODEL_DIR", argv[optind]);
    int ways = !!a->prompt + !!a->ids + !!a->score;
    if (ways != 1) {
        bad_input(NAME, "--prompt, --prompt-ids, --score: expected one of them, got %s", ways ? "several" : "none");
        return false;
    }
    if (a->score && a->logits) return refuse("--logits", "no --score beside it", a->logits);
    return !a->logits || can_write(NAME, a->logits);
}

// ---- prompt
// Numbers with commas between; false where the text is anything else.
static bool read_ids(const char *text, uint32_t vocabulary, run_session *s) {
    size_t most = strlen(text) / 2 + 1;
    if (!(s->ids = calloc(most, sizeof *s->ids))) return refuse("--prompt-ids", "fewer: no memory", "");
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        unsigned long long id = strtoull(at, &end, 10);
        if (*at < '0' || *at > '9' || errno || id >= vocabulary || (*end && *end != ',')) {
            bad_input(NAME, "--prompt-ids: expected tokens below %u with commas between, got \"%.40s\"", vocabulary,
                      at);
            return false;
        }
        s->ids[s->count++] = (uint32_t)id;
        if (!*end) return true;
        at = end;
    }
}

static bool read_text(const char *text, const llm_config *c, run_session *s) {
    size_t count;
    if (c->begin == LLM_NO_TOKEN) return refuse("--prompt", "a model with bos_token_id", text);
    uint32_t *found = tok_encode(s->words, text, &count);
    if (found) s->ids = malloc((count + 1) * sizeof *s->ids);
    if (!s->ids) {
        free(found);
        return refuse("--prompt", "a text of at most 2^20 bytes, and memory for it", text);
    }
    s->ids[0] = c->begin;
    memcpy(s->ids + 1, found, count * sizeof *s->ids);
    s->count = count + 1;
    free(found);
    return true;
}

// The tokenizer: demanded for text, used for ids where there is one.
static bool open_words(const run_arguments *a, run_session *s) {
    char path[4096], error[TOK_ERROR];
    const llm_config *c = llm_config_of(s->model);
    snprintf(path, sizeof path, "%.4000s/vocab.json", a->dir);
    if (!a->prompt && !a->score && access(path, F_OK) != 0) return true;
    if (!(s->words = tok_open(a->dir, error))) {
        bad_input(NAME, "%s", error);
        return false;
    }
    if (tok_count(s->words) == c->vocabulary) return true;
    bad_input(NAME, "%s: expected %u pieces (vocab_size), got %u", path, c->vocabulary, tok_count(s->words));
    return false;
}

static bool make_room(const run_arguments *a, run_session *s) {
    const llm_config *c = llm_config_of(s->model);
    size_t rows = a->logits ? s->count + a->tokens : 1;
    s->prompt = s->count;
    s->capacity = s->count + a->tokens;
    if (s->capacity > c->positions) {
        bad_input(NAME, "%zu tokens of prompt and --tokens %u: expected at most %u (max_position_embeddings)",
                  s->prompt, a->tokens, c->positions);
        return false;
    }
    if (rows > UINT32_MAX / c->vocabulary) return refuse("--logits", "at most 2^32 values", a->logits);
    uint32_t *grown = realloc(s->ids, s->capacity * sizeof *grown);
    if (grown) s->ids = grown;
    s->logits = malloc(rows * c->vocabulary * sizeof *s->logits);
    return (grown && s->logits) || refuse("--tokens", "fewer: no memory", "");
}

static bool report(const run_arguments *a, const run_session *s) {
    char error[NPY_ERROR_SIZE];
    const llm_config *c = llm_config_of(s->model);
    fprintf(stderr, "%zu tokens of prompt", s->prompt);
    if (s->prompt > 1) fprintf(stderr, " (negative log-likelihood %.4f each)", s->surprise / (double)(s->prompt - 1));
    fprintf(stderr, ", %zu of answer; %llu parameters, weights %s\n", s->count - s->prompt,
            (unsigned long long)llm_parameters(s->model), run_weights_name(a));
    npy_matrix m = {NPY_F32, s->taken, c->vocabulary, s->logits};
    if (!a->logits || npy_save(a->logits, &m, error)) return true;
    bad_input(NAME, "%s", error);
    return false;
}

static bool continue_prompt(const run_arguments *a, run_session *s, int *status) {
    const llm_config *c = llm_config_of(s->model);
    return (a->prompt ? read_text(a->prompt, c, s) : read_ids(a->ids, c->vocabulary, s)) && make_room(a, s) &&
           run_speak(a, s, status) && report(a, s);
}

int cmd_run(int argc, char **argv) {
    run_arguments a = {.tokens = 32, .weights = NUM_FMTS, .activations = FMT_BF16, .mla = LLM_EXPANDED};
    run_session s = {0};
    int status = EXIT_BAD_INPUT;
    char error[LLM_ERROR];
    if (!parse(argc, argv, &a)) return EXIT_BAD_INPUT;
    if (a.help) {
        fputs(usage, stdout);
        return EXIT_OK;
    }
    bool ok = (s.model = llm_open(a.dir, a.chip ? NUM_FMTS : a.weights, error)) != NULL;
    if (!ok)
        bad_input(NAME, "%s", error);
    else
        ok = open_words(&a, &s) && (a.score ? run_score(&a, &s, &status) : continue_prompt(&a, &s, &status));
    llm_close(s.model);
    tok_close(s.words);
    free(s.ids);
    free(s.logits);
    return ok ? EXIT_OK : status;
}
