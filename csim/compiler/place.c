// What lies where: resident weights, constants and KV cache of every tile, then its working rows; the HBM image.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/parts.h"
#include "numerics/num_block.h"

enum { WEIGHTS, CONSTANTS, CACHE };

// Rows of a tile's SRAM being given away; `image` grows with what is resident.
typedef struct {
    compiled *c;
    tile_plan *t;
    bool resident, failed;
} placer;

// Rows from *at on for writing, zero; NULL where nothing is placed.
static row_t *take(placer *p, uint32_t count, int kind, uint16_t *at) {
    tile_plan *t = p->t;
    *at = (uint16_t)t->used;
    t->used += count;
    if (!p->resident) return NULL;
    t->kinds[kind] += count;
    row_t *grown = realloc(t->sram, t->used * sizeof *grown);
    p->failed |= !grown;
    if (p->failed) return NULL;
    t->sram = grown;
    memset(grown + *at, 0, count * sizeof *grown);
    t->resident = t->used;
    return grown + *at;
}

static void take_floats(placer *p, const float *x, uint32_t n, double factor, int kind, uint16_t *at) {
    row_t *rows = take(p, ceil_div(n, LANES), kind, at);
    float *to = (float *)rows;
    for (uint32_t i = 0; rows && i < n; i++) to[i] = (float)(x[i] * factor);
}

static void take_constant(placer *p, double value, uint16_t *at) {
    float row[LANES];
    for (int i = 0; i < LANES; i++) row[i] = (float)value;
    take_floats(p, row, LANES, 1, CONSTANTS, at);
}

// Columns first.. of a matrix as weights, with their scales and bias.
static void take_matrix(placer *p, const llm_linear *l, uint32_t first, uint32_t n, fmt_id fmt, placed *out) {
    *out = (placed){.first = first, .n = n, .k = l->in, .fmt = fmt, .has_bias = l->bias && n};
    if (!n) return;
    scale_id scale = num_block_scale(fmt);
    kernel_plan plan = {.spec = {.n = n, .k = l->in, .fmt_w = fmt, .scale_w = scale},
                        .kb = ceil_div(l->in, BLOCK),
                        .nt = ceil_div(n, CFG_COLS),
                        .w_rows_block = CFG_COLS * (uint32_t)num_fmt_bits(fmt) / LANES,
                        .ws_bytes = scale == SCALE_NONE   ? 0
                                    : scale == SCALE_BF16 ? 2
                                                          : 1};
    uint16_t *codes = calloc((size_t)n * l->in, sizeof *codes), *scales = calloc((size_t)n * plan.kb, sizeof *scales);
    p->failed |= !codes || !scales;
    for (uint32_t i = 0; !p->failed && i < n; i++)
        num_block_quantize_row(fmt, l->w + (size_t)(first + i) * l->in, l->in, codes + (size_t)i * l->in,
                               scales + (size_t)i * plan.kb);
    span_t tiles = {0, plan.nt}, blocks = {0, plan.kb};
    row_t *w = take(p, plan.nt * plan.kb * plan.w_rows_block, WEIGHTS, &out->w);
    if (w && !p->failed) pack_w(&plan, codes, tiles, blocks, w);
    row_t *ws = take(p, plan_ws_rows(&plan, plan.nt, plan.kb), WEIGHTS, &out->ws);
    if (ws && !p->failed && scale != SCALE_NONE) pack_w_scales(&plan, scales, tiles, blocks, ws);
    free(codes);
    free(scales);
    if (!out->has_bias) return;
    row_t *bias = take(p, plan.nt * C_ROWS, CONSTANTS, &out->bias);
    if (bias) memcpy(bias, l->bias + first, n * sizeof(float));
}

// A matrix whose column tiles are shared out among the tiles.
static void take_share(placer *p, int tile, const llm_linear *l, fmt_id fmt, placed *out) {
    uint32_t count = ceil_div(l->out, CFG_COLS), first = share_begin(count, tile) * CFG_COLS,
             end = min_u32(share_begin(count, tile + 1) * CFG_COLS, l->out);
    take_matrix(p, l, first, end - first, fmt, out);
}

