// DIR/trace.json: written whole or not at all, refused where version, configuration or digest differ.
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "numerics/num.h"
#include "workload/trace.h"

#define FORMAT "poblano-trace"

static const char *const phase_names[] = {"prefill", "decode"};
static const char *const scale_names[] = {"none", "e8m0", "bf16"};
static const char *const value_names[] = {"weights", "activations", "probabilities"};

enum { PATH = 4096 };

// FNV-1a of the compact text of the object; false where there is no memory.
static bool digest(const json_t *root, char text[20]) {
    char *dump = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!dump) return false;
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char *c = dump; *c; c++) hash = (hash ^ (uint8_t)*c) * 0x100000001B3u;
    snprintf(text, 20, "%016llx", (unsigned long long)hash);
    free(dump);
    return true;
}

// ---- writing
static json_t *op_to_json(const trace_op *o) {
    const gemm_spec *s = &o->spec;
    return json_pack("{ss si si si si si si si si ss ss ss ss sb ss ss}", "name", o->name, "layer", (int)o->layer,
                     "expert", (int)o->expert, "m", (int)s->m, "n", (int)s->n, "k", (int)s->k, "full_n", (int)o->full_n,
                     "count", (int)o->count, "full_count", (int)o->full_count, "a", num_fmt_name(s->fmt_a), "w",
                     num_fmt_name(s->fmt_w), "a_scale", scale_names[s->scale_a], "w_scale", scale_names[s->scale_w],
                     "split_k", s->split_k, "a_values", value_names[o->a_values], "w_values", value_names[o->w_values]);
}

static json_t *to_json(const trace *t) {
    char seed[24], hash[20];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)t->seed);
    json_t *ops = json_array();
    for (uint32_t i = 0; i < t->num_ops; i++) json_array_append_new(ops, op_to_json(&t->ops[i]));
    json_t *root = json_pack("{ss si ss ss ss si si si si si sf ss sI sI ss so}", "format", FORMAT, "version",
                             TRACE_VERSION, "config", t->config, "model", t->model, "phase", phase_names[t->phase],
                             "batch", (int)t->batch, "context", (int)t->context, "tokens", (int)t->tokens,
                             "first_layer", (int)t->first_layer, "layers", (int)t->layers, "share", t->share, "seed",
                             seed, "macs", (json_int_t)t->macs, "full_macs", (json_int_t)t->full_macs, "experts",
                             "top-k of log-normal popularity (sigma 0.5) plus Gumbel noise", "ops", ops);
    if (root && digest(root, hash)) json_object_set_new(root, "digest", json_string(hash));
    return root;
}

static bool fail(char error[TRACE_ERROR], const char *path, const char *what, int number) {
    snprintf(error, TRACE_ERROR, "%.300s: %s%s%s", path, what, number ? ": " : "", number ? strerror(number) : "");
    return false;
}

bool trace_write(const trace *t, const char *dir, char error[TRACE_ERROR]) {
    char path[PATH + 16], part[PATH + 20];
    if (!*dir || strlen(dir) >= PATH) return fail(error, dir, "expected the name of a directory", 0);
    if (mkdir(dir, 0777) && errno != EEXIST) return fail(error, dir, "cannot make the directory", errno);
    snprintf(path, sizeof path, "%s/trace.json", dir);
    snprintf(part, sizeof part, "%s.tmp", path);
    json_t *root = to_json(t);
    if (!root) return fail(error, path, "no memory", 0);
    FILE *f = fopen(part, "w");
    if (!f) {
        json_decref(root);
        return fail(error, path, "cannot write", errno);
    }
    bool ok = json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0 && fputc('\n', f) != EOF;
    json_decref(root);
    errno = 0;
    ok = fclose(f) == 0 && ok && rename(part, path) == 0;
    int number = errno;
    if (!ok) remove(part);
    return ok || fail(error, path, "cannot write", number);
}

// ---- reading
typedef struct {
    const char *path;
    char *error;
    bool failed;
    int op; // -1: outside of the operators
} reader;

static void refuse(reader *r, const char *key, const char *want) {
    char where[32] = "";
    if (r->op >= 0) snprintf(where, sizeof where, "ops[%d].", r->op);
    if (!r->failed) snprintf(r->error, TRACE_ERROR, "%.256s: %s%s: expected %s", r->path, where, key, want);
    r->failed = true;
}

static int64_t number(reader *r, const json_t *o, const char *key, int64_t least, int64_t most) {
    const json_t *v = json_object_get(o, key);
    char want[64];
    if (json_is_integer(v) && json_integer_value(v) >= least && json_integer_value(v) <= most)
        return json_integer_value(v);
    snprintf(want, sizeof want, "a whole number from %lld to %lld", (long long)least, (long long)most);
    refuse(r, key, want);
    return least;
}

static uint32_t small(reader *r, const json_t *o, const char *key, uint32_t least) {
    return (uint32_t)number(r, o, key, least, 1 << 24);
}

static void text(reader *r, const json_t *o, const char *key, char *out, size_t size) {
    const char *v = json_string_value(json_object_get(o, key));
    if (!v || !*v || strlen(v) >= size)
        refuse(r, key, "a short text");
    else
        snprintf(out, size, "%s", v);
}

static int choice(reader *r, const json_t *o, const char *key, const char *const *names, int count) {
    const char *v = json_string_value(json_object_get(o, key));
    for (int i = 0; v && i < count; i++)
        if (!strcmp(v, names[i])) return i;
    refuse(r, key, "another word");
    return 0;
}

