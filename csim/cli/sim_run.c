#include "cli/sim_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 64 };
static const size_t MAX_WINDOWS = 1u << 26; // address space only: pages that are never written take no memory

// What the processes share, and the order in which they take products: the longest first.
struct sim_shared {
    _Atomic size_t next, windows;
    size_t num_products;
    size_t order[];
};

static void *share(size_t size) {
    void *p = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static uint64_t cost(const sim_run *s, size_t product) {
    const sim_product *p = &s->products[product];
    const gemm_spec *g = &s->traces[p->trace].t.ops[p->op].spec;
    return (uint64_t)g->m * g->n * g->k + 64ull * g->n * g->k;
}

static int by_cost(const void *a, const void *b, void *context) {
    uint64_t x = cost(context, *(const size_t *)a), y = cost(context, *(const size_t *)b);
    return x != y ? (x < y ? 1 : -1) : *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

bool sim_open(sim_run *s, char *const dirs[], size_t count, char error[TRACE_ERROR]) {
    *s = (sim_run){0};
    s->traces = calloc(count, sizeof *s->traces);
    for (size_t i = 0; s->traces && i < count; i++) {
        sim_trace *t = &s->traces[s->num_traces++];
        t->dir = dirs[i];
        t->first = s->num_products;
        if (!trace_read(dirs[i], &t->t, error)) return false;
        for (uint32_t op = 0; op < t->t.num_ops; op++) t->count += t->t.ops[op].count;
        s->num_products += t->count;
    }
    snprintf(error, TRACE_ERROR, "no memory");
    s->products = share(s->num_products * sizeof *s->products);
    s->windows = share(MAX_WINDOWS * sizeof *s->windows);
    s->shared = share(sizeof *s->shared + s->num_products * sizeof s->shared->order[0]);
    if (!s->traces || !s->products || !s->windows || !s->shared) return false;
    s->shared->num_products = s->num_products;
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t op = 0; op < s->traces[i].t.num_ops; op++)
            for (uint32_t n = 0; n < s->traces[i].t.ops[op].count; n++, at++) {
                s->products[at].trace = i;
                s->products[at].op = op;
                s->products[at].instance = n;
                s->shared->order[at] = at;
            }
    qsort_r(s->shared->order, s->num_products, sizeof s->shared->order[0], by_cost, s);
    return true;
}

void sim_close(sim_run *s) {
    if (s->shared) munmap(s->shared, sizeof *s->shared + s->num_products * sizeof s->shared->order[0]);
    if (s->products) munmap(s->products, s->num_products ? s->num_products * sizeof *s->products : 1);
    if (s->windows) munmap(s->windows, MAX_WINDOWS * sizeof *s->windows);
    for (size_t i = 0; i < s->num_traces; i++) trace_free(&s->traces[i].t);
    free(s->traces);
    *s = (sim_run){0};
}

static bool hand_over(sim_run *s, sim_product *p, const kernel *k, const product_result *r) {
    p->verdict = r->run.verdict;
    p->cycles = r->run.cycles;
    p->model_cycles = r->run.model_cycles;
    memcpy(p->counters, r->run.counters, sizeof p->counters);
    p->mismatches = r->run.mismatches;
    p->rows_compared = r->run.rows_compared;
    p->counters_compared = r->run.rows_compared ? CHIP_TILES * NUM_EVENTS * r->num_windows : 0;
    p->elements = r->elements;
    p->reference_mismatches = r->reference_mismatches;
    p->useful_macs = k->useful_macs;
    p->bounds = k->bounds;
    p->traffic = k->traffic;
    p->seconds_rtl = r->run.seconds_rtl;
    p->seconds_twin = r->run.seconds_twin;
    memcpy(p->text, r->run.text, sizeof p->text);
    p->num_windows = r->num_windows;
    p->first_window = atomic_fetch_add(&s->shared->windows, r->num_windows);
    if (p->first_window + r->num_windows > MAX_WINDOWS) return false;
    memcpy(s->windows + p->first_window, r->windows, r->num_windows * sizeof *r->windows);
    return true;
}

static bool run_product(sim_run *s, size_t index, const sim_options *options) {
    sim_product *p = &s->products[index];
    const trace *t = &s->traces[p->trace].t;
    const trace_op *op = &t->ops[p->op];
    char name[KERNEL_NAME], error[KERNEL_ERROR];
    trace_tensors tensors = {0};
    kernel k = {0};
    product_result r = {0};
    if (op->expert < 0)
        snprintf(name, sizeof name, "%s.%u layer %u", op->name, p->instance, op->layer);
    else
        snprintf(name, sizeof name, "%s.%u layer %u expert %d", op->name, p->instance, op->layer, op->expert);
    bool ok = trace_operands(t, p->op, p->instance, &tensors);
    gemm_operands o = trace_gemm(&tensors);
    if (ok && kernel_gemm(name, &op->spec, &o, &k, error)) {
        product_options how = {
            .backend = options->backend, .reference = true, .seed = options->seed, .energy = s->energy};
        if (options->wave && index == 0) how.wave = options->wave, how.wave_cycles = options->wave_cycles;
        product_run(&k, &o, &how, NULL, &r);
        ok = hand_over(s, p, &k, &r);
    } else if (ok) {
        p->verdict = HARNESS_BAD_JOB;
        snprintf(p->text, sizeof p->text, "%s", error);
    }
    product_free(&r);
    kernel_free(&k);
    trace_tensors_free(&tensors);
    atomic_store(&p->done, ok);
    return ok;
}

static void work(sim_run *s, const sim_options *options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t at; (at = atomic_fetch_add(&s->shared->next, 1)) < s->num_products;)
        if (!run_product(s, s->shared->order[at], options)) _exit(1);
    // exit, not _exit: wave files are closed at exit
    exit(0);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct {
    double start;
    bool terminal;
    int shown; // tenths shown so far
} progress;

// Share of the work done, by cost; cycles so far.
static void show(progress *g, const sim_run *s, bool last) {
    uint64_t done = 0, all = 0, cycles = 0;
    size_t products = 0;
    for (size_t i = 0; i < s->num_products; i++) {
        uint64_t c = cost(s, i);
        all += c;
        if (!atomic_load(&s->products[i].done)) continue;
        done += c;
        products++;
        cycles += s->products[i].cycles;
    }
    double share = all ? (double)done / (double)all : 1, seconds = now() - g->start;
    int tenths = (int)(10 * share);
    if (!g->terminal && tenths <= g->shown) return;
    g->shown = tenths;
    double left = share > 0 ? seconds / share - seconds : 0;
    char bar[31];
    for (int i = 0; i < 30; i++) bar[i] = i < (int)(30 * share) ? '#' : '.';
    bar[30] = '\0';
    fprintf(stderr, "%s[%s] %3.0f %%  %zu of %zu products  %.1f kcycles/s  %.0f s left%s", g->terminal ? "\r" : "", bar,
            100 * share, products, s->num_products, (double)cycles / 1e3 / (seconds > 0 ? seconds : 1), left,
            g->terminal && !last ? "   " : "\n");
    fflush(stderr);
}

bool sim_all(sim_run *s, const sim_options *options, char error[TRACE_ERROR]) {
    int workers = options->workers < MAX_WORKERS ? options->workers : MAX_WORKERS, running = 0;
    bool ok = true;
    progress g = {now(), isatty(STDERR_FILENO) != 0, 0};
    fflush(NULL);
    for (int i = 0; i < workers; i++) {
        pid_t pid = fork();
        if (pid == 0) work(s, options);
        running += pid > 0;
    }
    ok = running > 0;
    while (running) {
        int status;
        while (running && waitpid(-1, &status, WNOHANG) > 0) {
            running--;
            ok &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        if (!options->quiet) show(&g, s, !running);
        if (running) nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
    for (size_t i = 0; i < s->num_products; i++) ok &= s->products[i].done;
    if (!ok) snprintf(error, TRACE_ERROR, "a process was lost, or there was no memory");
    return ok;
}