static void take_cache(placer *p, const llm_layer *l, tile_layer *to) {
    const compiled *c = p->c;
    const llm_config *f = &c->m->c;
    uint32_t share = f->heads / c->kv_heads, column = 2 * c->key_blocks; // rows of a position
    for (uint32_t g = 0; g < p->t->kv_count; g++) {
        cached *kv = &to->kv[g];
        uint32_t begin = (p->t->kv0 + g) * share, end = begin + share, last = p->t->head0 + p->t->heads;
        *kv = (cached){.first = begin > p->t->head0 ? begin : p->t->head0, .local = g};
        kv->heads = (end < last ? end : last) - kv->first;
        take(p, c->blocks * BLOCK * column, CACHE, &kv->keys);
        take(p, c->blocks * BLOCK * 2 * ceil_div(c->value_dim, CFG_COLS) * CFG_COLS / BLOCK, CACHE, &kv->values);
        take(p, BLOCK * 2 * c->value_blocks, CACHE, &kv->stage);
        if (!l->sinks) continue;
        row_t *rows = take(p, kv->heads, CONSTANTS, &kv->sinks);
        for (uint32_t i = 0; rows && i < kv->heads * LANES; i++)
            ((float *)rows)[i] = (float)(l->sinks[kv->first + i / LANES] * M_LOG2E);
    }
}

// Router and biases of experts.
static void take_experts(placer *p, const llm_layer *l, tile_layer *to) {
    const llm_config *f = &p->c->m->c;
    to->has_experts = true;
    llm_linear router = l->router;
    router.bias = NULL;
    take_matrix(p, &router, 0, f->experts, FMT_BF16, &to->router);
    float *bias = (float *)take(p, p->c->route_rows, CONSTANTS, &to->router_bias);
    for (uint32_t i = 0; bias && i < p->c->route_rows * LANES; i++)
        bias[i] = i >= f->experts ? -INFINITY : l->router.bias ? l->router.bias[i] : 0;
    float *correction = l->correction ? (float *)take(p, p->c->route_rows, CONSTANTS, &to->correction) : NULL;
    for (uint32_t i = 0; correction && i < p->c->route_rows * LANES; i++)
        correction[i] = i >= f->experts ? -INFINITY : l->correction[i];
    uint32_t rows = result_rows(to->down.n);
    if (!l->experts[0].down.bias) return;
    float *down = (float *)take(p, f->experts * rows, CONSTANTS, &to->down_bias);
    for (uint32_t i = 0; down && i < f->experts; i++)
        memcpy(down + i * rows * LANES, l->experts[i].down.bias + to->down.first, to->down.n * sizeof *down);
}

// From hidden states to the latents of queries and of keys and values.
static void take_latent(placer *p, const llm_layer *l, tile_layer *to) {
    const llm_config *f = &p->c->m->c;
    if (f->q_rank) {
        take_matrix(p, &l->q_a, 0, f->q_rank, p->c->o.weights, &to->q_a);
        take_floats(p, l->q_a_norm, f->q_rank, sqrt(f->q_rank), CONSTANTS, &to->q_a_norm);
    }
    take_matrix(p, &l->kv_a, 0, f->kv_rank + f->rope_dim, p->c->o.weights, &to->kv_a);
    take_floats(p, l->kv_a_norm, f->kv_rank, sqrt(f->kv_rank), CONSTANTS, &to->kv_a_norm);
}

