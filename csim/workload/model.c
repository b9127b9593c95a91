#include "workload/model.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "numerics/num.h"

// ---- reading
typedef struct {
    const char *path;
    char *error;
    bool failed;
} reader;

static void fail(reader *r, const char *where, const char *key, const char *want) {
    if (!r->failed)
        snprintf(r->error, MODEL_ERROR, "%.256s: %s%s%s: expected %s", r->path, where, *where ? "." : "", key, want);
    r->failed = true;
}

static uint32_t number(reader *r, const json_t *object, const char *where, const char *key) {
    const json_t *v = json_object_get(object, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > 1 << 24) {
        fail(r, where, key, "a whole number from 0 to 2^24");
        return 0;
    }
    return (uint32_t)json_integer_value(v);
}

static uint32_t positive(reader *r, const json_t *object, const char *where, const char *key) {
    uint32_t v = number(r, object, where, key);
    if (!r->failed && v == 0) fail(r, where, key, "1 or more");
    return v;
}

static bool truth(reader *r, const json_t *object, const char *where, const char *key) {
    const json_t *v = json_object_get(object, key);
    if (!json_is_boolean(v)) fail(r, where, key, "true or false");
    return json_is_true(v);
}

static const json_t *object_at(reader *r, const json_t *root, const char *key) {
    const json_t *v = json_object_get(root, key);
    if (!json_is_object(v)) fail(r, "", key, "an object");
    return v;
}

static void read_attention(reader *r, const json_t *a, model_facts *m) {
    const char *kind = json_string_value(json_object_get(a, "kind")), *at = "attention";
    if (!kind || (strcmp(kind, "gqa") && strcmp(kind, "mla"))) {
        fail(r, at, "kind", "\"gqa\" or \"mla\"");
        return;
    }
    m->attention = strcmp(kind, "gqa") ? ATTENTION_MLA : ATTENTION_GQA;
    m->query_heads = positive(r, a, at, "query_heads");
    if (m->attention == ATTENTION_GQA) {
        m->kv_heads = positive(r, a, at, "kv_heads");
        m->head_dim = positive(r, a, at, "head_dim");
        if (!r->failed && m->query_heads % m->kv_heads) fail(r, at, "query_heads", "a multiple of kv_heads");
    } else {
        m->q_rank = positive(r, a, at, "q_rank");
        m->kv_rank = positive(r, a, at, "kv_rank");
        m->nope_dim = positive(r, a, at, "nope_dim");
        m->rope_dim = positive(r, a, at, "rope_dim");
        m->v_dim = positive(r, a, at, "v_dim");
    }
    m->attention_bias = truth(r, a, at, "bias");
    m->sinks = truth(r, a, at, "sinks");
    m->window = number(r, a, at, "window");
    m->even_layers_slide = truth(r, a, at, "even_layers_slide");
}

static void read_experts(reader *r, const json_t *e, model_facts *m) {
    m->experts = positive(r, e, "experts", "routed");
    m->top_k = positive(r, e, "experts", "top_k");
    m->shared_experts = number(r, e, "experts", "shared");
    m->expert_width = positive(r, e, "experts", "width");
    m->router_bias = truth(r, e, "experts", "router_bias");
    m->expert_bias = truth(r, e, "experts", "bias");
    const char *fmt = json_string_value(json_object_get(e, "format"));
    const char *scale = json_string_value(json_object_get(e, "scale"));
    m->expert_fmt = fmt ? num_fmt_parse(fmt) : NUM_FMTS;
    if (m->expert_fmt == NUM_FMTS) fail(r, "experts", "format", "a format, as \"e2m1\"");
    m->expert_scale = scale && !strcmp(scale, "bf16") ? SCALE_BF16 : SCALE_E8M0;
    if (!scale || (strcmp(scale, "e8m0") && strcmp(scale, "bf16"))) fail(r, "experts", "scale", "\"e8m0\" or \"bf16\"");
    if (!r->failed && m->top_k > m->experts) fail(r, "experts", "top_k", "at most experts.routed");
}

