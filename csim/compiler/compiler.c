#include "compiler/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/emit.h"

enum { TAG_HEADS, TAG_O, TAG_HIDDEN, TAG_DOWN };

// ---- a token
// What every tile computed of a vector's columns, into the vector on every tile.
static void gather_columns(emitter *e, const placed *w, uint32_t from, uint32_t to, uint32_t columns, uint8_t tag) {
    emit_gather(e, from, result_rows(w->n), to + w->first / LANES, result_rows(columns), tag);
}

// gate * up / (1 + exp2(-alpha log2(e) gate)), in `gate`; of gpt_oss both clamped and up + 1 for up.
static void gated(emitter *e, uint32_t rows) {
    const tile_rows *r = &e->t->rows;
    if (e->c->m->c.arch == LLM_GPT_OSS) {
        emit_rows(e, OP_VMIN, r->gate, at(r->gate), constant(r->limit), rows);
        emit_rows(e, OP_VMIN, r->up, at(r->up), constant(r->limit), rows);
        emit_rows(e, OP_VMAX, r->up, at(r->up), constant(r->minus_limit), rows);
        emit_rows(e, OP_VADD, r->up, at(r->up), constant(r->ones), rows);
    }
    emit_rows(e, OP_VMUL, r->scratch, at(r->gate), constant(r->gate_scale), rows);
    emit_rows(e, OP_VEXP2, r->scratch, at(r->scratch), at(0), rows);
    emit_rows(e, OP_VADD, r->scratch, at(r->scratch), constant(r->ones), rows);
    emit_rows(e, OP_VRECIP, r->scratch, at(r->scratch), at(0), rows);
    emit_rows(e, OP_VMUL, r->gate, at(r->gate), at(r->up), rows);
    emit_rows(e, OP_VMUL, r->gate, at(r->gate), at(r->scratch), rows);
}

static void feed_forward(emitter *e, const tile_layer *l) {
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    fmt_id fmt = e->c->o.activations;
    emit_norm(e, l->norm_post, l->has_experts ? FMT_BF16 : fmt);
    if (l->has_experts) emit_route(e, l);
    if (l->has_experts && fmt != FMT_BF16) emit_convert(e, r->normed, ceil_div(f->hidden, BLOCK), fmt);
    emit_product(e, &l->gate, fmt, r->gate);
    emit_product(e, &l->up, fmt, r->up);
    emit_bias(e, &l->gate, r->gate);
    emit_bias(e, &l->up, r->up);
    gated(e, result_rows(l->gate.n));
    if (l->has_experts) emit_share(e, l);
    gather_columns(e, &l->gate, r->gate, r->hidden, l->width, TAG_HIDDEN);
    emit_convert(e, r->hidden, ceil_div(l->width, BLOCK), fmt);
    emit_product(e, &l->down, fmt, r->o);
    if (l->has_experts && f->arch == LLM_GPT_OSS) emit_down_bias(e, l, r->o);
    gather_columns(e, &l->down, r->o, r->down, f->hidden, TAG_DOWN);
    emit_rows(e, OP_VADD, r->x, at(r->x), at(r->down), f->hidden / LANES);
}

static void layer(emitter *e, uint32_t number, uint32_t position) {
    const tile_layer *l = &e->t->layers[number];
    const tile_rows *r = &e->t->rows;
    const llm_config *f = &e->c->m->c;
    fmt_id fmt = e->c->o.activations;
    uint32_t rows = e->c->value_dim / LANES, width = f->heads * e->c->value_dim, mine = e->t->heads * rows;
    uint32_t heads = r->heads + e->t->head0 * rows;
    emit_norm(e, l->norm_in, fmt);
    emit_attention(e, l, number, position);
    emit_gather(e, heads, mine, heads, width / LANES, TAG_HEADS);
    emit_convert(e, r->heads, ceil_div(width, BLOCK), fmt);
    emit_product(e, &l->o, fmt, r->o);
    emit_bias(e, &l->o, r->o);
    gather_columns(e, &l->o, r->o, r->down, f->hidden, TAG_O);
    emit_rows(e, OP_VADD, r->x, at(r->x), at(r->down), f->hidden / LANES);
    feed_forward(e, l);
}

bool compiled_token(const compiled *c, uint32_t token, uint32_t position, program *out) {
    const llm_config *f = &c->m->c;
    for (int tile = 0; tile < TILES; tile++) {
        const tile_plan *t = &c->tiles[tile];
        emitter e = {.c = c, .t = t, .out = out, .tile = tile, .last = ENG_SEQ};
        uint32_t x_rows = f->hidden / LANES;
        emit_load(&e, t->rows.x, t->hbm_embedding + token * x_rows, x_rows);
        emit_load(&e, t->rows.position, t->hbm_position + position * c->position_rows, c->position_rows);
        for (uint32_t i = 0; i < f->layers; i++) layer(&e, i, position);
        emit_norm(&e, t->norm, FMT_BF16);
        emit_product(&e, &t->head, FMT_BF16, t->rows.scratch);
        if (t->head.n) emit_store(&e, t->rows.scratch, t->hbm_logits, result_rows(t->head.n));
        if (!emit_end(&e)) return false;
    }
    return true;
}

bool compiled_place(const compiled *c, program *out) {
    for (int tile = 0; tile < TILES; tile++) {
        const tile_plan *t = &c->tiles[tile];
        emitter e = {.c = c, .t = t, .out = out, .tile = tile, .last = ENG_SEQ};
        emit_load(&e, 0, t->hbm_sram, t->resident);
        if (!emit_end(&e)) return false;
    }
    return true;
}

