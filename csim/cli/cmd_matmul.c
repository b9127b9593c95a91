// poblano matmul: one product of .npy matrices on the chip.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip/product.h"
#include "cli/cli.h"
#include "npy/npy.h"
#include "numerics/num.h"

static const char usage[] =
    "usage: poblano matmul --a A.npy --a-fmt FMT --w W.npy --w-fmt FMT --out Y.npy [options]\n"
    "  A [M, K] and W [N, K]: element codes, uint8 (4-bit codes in the low half), uint16 for bf16; Y [M, N] float32\n"
    "  FMT: e2m1 int4 e4m3 e5m2 int8 bf16\n"
    "  --a-scale S.npy         uint8 E8M0 [M, ceil(K/32)]; without it scales are 1\n"
    "  --w-scale S.npy         [N, ceil(K/32)]\n"
    "  --w-scale-fmt e8m0|bf16 uint8 or uint16 (e8m0)\n"
    "  --init C.npy            float32 [M, N] to start from (0)\n"
    "  --align-bits N          as the configuration has it; another value is refused\n"
    "  --backend rtl|twin|all|ref   all: RTL and twin, compared (twin)\n"
    "  --split-k               let the rows of the mesh share K and add up in the network\n"
    "  --seed N                of the RTL's initial values (1)\n"
    "  --waves F.fst           waves of the RTL\n"
    "  --config NAME           the chip (that of this program)\n";

enum { A, W, A_SCALE, W_SCALE, INIT, NUM_FILES };
static const char *const file_options[NUM_FILES] = {"--a", "--w", "--a-scale", "--w-scale", "--init"};

typedef struct {
    const char *files[NUM_FILES], *out, *waves;
    fmt_id a_fmt, w_fmt;
    scale_id w_scale;
    int backend; // harness_backend, 0: reference
    bool split_k, help;
    uint64_t seed, align_bits;
} arguments;

static bool complain(const char *option, const char *want, const char *got) {
    bad_input("matmul", "%s: expected %s, got \"%s\"", option, want, got);
    return false;
}

static bool format_option(const char *option, const char *text, fmt_id *out) {
    *out = num_fmt_parse(text);
    return *out != NUM_FMTS || complain(option, "e2m1, int4, e4m3, e5m2, int8 or bf16", text);
}

static bool backend_option(const char *text, int *out) {
    static const char *const names[] = {"ref", "rtl", "twin", "all"}; // in the order of harness_backend
    for (int i = 0; i < 4; i++)
        if (!strcmp(text, names[i])) return *out = i, true;
    return complain("--backend", "rtl, twin, all or ref", text);
}

