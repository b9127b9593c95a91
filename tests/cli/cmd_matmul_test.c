// poblano matmul: equal to the format oracle on both backends, and every kind of bad input refused in one line.
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run_line.h"
#include "common/seed.h"
#include "npy/npy.h"

enum { M = 9, N = 11, K = 70, KB = 3 };

static void save(const char *dir, const char *name, npy_type type, size_t rows, size_t cols, const void *data) {
    char path[256], error[NPY_ERROR_SIZE];
    npy_matrix m = {type, rows, cols, (void *)data};
    snprintf(path, sizeof path, "%s/%s.npy", dir, name);
    cr_assert(npy_save(path, &m, error), "%s", error);
}

// Codes of a format, finite nearly always.
static void save_codes(const char *dir, const char *name, const char *fmt, size_t rows, size_t cols, rng_t *rng) {
    uint16_t *wide = malloc(rows * cols * 2);
    uint8_t *narrow = malloc(rows * cols);
    bool bf16 = !strcmp(fmt, "bf16"), four = !strcmp(fmt, "e2m1") || !strcmp(fmt, "int4");
    for (size_t i = 0; i < rows * cols; i++) {
        wide[i] = (uint16_t)((rng_next(rng) & 0x80FF) | (118 + rng_below(rng, 16)) << 7);
        narrow[i] = (uint8_t)(rng_next(rng) & (four ? 0xF : 0xFF));
        if (!strcmp(fmt, "e5m2") && (narrow[i] & 0x7C) == 0x7C) narrow[i] ^= 0x40;
        if (!strcmp(fmt, "e4m3") && (narrow[i] & 0x7F) == 0x7F) narrow[i] ^= 1;
    }
    save(dir, name, bf16 ? NPY_U16 : NPY_U8, rows, cols, bf16 ? (void *)wide : narrow);
    free(wide);
    free(narrow);
}

static void save_operands(const char *dir, const char *a, const char *w, bool bf16_scale, rng_t *rng) {
    uint8_t as[M * KB], ws[N * KB];
    uint16_t ws16[N * KB];
    float init[M * N];
    save_codes(dir, "a", a, M, K, rng);
    save_codes(dir, "w", w, N, K, rng);
    for (int i = 0; i < M * KB; i++) as[i] = (uint8_t)(120 + rng_below(rng, 14));
    for (int i = 0; i < N * KB; i++) ws[i] = (uint8_t)(120 + rng_below(rng, 14));
    for (int i = 0; i < N * KB; i++) ws16[i] = (uint16_t)(0x3E80 + rng_below(rng, 512));
    for (int i = 0; i < M * N; i++) init[i] = (float)rng_below(rng, 1000) / 8 - 60;
    save(dir, "as", NPY_U8, M, KB, as);
    save(dir, "ws", bf16_scale ? NPY_U16 : NPY_U8, N, KB, bf16_scale ? (void *)ws16 : ws);
    save(dir, "init", NPY_F32, M, N, init);
}

static const char *shared(void) {
    const char *dir = getenv("POBLANO_SHARED");
    return dir ? dir : "../shared";
}

static void same_file(const char *dir, const char *a, const char *b, const char *what) {
    char path[256], error[NPY_ERROR_SIZE];
    npy_matrix x, y;
    snprintf(path, sizeof path, "%s/%s.npy", dir, a);
    cr_assert(npy_load(path, &x, error), "%s", error);
    snprintf(path, sizeof path, "%s/%s.npy", dir, b);
    cr_assert(npy_load(path, &y, error), "%s", error);
    cr_assert(x.rows == M && x.cols == N && y.rows == M && y.cols == N);
    for (int i = 0; i < M * N; i++) {
        uint32_t got = ((uint32_t *)x.data)[i], want = ((uint32_t *)y.data)[i];
        cr_assert_eq(got, want, "%s, element [%d][%d]: got %08x, want %08x", what, i / N, i % N, got, want);
    }
    npy_free(&x);
    npy_free(&y);
}

// Both backends against the oracle; against each other and the reference only where the oracle is not there.
static void pair(const char *a, const char *w, bool bf16_scale, bool init, uint64_t seed) {
    char dir[] = "/tmp/cmd_matmul_XXXXXX", line[1024], args[512], oracle[256], what[64];
    rng_t rng = rng_new(seed);
    cr_assert(mkdtemp(dir));
    save_operands(dir, a, w, bf16_scale, &rng);
    snprintf(what, sizeof what, "%s x %s", a, w);
    snprintf(args, sizeof args,
             "matmul --a %s/a.npy --a-fmt %s --a-scale %s/as.npy --w %s/w.npy --w-fmt %s --w-scale %s/ws.npy "
             "--w-scale-fmt %s%s%s%s",
             dir, a, dir, dir, w, dir, bf16_scale ? "bf16" : "e8m0", init ? " --init " : "", init ? dir : "",
             init ? "/init.npy" : "");
    static const char *const backends[] = {"ref", "twin", "rtl", "all"};
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "%s --backend %s --seed %d --out %s/%s.npy", args, backends[i], i, dir,
                 backends[i]);
        cr_assert_eq(run_line(cmd_matmul, line), 0, "%s", line);
        same_file(dir, backends[i], "ref", what);
    }
    snprintf(oracle, sizeof oracle, "%s/oracle/mx_oracle.py", shared());
    if (access(oracle, R_OK) == 0) {
        snprintf(line, sizeof line, "build/venv/bin/python %s %s --out %s/want.npy", oracle, args, dir);
        cr_assert_eq(system(line), 0, "%s", line);
        same_file(dir, "rtl", "want", what);
    } else
        cr_log_warn("skipped: comparison with the oracle, %s is missing", oracle);
    snprintf(line, sizeof line, "rm -r %s", dir);
    cr_assert_eq(system(line), 0);
}