static fmt_id format_of(reader *r, const json_t *o, const char *key) {
    const char *v = json_string_value(json_object_get(o, key));
    fmt_id fmt = v ? num_fmt_parse(v) : NUM_FMTS;
    if (fmt == NUM_FMTS) refuse(r, key, "a format");
    return fmt;
}

static void read_op(reader *r, const json_t *o, trace_op *out) {
    gemm_spec *s = &out->spec;
    text(r, o, "name", out->name, sizeof out->name);
    out->layer = small(r, o, "layer", 0);
    out->expert = (int32_t)number(r, o, "expert", -1, 1 << 24);
    s->m = small(r, o, "m", 1);
    s->n = small(r, o, "n", 1);
    s->k = small(r, o, "k", 1);
    out->full_n = small(r, o, "full_n", s->n);
    out->count = small(r, o, "count", 1);
    out->full_count = small(r, o, "full_count", out->count);
    s->fmt_a = format_of(r, o, "a");
    s->fmt_w = format_of(r, o, "w");
    s->scale_a = (scale_id)choice(r, o, "a_scale", scale_names, 2);
    s->scale_w = (scale_id)choice(r, o, "w_scale", scale_names, 3);
    s->split_k = json_is_true(json_object_get(o, "split_k"));
    out->a_values = (trace_values)choice(r, o, "a_values", value_names, 3);
    out->w_values = (trace_values)choice(r, o, "w_values", value_names, 3);
}

static void read_ops(reader *r, const json_t *ops, trace *t) {
    size_t count = json_array_size(ops);
    if (count < 1 || count > 1 << 24) {
        refuse(r, "ops", "a list of operators");
        return;
    }
    t->ops = calloc(count, sizeof *t->ops);
    if (!t->ops) refuse(r, "ops", "fewer, there is no memory");
    for (size_t i = 0; i < count && !r->failed; i++) {
        r->op = (int)i;
        read_op(r, json_array_get(ops, i), &t->ops[t->num_ops++]);
    }
    r->op = -1;
}

// Another version or configuration first: what follows may look different there.
static void read_head(reader *r, json_t *root, trace *t) {
    char name[TRACE_NAME] = "", want[96], hash[20] = "", found[20] = "";
    text(r, root, "format", name, sizeof name);
    if (!r->failed && strcmp(name, FORMAT)) refuse(r, "format", "\"" FORMAT "\"");
    int64_t version = number(r, root, "version", 0, 1 << 24);
    snprintf(want, sizeof want, "%d, the file has %lld; make the trace anew", TRACE_VERSION, (long long)version);
    if (!r->failed && version != TRACE_VERSION) refuse(r, "version", want);
    text(r, root, "config", t->config, sizeof t->config);
    snprintf(want, sizeof want, "\"%s\", the file has \"%s\"; make the trace anew", CFG_NAME, t->config);
    if (!r->failed && strcmp(t->config, CFG_NAME)) refuse(r, "config", want);
    text(r, root, "digest", found, sizeof found);
    json_object_del(root, "digest");
    if (!r->failed && (!digest(root, hash) || strcmp(hash, found)))
        refuse(r, "digest", "that of the contents; the file is damaged");
}

static void read_trace(reader *r, const json_t *root, trace *t) {
    text(r, root, "model", t->model, sizeof t->model);
    t->phase = (trace_phase)choice(r, root, "phase", phase_names, 2);
    t->batch = small(r, root, "batch", 1);
    t->context = small(r, root, "context", 0);
    t->tokens = small(r, root, "tokens", 1);
    t->first_layer = small(r, root, "first_layer", 0);
    t->layers = small(r, root, "layers", 1);
    t->share = json_number_value(json_object_get(root, "share"));
    if (!(t->share > 0 && t->share <= 1)) refuse(r, "share", "more than 0, at most 1");
    const char *seed = json_string_value(json_object_get(root, "seed"));
    char *end = NULL;
    errno = 0;
    if (seed) t->seed = strtoull(seed, &end, 10);
    if (!seed || end == seed || *end || errno || *seed == '-') refuse(r, "seed", "a number as text");
    t->macs = (uint64_t)number(r, root, "macs", 1, INT64_MAX);
    t->full_macs = (uint64_t)number(r, root, "full_macs", 1, INT64_MAX);
    read_ops(r, json_object_get(root, "ops"), t);
}

bool trace_read(const char *dir, trace *out, char error[TRACE_ERROR]) {
    char path[PATH + 16];
    memset(out, 0, sizeof *out);
    if (strlen(dir) >= PATH) return fail(error, dir, "expected the name of a directory", 0);
    snprintf(path, sizeof path, "%s/trace.json", dir);
    json_error_t at;
    FILE *f = fopen(path, "r");
    if (!f) return fail(error, path, "expected a trace that can be read", errno);
    json_t *root = json_loadf(f, JSON_REJECT_DUPLICATES, &at);
    fclose(f);
    if (!root) {
        snprintf(error, TRACE_ERROR, "%.256s:%d: expected JSON, %.120s", path, at.line, at.text);
        return false;
    }
    reader r = {.path = path, .error = error, .op = -1};
    if (!json_is_object(root)) refuse(&r, "the file", "an object");
    if (!r.failed) read_head(&r, root, out);
    if (!r.failed) read_trace(&r, root, out);
    json_decref(root);
    return !r.failed;
}