static void take_layer(placer *p, int tile, uint32_t number, tile_layer *to) {
    const llm_layer *l = &p->c->m->layers[number];
    const llm_ffn *wide = &p->c->wide[number];
    const llm_config *f = &p->c->m->c;
    const tile_plan *t = p->t;
    fmt_id fmt = p->c->o.weights;
    take_floats(p, l->norm_in, f->hidden, sqrt(f->hidden), CONSTANTS, &to->norm_in);
    take_floats(p, l->norm_post, f->hidden, sqrt(f->hidden), CONSTANTS, &to->norm_post);
    const compiled *c = p->c;
    bool latent = f->arch == LLM_DEEPSEEK_V3;
    const llm_linear *k = latent ? &c->expand_k[number] : &l->k, *v = latent ? &c->expand_v[number] : &l->v;
    uint32_t key = latent ? c->plain_dim : c->key_dim; // dimensions that k makes
    take_matrix(p, f->q_rank ? &l->q_b : &l->q, t->head0 * c->key_dim, t->heads * c->key_dim, fmt, &to->q);
    take_matrix(p, k, t->kv0 * key, t->kv_count * key, fmt, &to->k);
    take_matrix(p, v, t->kv0 * c->value_dim, t->kv_count * c->value_dim, fmt, &to->v);
    if (latent) take_latent(p, l, to);
    take_share(p, tile, &l->o, fmt, &to->o);
    take_share(p, tile, &wide->gate, fmt, &to->gate);
    take_share(p, tile, &wide->up, fmt, &to->up);
    take_share(p, tile, &wide->down, fmt, &to->down);
    to->width = wide->gate.out;
    if (l->experts) take_experts(p, l, to);
    take_cache(p, l, to);
}

static void take_constants(placer *p) {
    const llm_config *f = &p->c->m->c;
    tile_rows *r = &p->t->rows;
    take_constant(p, f->hidden * f->norm_eps, &r->eps);
    take_constant(p, 1, &r->ones);
    take_constant(p, -M_LOG2E * (f->arch == LLM_GPT_OSS ? f->swiglu_alpha : 1), &r->gate_scale);
    take_constant(p, M_LOG2E, &r->log2e);
    take_constant(p, f->swiglu_limit, &r->limit);
    take_constant(p, -f->swiglu_limit, &r->minus_limit);
    take_constant(p, -INFINITY, &r->minus_infinity);
    float *order = (float *)take(p, p->c->route_rows, CONSTANTS, &r->order);
    for (uint32_t i = 0; order && i < p->c->route_rows * LANES; i++) order[i] = -(float)i;
    float *one_hot = (float *)take(p, f->experts * p->c->route_rows, CONSTANTS, &r->one_hot);
    for (uint32_t i = 0; one_hot && i < f->experts; i++) one_hot[i * p->c->route_rows * LANES + i] = 1;
    uint32_t groups = f->groups > 1 ? f->groups : 0;
    float *member = (float *)take(p, groups * p->c->route_rows, CONSTANTS, &r->member);
    for (uint32_t i = 0; member && groups && i < f->experts; i++)
        member[i / (f->experts / groups) * p->c->route_rows * LANES + i] = 1;
    take_constant(p, M_LOG2E * llm_score_scale(f), &r->score_scale);
    take_constant(p, f->q_rank * LLM_LATENT_EPS, &r->q_eps);
    take_constant(p, f->kv_rank * LLM_LATENT_EPS, &r->kv_eps);
    take_constant(p, f->routed_scale, &r->routed_scale);
    uint32_t dim = p->c->value_dim;
    row_t *identity = take(p, dim * 2 * p->c->value_blocks, CONSTANTS, &r->identity);
    for (uint32_t d = 0; identity && d < dim; d++) { // activations [dim][dim] in BF16
        uint32_t row = (d / BLOCK * dim + d) * 2 + d % BLOCK / 16;
        ((uint16_t *)(identity + row))[d % 16] = 0x3F80;
    }
}

// What other tiles write: at the same rows on every tile, so placed before all that differs. All begin as zeros, and
// end in zeros to a whole block.
static void take_meeting_points(placer *p) {
    const llm_config *f = &p->c->m->c;
    tile_rows *r = &p->t->rows;
    take(p, ceil_div(f->heads * p->c->value_dim, BLOCK) * MASK_ROWS, CONSTANTS, &r->heads);
    take(p, ceil_div(p->c->width, BLOCK) * MASK_ROWS, CONSTANTS, &r->hidden);
    take(p, ceil_div(f->hidden, BLOCK) * MASK_ROWS, CONSTANTS, &r->down);
    take(p, ceil_div(f->hidden, BLOCK) * MASK_ROWS, CONSTANTS, &r->normed);
}