Test(cmd_matmul, equals_the_oracle_e2m1_weights, .init = cr_redirect_stdout) {
    pair("e4m3", "e2m1", false, false, 1);
}
Test(cmd_matmul, equals_the_oracle_bf16_scales_and_initial_values, .init = cr_redirect_stdout) {
    pair("int8", "int4", true, true, 2);
}
Test(cmd_matmul, equals_the_oracle_bf16, .init = cr_redirect_stdout) {
    pair("bf16", "e5m2", false, true, 3);
    pair("e5m2", "bf16", true, false, 4);
}

// Good files, and some that are not, in a directory of their own.
static char dir[64];
static void make_files(void) {
    rng_t rng = rng_new(5);
    strcpy(dir, "/tmp/cmd_matmul_XXXXXX");
    cr_assert(mkdtemp(dir));
    save_operands(dir, "e4m3", "e2m1", false, &rng);
    save_codes(dir, "short_k", "e2m1", N, K - 1, &rng);
    save_codes(dir, "wide_codes", "e4m3", N, K, &rng);
    char path[128], line[256];
    snprintf(line, sizeof line, "head -c 300 %s/a.npy > %s/truncated.npy; echo hello > %s/text.npy", dir, dir, dir);
    cr_assert_eq(system(line), 0);
    snprintf(path, sizeof path, "%s/huge.npy", dir);
    FILE *f = fopen(path, "wb");
    const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (4000000000, 4000000000), }\n";
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    uint16_t size = sizeof header - 1;
    fwrite(&size, 2, 1, f);
    fwrite(header, 1, size, f);
    fclose(f);
    cr_redirect_stderr();
}
static void remove_files(void) {
    char line[128];
    snprintf(line, sizeof line, "rm -r %s", dir);
    if (system(line)) return;
}

// Files: %A, %W stand for dir/NAME.npy.
static void refuses(const char *a, const char *w, const char *more, const char *because) {
    char line[1024];
    snprintf(line, sizeof line, "matmul --a %s/%s.npy --a-fmt e4m3 --w %s/%s.npy --w-fmt e2m1 %s", dir, a, dir, w,
             more);
    refuse_line(cmd_matmul, line, because);
}
#define REFUSES(name, a, w, more, because)                                                                             \
    Test(cmd_matmul, name, .init = make_files, .fini = remove_files) {                                                 \
        refuses(a, w, more, because);                                                                                  \
    }
#define OUT "--out build/no-such.npy"

REFUSES(refuses_a_truncated_file, "truncated", "w", OUT, "truncated.npy")
REFUSES(refuses_a_text_file, "text", "w", OUT, "text.npy")
REFUSES(refuses_a_huge_file, "huge", "w", OUT, "huge.npy")
REFUSES(refuses_a_missing_file, "nothing", "w", OUT, "nothing.npy")
REFUSES(refuses_another_element_type, "init", "w", OUT, "expected uint8")
REFUSES(refuses_another_k, "a", "short_k", OUT, "expected uint8 [11, 70], found uint8 [11, 69]")
REFUSES(refuses_codes_of_more_bits, "a", "wide_codes", OUT, "expected a code below 16")
REFUSES(refuses_scales_of_another_shape, "a", "w", OUT " --a-scale build/../models", "models")
REFUSES(refuses_an_unknown_format, "a", "w", OUT " --w-fmt fp7", "--w-fmt: expected e2m1")
REFUSES(refuses_other_align_bits, "a", "w", OUT " --align-bits 24", "--align-bits 24: configuration")
REFUSES(refuses_an_unknown_backend, "a", "w", OUT " --backend gpu", "--backend: expected")
REFUSES(refuses_waves_of_the_twin, "a", "w", OUT " --backend twin --waves build/x.fst", "--waves: expected")
REFUSES(refuses_no_out, "a", "w", "", "--out: expected")
REFUSES(refuses_an_unwritable_out, "a", "w", "--out /no/such/folder/y.npy", "/no/such/folder/y.npy: cannot write")