static void read_model(reader *r, const json_t *root, const char *name, model_facts *m) {
    const char *written = json_string_value(json_object_get(root, "name"));
    if (!written || strcmp(written, name)) fail(r, "", "name", "the name of the file");
    snprintf(m->name, sizeof m->name, "%s", name);
    m->layers = positive(r, root, "", "layers");
    m->hidden = positive(r, root, "", "hidden");
    m->vocabulary = positive(r, root, "", "vocabulary");
    m->context = positive(r, root, "", "context");
    read_attention(r, object_at(r, root, "attention"), m);
    read_experts(r, object_at(r, root, "experts"), m);
    const json_t *dense = object_at(r, root, "dense");
    m->dense_layers = number(r, dense, "dense", "layers");
    m->dense_width = number(r, dense, "dense", "width");
    if (!r->failed && m->dense_layers > m->layers) fail(r, "dense", "layers", "at most layers");
}

bool model_load(const char *dir, const char *name, model_facts *out, char error[MODEL_ERROR]) {
    char path[512];
    memset(out, 0, sizeof *out);
    if (!*name || strlen(name) >= MODEL_NAME || strchr(name, '/')) {
        snprintf(error, MODEL_ERROR, "model \"%.64s\": expected the name of a file %.128s/NAME.json", name, dir);
        return false;
    }
    snprintf(path, sizeof path, "%.400s/%s.json", dir, name);
    json_error_t at;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
    if (!root) {
        if (at.line < 1)
            snprintf(error, MODEL_ERROR, "model \"%s\": expected a file %.300s that can be read", name, path);
        else
            snprintf(error, MODEL_ERROR, "%.300s:%d: expected JSON, %.120s", path, at.line, at.text);
        return false;
    }
    reader r = {.path = path, .error = error};
    read_model(&r, root, name, out);
    json_decref(root);
    return !r.failed;
}

// ---- sums
static uint64_t linear(uint64_t in, uint64_t out, bool bias) {
    return in * out + (bias ? out : 0);
}

static uint64_t attention_parameters(const model_facts *m) {
    uint64_t h = m->hidden, heads = m->query_heads;
    if (m->attention == ATTENTION_GQA) {
        uint64_t q = heads * m->head_dim, kv = (uint64_t)m->kv_heads * m->head_dim;
        return linear(h, q, m->attention_bias) + 2 * linear(h, kv, m->attention_bias) +
               linear(q, h, m->attention_bias) + (m->sinks ? heads : 0);
    }
    uint64_t down = h * m->q_rank + m->q_rank + h * (m->kv_rank + m->rope_dim) + m->kv_rank; // and their norms
    uint64_t up = m->q_rank * heads * (m->nope_dim + m->rope_dim) + m->kv_rank * heads * (m->nope_dim + m->v_dim);
    return down + up + heads * m->v_dim * h;
}

static uint64_t expert_parameters(const model_facts *m) {
    return linear(m->hidden, 2 * (uint64_t)m->expert_width, m->expert_bias) +
           linear(m->expert_width, m->hidden, m->expert_bias);
}

// With `experts` routed ones in each layer and `tables` of embedding and head.
static uint64_t parameters(const model_facts *m, uint64_t experts, uint64_t tables) {
    uint64_t h = m->hidden, mixed = m->layers - m->dense_layers;
    uint64_t mixture = linear(h, m->experts, m->router_bias) + (experts + m->shared_experts) * expert_parameters(m);
    return tables * m->vocabulary * h + h + m->layers * (attention_parameters(m) + 2 * h) + mixed * mixture +
           m->dense_layers * 3 * h * m->dense_width;
}

uint64_t model_parameters(const model_facts *m) {
    return parameters(m, m->experts, 2);
}

uint64_t model_active_parameters(const model_facts *m) {
    return parameters(m, m->top_k, 1);
}

uint64_t model_kv_elements(const model_facts *m) {
    uint64_t each = m->attention == ATTENTION_GQA ? 2 * (uint64_t)m->kv_heads * m->head_dim : m->kv_rank + m->rope_dim;
    return m->layers * each;
}