static bool option(int key, arguments *a) {
    if (key < NUM_FILES) return a->files[key] = optarg, true;
    switch (key) {
    case 'x':
        return format_option("--a-fmt", optarg, &a->a_fmt);
    case 'y':
        return format_option("--w-fmt", optarg, &a->w_fmt);
    case 's':
        a->w_scale = !strcmp(optarg, "bf16") ? SCALE_BF16 : SCALE_E8M0;
        return a->w_scale == SCALE_BF16 || !strcmp(optarg, "e8m0") || complain("--w-scale-fmt", "e8m0 or bf16", optarg);
    case 'b':
        return backend_option(optarg, &a->backend);
    case 'o':
        return a->out = optarg, true;
    case 'f':
        return a->waves = optarg, true;
    case 'k':
        return a->split_k = true;
    case 'S':
        return whole_number(optarg, UINT32_MAX, &a->seed) || complain("--seed", "a whole number below 2^32", optarg);
    case 'n':
        return whole_number(optarg, 64, &a->align_bits) || complain("--align-bits", "a whole number up to 64", optarg);
    case 'C':
        return true;
    case 'h':
        return a->help = true;
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, arguments *a) {
    static const struct option options[] = {{"a", required_argument, NULL, A},
                                            {"w", required_argument, NULL, W},
                                            {"a-scale", required_argument, NULL, A_SCALE},
                                            {"w-scale", required_argument, NULL, W_SCALE},
                                            {"init", required_argument, NULL, INIT},
                                            {"a-fmt", required_argument, NULL, 'x'},
                                            {"w-fmt", required_argument, NULL, 'y'},
                                            {"w-scale-fmt", required_argument, NULL, 's'},
                                            {"align-bits", required_argument, NULL, 'n'},
                                            {"backend", required_argument, NULL, 'b'},
                                            {"out", required_argument, NULL, 'o'},
                                            {"waves", required_argument, NULL, 'f'},
                                            {"split-k", no_argument, NULL, 'k'},
                                            {"seed", required_argument, NULL, 'S'},
                                            {"config", required_argument, NULL, 'C'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    optind = 0;
    opterr = 0;
    for (int key; (key = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
        if (key == '?' || key == ':')
            return complain("options", key == ':' ? "a value behind the option" : "an option of --help",
                            argv[optind - 1]);
        if (!option(key, a)) return false;
    }
    if (a->help) return true;
    if (optind < argc) return complain("arguments", "options only", argv[optind]);
    if (!a->files[A] || !a->files[W]) return complain(a->files[A] ? "--w" : "--a", "a .npy file", "");
    if (a->a_fmt == NUM_FMTS || a->w_fmt == NUM_FMTS)
        return complain(a->a_fmt == NUM_FMTS ? "--a-fmt" : "--w-fmt", "a format", "");
    if (!a->out) return complain("--out", "a .npy file for the result", "");
    if (a->align_bits != CFG_ALIGN_BITS) {
        bad_input("matmul", "--align-bits %llu: configuration %s has %d", (unsigned long long)a->align_bits, CFG_NAME,
                  CFG_ALIGN_BITS);
        return false;
    }
    if (a->waves && !(a->backend & HARNESS_RTL))
        return complain("--waves", "it with --backend rtl or all only", a->waves);
    return can_write("matmul", a->out) && (!a->waves || can_write("matmul", a->waves));
}

// Matrix of the expected shape and type; every code must fit `bits`.
static bool shaped(const arguments *a, int file, const npy_matrix *m, npy_type type, size_t rows, size_t cols) {
    static const char *const names[] = {[NPY_U8] = "uint8", [NPY_U16] = "uint16", [NPY_F32] = "float32"};
    if (m->type == type && m->rows == rows && m->cols == cols) return true;
    bad_input("matmul", "%s %s: expected %s [%zu, %zu], found %s [%zu, %zu]", file_options[file], a->files[file],
              names[type], rows, cols, names[m->type], m->rows, m->cols);
    return false;
}

static bool codes_fit(const arguments *a, int file, const npy_matrix *m, fmt_id fmt) {
    for (size_t i = 0; num_fmt_bits(fmt) == 4 && i < m->rows * m->cols; i++)
        if (((const uint8_t *)m->data)[i] > 15) {
            bad_input("matmul", "%s %s: element [%zu, %zu]: expected a code below 16, found %d", file_options[file],
                      a->files[file], i / m->cols, i % m->cols, ((const uint8_t *)m->data)[i]);
            return false;
        }
    return true;
}

// The elements as 16-bit codes; NULL without memory.
static uint16_t *widen(const npy_matrix *m) {
    size_t count = m->rows * m->cols;
    uint16_t *to = malloc(count * sizeof *to + 1);
    for (size_t i = 0; to && i < count; i++)
        to[i] = m->type == NPY_U16 ? ((uint16_t *)m->data)[i] : ((uint8_t *)m->data)[i];
    return to;
}

static bool check(const arguments *a, const npy_matrix files[NUM_FILES]) {
    const npy_matrix *x = &files[A], *w = &files[W];
    npy_type at = a->a_fmt == FMT_BF16 ? NPY_U16 : NPY_U8, wt = a->w_fmt == FMT_BF16 ? NPY_U16 : NPY_U8;
    if (!x->rows || !x->cols || !w->rows) {
        bad_input("matmul", "%s: expected at least one row and column", a->files[!x->rows || !x->cols ? A : W]);
        return false;
    }
    size_t blocks = (x->cols + 31) / 32;
    npy_type wst = a->w_scale == SCALE_BF16 ? NPY_U16 : NPY_U8;
    return shaped(a, A, x, at, x->rows, x->cols) && shaped(a, W, w, wt, w->rows, x->cols) &&
           (!a->files[A_SCALE] || shaped(a, A_SCALE, &files[A_SCALE], NPY_U8, x->rows, blocks)) &&
           (!a->files[W_SCALE] || shaped(a, W_SCALE, &files[W_SCALE], wst, w->rows, blocks)) &&
           (!a->files[INIT] || shaped(a, INIT, &files[INIT], NPY_F32, x->rows, w->rows)) &&
           codes_fit(a, A, x, a->a_fmt) && codes_fit(a, W, w, a->w_fmt);
}

static int report(const arguments *a, const kernel *k, const product_result *r) {
    const harness_result *run = &r->run;
    if (!a->backend) {
        printf("%u x %u x %u: reference\n", k->spec.m, k->spec.n, k->spec.k);
        return EXIT_OK;
    }
    printf("%u x %u x %u: %llu cycles, bound %llu, %.2f %%; %llu elements, %llu differ from the reference, %llu "
           "between RTL and twin\n",
           k->spec.m, k->spec.n, k->spec.k, (unsigned long long)run->cycles, (unsigned long long)k->bounds.cycles,
           100.0 * (double)k->bounds.cycles / (double)run->cycles, (unsigned long long)r->elements,
           (unsigned long long)r->reference_mismatches, (unsigned long long)run->mismatches);
    if (run->verdict == HARNESS_OK) return EXIT_OK;
    fprintf(stderr, "poblano matmul: %s: %s\n", harness_verdict_name(run->verdict), run->text);
    return EXIT_MISMATCH;
}

static int multiply(const arguments *a, const npy_matrix files[NUM_FILES]) {
    char error[NPY_ERROR_SIZE];
    gemm_spec spec = {(uint32_t)files[A].rows,
                      (uint32_t)files[W].rows,
                      (uint32_t)files[A].cols,
                      a->a_fmt,
                      a->w_fmt,
                      a->files[A_SCALE] ? SCALE_E8M0 : SCALE_NONE,
                      a->files[W_SCALE] ? a->w_scale : SCALE_NONE,
                      a->split_k};
    uint16_t *x = widen(&files[A]), *w = widen(&files[W]), *ws = a->files[W_SCALE] ? widen(&files[W_SCALE]) : NULL;
    float *y = malloc((size_t)spec.m * spec.n * sizeof *y);
    gemm_operands o = {x, files[A_SCALE].data, w, ws, files[INIT].data};
    kernel k = {0};
    product_result r = {0};
    int status = EXIT_BAD_INPUT;
    if (!x || !w || !y || (a->files[W_SCALE] && !ws))
        bad_input("matmul", "no memory");
    else if (!kernel_gemm("matmul", &spec, &o, &k, error))
        bad_input("matmul", "%s", error);
    else {
        product_options p = {
            .backend = (harness_backend)a->backend, .reference = true, .seed = (uint32_t)a->seed, .wave = a->waves};
        if (a->backend)
            product_run(&k, &o, &p, y, &r);
        else if (!kernel_reference(&k, &o, y))
            r.run.verdict = HARNESS_NO_MEMORY;
        status = report(a, &k, &r);
        npy_matrix out = {NPY_F32, spec.m, spec.n, y};
        bool have = r.run.verdict == HARNESS_OK || r.run.verdict == HARNESS_MISMATCH;
        if (have && !npy_save(a->out, &out, error)) status = bad_input("matmul", "%s", error);
    }
    product_free(&r);
    kernel_free(&k);
    free(x);
    free(w);
    free(ws);
    free(y);
    return status;
}

int cmd_matmul(int argc, char **argv) {
    arguments a = {.a_fmt = NUM_FMTS,
                   .w_fmt = NUM_FMTS,
                   .w_scale = SCALE_E8M0,
                   .backend = HARNESS_TWIN,
                   .seed = 1,
                   .align_bits = CFG_ALIGN_BITS};
    if (!parse(argc, argv, &a)) return EXIT_BAD_INPUT;
    if (a.help) {
        fputs(usage, stdout);
        return EXIT_OK;
    }
    npy_matrix files[NUM_FILES] = {{0}};
    char error[NPY_ERROR_SIZE];
    bool ok = true;
    for (int i = 0; ok && i < NUM_FILES; i++)
        if (a.files[i] && !(ok = npy_load(a.files[i], &files[i], error))) bad_input("matmul", "%s", error);
    int status = ok && check(&a, files) ? multiply(&a, files) : EXIT_BAD_INPUT;
    for (int i = 0; i < NUM_FILES; i++) npy_free(&files[i]);
    return status;
}