// Buffers that are written over and over. Those in front of a conversion are resident: their padding is zero.
static void take_buffers(placer *p) {
    const compiled *c = p->c;
    const llm_config *f = &c->m->c;
    const tile_plan *t = p->t;
    tile_rows *r = &p->t->rows;
    uint32_t padded_key = c->key_blocks * MASK_ROWS, most = t->heads ? t->heads : 1;
    uint32_t width = c->width, widest = width > f->hidden ? width : f->hidden, all = f->heads * c->value_dim;
    uint32_t hidden = ceil_div(f->hidden, BLOCK) * MASK_ROWS;
    if (all > widest) widest = all;
    uint32_t latent = f->q_rank > f->kv_rank ? f->q_rank : f->kv_rank;
    take(p, most * padded_key, CONSTANTS, &r->q_rot);
    take(p, (t->kv_count + 1) * padded_key, CONSTANTS, &r->k_rot);
    take(p, (t->kv_count + 1) * c->value_blocks * MASK_ROWS, CONSTANTS, &r->v_pad);
    take(p, ceil_div(f->q_rank, BLOCK) * MASK_ROWS, CONSTANTS, &r->q_normed);
    take(p, ceil_div(f->kv_rank, BLOCK) * MASK_ROWS, CONSTANTS, &r->kv_normed);
    if (latent > widest) widest = latent;
    p->resident = false;
    uint32_t share = ceil_div(ceil_div(width, CFG_COLS), TILES) + 1, blocks = ceil_div(widest, BLOCK);
    uint32_t dims = result_rows(c->value_dim);
    struct {
        uint16_t *at;
        uint32_t rows;
    } buffers[] = {{&r->x, hidden},
                   {&r->a, 2 * blocks},
                   {&r->a_scales, blocks},
                   {&r->position, c->position_rows},
                   {&r->q, result_rows(most * c->key_dim)},
                   {&r->k, result_rows((t->kv_count + 1) * c->key_dim)},
                   {&r->v, result_rows((t->kv_count + 1) * c->value_dim)},
                   {&r->q_latent, result_rows(f->q_rank)},
                   {&r->kv_latent, result_rows(f->kv_rank + f->rope_dim)},
                   {&r->k_turned, c->turn_dim / LANES},
                   {&r->groups, c->route_rows},
                   {&r->turned, (most + t->kv_count) * c->turn_dim / LANES},
                   {&r->q_a, most * 2 * c->key_blocks},
                   {&r->scores, c->blocks * MASK_ROWS * most},
                   {&r->most, most},
                   {&r->sum, most},
                   {&r->p, c->blocks * 2 * most},
                   {&r->mixed, dims * most},
                   {&r->transposed, 2 * c->value_dim * C_ROWS},
                   {&r->o, result_rows(f->hidden)},
                   {&r->gate, share * C_ROWS},
                   {&r->up, share * C_ROWS},
                   {&r->route, c->route_rows},
                   {&r->left, c->route_rows},
                   {&r->below, c->route_rows},
                   {&r->first, c->route_rows},
                   {&r->chosen, c->route_rows},
                   {&r->shares, f->experts},
                   {&r->scratch, (ceil_div(f->vocabulary, CFG_COLS) / TILES + 2) * C_ROWS + hidden + share * C_ROWS}};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) take(p, buffers[i].rows, 0, buffers[i].at);
}

static bool place_tile(compiled *c, int tile, char error[COMPILER_ERROR]) {
    const llm_config *f = &c->m->c;
    tile_plan *t = &c->tiles[tile];
    placer p = {.c = c, .t = t, .resident = true};
    uint32_t share = f->heads / c->kv_heads, end = share_begin(f->heads, tile + 1);
    t->head0 = share_begin(f->heads, tile);
    t->heads = end - t->head0;
    t->kv0 = t->head0 / share;
    t->kv_count = t->heads ? (end - 1) / share + 1 - t->kv0 : 0;
    t->port = plan_port(tile);
    t->layers = calloc(f->layers, sizeof *t->layers);
    p.failed = !t->layers;
    take_meeting_points(&p);
    for (uint32_t i = 0; !p.failed && i < f->layers; i++) {
        t->layers[i].kv = calloc(t->kv_count + 1, sizeof *t->layers[i].kv);
        p.failed = !t->layers[i].kv;
        if (!p.failed) take_layer(&p, tile, i, &t->layers[i]);
    }
    take_floats(&p, c->m->norm, f->hidden, sqrt(f->hidden), CONSTANTS, &t->norm);
    take_share(&p, tile, &c->m->head, FMT_BF16, &t->head);
    take_constants(&p);
    take_buffers(&p);
    if (!p.failed && t->used <= SRAM_ROWS) return true;
    if (p.failed)
        snprintf(error, COMPILER_ERROR, "no memory");
    else
        snprintf(error, COMPILER_ERROR,
                 "tile %d %d needs %u rows of SRAM (weights %u, constants %u, KV cache of %u positions %u), it has %d",
                 tile % CFG_TILES_X, tile / CFG_TILES_X, t->used, t->kinds[WEIGHTS], t->kinds[CONSTANTS],
                 c->o.positions, t->kinds[CACHE], SRAM_ROWS);
    return false;
}