// ---- what there is
static bool refuse(char error[COMPILER_ERROR], const char *what, uint32_t got) {
    snprintf(error, COMPILER_ERROR, "not on the chip yet: %s, got %u", what, got);
    return false;
}

static bool latent_supported(const llm_config *f, char error[COMPILER_ERROR]) {
    const struct {
        const char *what;
        uint32_t got, unit, most;
    } demands[] = {{"expected qk_nope_head_dim a multiple of 8", f->nope_dim, LANES, UINT16_MAX},
                   {"expected qk_rope_head_dim a multiple of 16", f->rope_dim, 2 * LANES, UINT16_MAX},
                   {"expected v_head_dim a multiple of 8 up to ROWS", f->v_dim, LANES, CFG_ROWS},
                   {"expected q_lora_rank a multiple of 8 up to 2016", f->q_rank, LANES, 2016},
                   {"expected kv_lora_rank a multiple of 8 up to 2016", f->kv_rank, LANES, 2016}};
    for (size_t i = 0; i < sizeof demands / sizeof *demands; i++)
        if (demands[i].got % demands[i].unit || demands[i].got > demands[i].most)
            return refuse(error, demands[i].what, demands[i].got);
    return true;
}

static bool heads_supported(const llm_config *f, char error[COMPILER_ERROR]) {
    uint32_t dim = f->head_dim, share = f->heads / f->kv_heads;
    if (dim % LANES || dim > CFG_ROWS || (dim > LANES && dim % (2 * LANES)))
        return refuse(error, "expected head_dim 8 or a multiple of 16 up to ROWS", dim);
    return share <= CFG_ROWS || refuse(error, "expected at most ROWS heads a key", share);
}

static bool supported(const llm *m, const compiler_options *o, char error[COMPILER_ERROR]) {
    const llm_config *f = &m->c;
    if (CFG_COLS != 16) return refuse(error, "expected a chip of 16 columns", CFG_COLS);
    if (f->hidden % BLOCK || f->hidden / LANES > UINT8_MAX)
        return refuse(error, "expected hidden_size a multiple of 32 up to 2016", f->hidden);
    if (o->positions > 127 * BLOCK) return refuse(error, "expected at most 4064 positions", o->positions);
    if (f->experts && (f->expert_width % BLOCK || f->experts > 128))
        return refuse(error, "expected up to 128 experts of a multiple of 32", f->expert_width);
    if (f->experts && f->dense_layers && f->dense_width % BLOCK)
        return refuse(error, "expected a dense width of a multiple of 32 beside experts", f->dense_width);
    return f->arch == LLM_DEEPSEEK_V3 ? latent_supported(f, error) : heads_supported(f, error);
}

compiled *compile(const llm *m, const compiler_options *options, char error[COMPILER_ERROR]) {
    if (!supported(m, options, error)) return NULL;
    compiled *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(error, COMPILER_ERROR, "no memory");
        return NULL;
    }
    c->m = m;
    c->o = *options;
    bool latent = m->c.arch == LLM_DEEPSEEK_V3;
    c->plain_dim = latent ? m->c.nope_dim : 0;
    c->turn_dim = latent ? m->c.rope_dim : m->c.head_dim;
    c->key_dim = c->plain_dim + c->turn_dim;
    c->value_dim = latent ? m->c.v_dim : m->c.head_dim;
    c->kv_heads = latent ? m->c.heads : m->c.kv_heads;
    c->key_blocks = ceil_div(c->key_dim, BLOCK);
    c->value_blocks = ceil_div(c->value_dim, BLOCK);
    c->blocks = ceil_div(options->positions, BLOCK);
    c->position_rows = 2 * c->turn_dim / LANES + 2 * MASK_ROWS;
    c->route_rows = result_rows(m->c.experts);
    bool widened = compiler_widen(c);
    if (!widened) snprintf(error, COMPILER_ERROR, "no memory");
    if (widened && compiler_place(c, error)) return c;
    compiled_free(c);
    return NULL;
}

void compiled_free(compiled *c) {
    if (!c) return;
    for (int tile = 0; tile < TILES; tile++) {
        tile_plan *t = &c->tiles[tile];
        for (uint32_t i = 0; t->layers && i < c->m->c.layers; i++) free(t->layers[i].kv);
        free(t->layers);
        free(t->sram);
    }
    for (int port = 0; port < COMPILER_PORTS; port++) free(c->image[port]);
    for (uint32_t i = 0; i < c->num_owned; i++) free(c->owned[i]);
    free(c->owned);
    free(c->wide);
    free(c->expand_k);
    free(c->expand_v);
    free(c);
}

compiler_image compiled_image(const compiled *c, int port) {
    return (compiler_image){c->image[port], c->image_rows[port]};
}

compiled_logits compiled_logits_of(const compiled *c, int tile) {
    const tile_plan *t = &c->tiles[tile];
    return (compiled_logits){.first = t->head.first,
                             .count = t->head.n,
                             .row = t->hbm_logits,
                             .rows = result_rows(t->head.n),
                             .port = t->port};
}

void compiled_describe(const compiled *c, FILE *out) {
    for (int tile = 0; tile < TILES; tile++) {
        const tile_plan *t = &c->tiles[tile];
        fprintf(out,
                "tile %d %d: heads %u to %u; SRAM rows: weights %u, constants %u, KV cache %u, buffers %u, of %d\n",
                tile % CFG_TILES_X, tile / CFG_TILES_X, t->head0, t->head0 + t->heads, t->kinds[0], t->kinds[1],
                t->kinds[2], t->used - t->resident, SRAM_ROWS);
    }
}