// ---- HBM: each port its own copy of embedding and positions
static row_t *image_rows(compiled *c, int port, uint32_t count, uint32_t *at) {
    row_t *grown = realloc(c->image[port], (c->image_rows[port] + count) * sizeof *grown);
    if (!grown) return NULL;
    c->image[port] = grown;
    *at = c->image_rows[port];
    c->image_rows[port] += count;
    memset(grown + *at, 0, count * sizeof *grown);
    return grown + *at;
}

// Cosines and signed sines of a position, then the mask of what follows it in its block of positions, and of what lies
// before the sliding window in the block where that begins.
static void fill_position(const compiled *c, uint32_t position, float *to) {
    const llm_config *f = &c->m->c;
    uint32_t dim = c->turn_dim, half = dim / 2,
             first = f->window && position + 1 > f->window ? position + 1 - f->window : 0;
    float *sines = to + dim, *after = sines + dim, *before = after + BLOCK;
    for (uint32_t i = 0; i < dim; i++) {
        uint32_t pair = f->rope_interleaved ? i / 2 : i % half;
        bool second = f->rope_interleaved ? i % 2 : i >= half;
        double angle = (float)position * c->m->frequencies[pair], factor = f->rope.attention_factor;
        to[i] = (float)(cos(angle) * factor);
        sines[i] = (float)((second ? 1 : -1) * sin(angle) * factor);
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        after[i] = i > position % BLOCK ? -INFINITY : 0;
        before[i] = i < first % BLOCK ? -INFINITY : 0;
    }
}

static bool fill_port(compiled *c, int port) {
    const llm_config *f = &c->m->c;
    uint32_t x_rows = ceil_div(f->hidden, LANES), embedding = 0, positions = 0;
    bool shared = false;
    for (int tile = 0; tile < TILES; tile++) {
        tile_plan *t = &c->tiles[tile];
        if (t->port != port) continue;
        row_t *rows = image_rows(c, port, t->resident, &t->hbm_sram);
        if (!rows) return false;
        memcpy(rows, t->sram, t->resident * sizeof *rows);
        if (!shared) {
            row_t *to = image_rows(c, port, f->vocabulary * x_rows, &embedding);
            if (!to) return false;
            for (uint32_t i = 0; i < f->vocabulary; i++)
                memcpy(to + i * x_rows, c->m->embedding + (size_t)i * f->hidden, f->hidden * sizeof(float));
            if (!(to = image_rows(c, port, c->o.positions * c->position_rows, &positions))) return false;
            for (uint32_t i = 0; i < c->o.positions; i++) fill_position(c, i, (float *)(to + i * c->position_rows));
            shared = true;
        }
        t->hbm_embedding = embedding;
        t->hbm_position = positions;
        if (!image_rows(c, port, result_rows(t->head.n), &t->hbm_logits) && t->head.n) return false;
    }
    return true;
}

bool compiler_place(compiled *c, char error[COMPILER_ERROR]) {
    for (int tile = 0; tile < TILES; tile++)
        if (!place_tile(c, tile, error)) return false;
    for (int port = 0; port < COMPILER_PORTS; port++)
        if (!fill_port(c, port)) {
            snprintf(error, COMPILER_ERROR, "no memory");
            return false;
        }
    return true;
}
