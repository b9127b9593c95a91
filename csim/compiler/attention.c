// Attention of one token on the tile that keeps its heads' keys and values: scores of all positions so far, softmax in
// float32, weighted sum. Queries, keys, values and weights of the sum enter the products in BF16.
#include "compiler/emit.h"

enum { HALVES = 2, BF16_ROWS = 2 }; // a block of 32 in BF16: two rows

static uint32_t key_rows(const emitter *e) { // of a padded head
    return e->c->key_blocks * MASK_ROWS;
}

static uint32_t value_rows(const emitter *e) {
    return e->c->value_blocks * MASK_ROWS;
}

// `rows` rows of each of `heads` heads, `line` apart at either end.
static void copy(emitter *e, uint32_t heads, uint32_t rows, uint32_t from, uint32_t from_line, uint32_t to,
                 uint32_t line) {
    vec_args v = {.outer = 1, .lines = (uint16_t)heads, .segs = 1, .rows = (uint8_t)rows};
    v.of[VEC_A] = strided(from, from_line, 0);
    v.of[VEC_C] = strided(to, line, 0);
    if (heads && rows) emit_walk(e, OP_VCOPY, v);
}

// Turns `heads` heads by position: x cos + x' sin, x' the other half (or neighbour) of each pair.
static void turn(emitter *e, uint32_t heads, uint32_t from, uint32_t from_line, uint32_t to, uint32_t line) {
    const tile_rows *r = &e->t->rows;
    uint32_t rows = e->c->turn_dim / LANES, cosines = r->position, sines = cosines + rows;
    bool pairs = e->c->m->c.rope_interleaved, lanes = pairs || rows == 1;
    vec_args v = {.outer = 1, .lines = (uint16_t)heads, .segs = 1, .rows = (uint8_t)rows};
    v.of[VEC_A] = strided(from, from_line, 0);
    v.of[VEC_B] = strided(cosines, 0, 0);
    v.of[VEC_C] = strided(to, line, 0);
    emit_walk(e, OP_VMUL, v);
    if (lanes) {
        vec_args swap = v;
        swap.arg = pairs ? 1 : LANES / 2;
        swap.of[VEC_B] = (vec_operand){0};
        swap.of[VEC_C] = strided(r->turned, rows, 0);
        emit_walk(e, OP_VCOPY, swap);
        v.of[VEC_A] = strided(r->turned, rows, 0);
        v.of[VEC_B] = strided(sines, 0, 0);
        emit_walk(e, OP_VFMA, v);
        return;
    }
    v.rows = (uint8_t)(rows / 2);
    for (uint32_t half = 0; half < 2; half++) {
        v.of[VEC_A] = strided(from + (1 - half) * rows / 2, from_line, 0);
        v.of[VEC_B] = strided(sines + half * rows / 2, 0, 0);
        v.of[VEC_C] = strided(to + half * rows / 2, line, 0);
        emit_walk(e, OP_VFMA, v);
    }
}

// A padded head as column `column` of weights from `to` on: [column tile][block][COLS columns][2 rows].
static void put_column(emitter *e, uint32_t from, uint32_t blocks, uint32_t to, uint32_t column) {
    uint32_t tile = column / CFG_COLS * blocks * CFG_COLS * BF16_ROWS;
    vec_args v = {.outer = (uint16_t)blocks, .lines = HALVES, .segs = 1, .rows = 2};
    v.of[VEC_A] = strided(from, 2, MASK_ROWS);
    v.of[VEC_C] = grouped(to + tile + column % CFG_COLS * BF16_ROWS, 1, CFG_COLS * BF16_ROWS);
    emit_walk(e, OP_VBF16, v);
}

// Rows of BF16 activations times n columns of BF16 weights from row `w` on.
static void multiply(emitter *e, uint32_t m, uint32_t n, uint32_t k, uint32_t a, uint32_t w, uint32_t to) {
    placed weights = {.n = n, .k = k, .w = (uint16_t)w, .fmt = FMT_BF16};
    emit_multiply(e, &weights, FMT_BF16, m, a, to);
}

// Key and value of this position into the cache. Values are needed along positions: the last 32 stand as columns and
// are turned by a product with the identity, which BF16 values pass unchanged.
static void append(emitter *e, const cached *kv, uint32_t position) {
    const tile_rows *r = &e->t->rows;
    uint32_t dim = e->c->value_dim, block = position / BLOCK;
    put_column(e, r->k_rot + kv->local * key_rows(e), e->c->key_blocks, kv->keys, position);
    put_column(e, r->v_pad + kv->local * value_rows(e), e->c->value_blocks, kv->stage, position % BLOCK);
    multiply(e, dim, BLOCK, dim, r->identity, kv->stage, r->transposed);
    for (uint32_t first = 0; first < dim; first += CFG_COLS) {
        uint32_t block_rows = CFG_COLS * BF16_ROWS;
        vec_args v = {.outer = HALVES, .lines = (uint16_t)min_u32(CFG_COLS, dim - first), .segs = 1, .rows = C_ROWS};
        v.of[VEC_A] = strided(r->transposed + first * C_ROWS, C_ROWS, dim * C_ROWS);
        v.of[VEC_C] =
            grouped(kv->values + first / CFG_COLS * e->c->blocks * block_rows + block * block_rows, BF16_ROWS, 1);
        emit_walk(e, OP_VBF16, v);
    }
}

// Walk over scores [column tile][head][C_ROWS]: a group a head.
static vec_args heads_walk(uint32_t heads, uint32_t tiles) {
    return (vec_args){.outer = 1, .lines = (uint16_t)heads, .segs = (uint8_t)tiles, .rows = C_ROWS};
}

static void mask(emitter *e, uint32_t scores, uint32_t heads, uint32_t from) {
    vec_args v = {.outer = HALVES, .lines = (uint16_t)heads, .segs = 1, .rows = C_ROWS};
    v.of[VEC_A] = v.of[VEC_C] = strided(scores, C_ROWS, heads * C_ROWS);
    v.of[VEC_B] = strided(from, 0, C_ROWS);
    emit_walk(e, OP_VADD, v);
}

// exp2(scores log2(e) / sqrt(dim) - the largest) in place, and 1 / their sum, a row a head.
static void softmax(emitter *e, const cached *kv, uint32_t blocks, bool lower) {
    const tile_rows *r = &e->t->rows;
    uint32_t heads = kv->heads, tiles = HALVES * blocks, rows = tiles * heads * C_ROWS;
    uint32_t masks = r->position + 2 * e->c->turn_dim / LANES,
             last = r->scores + (blocks - 1) * HALVES * heads * C_ROWS;
    emit_rows(e, OP_VMUL, r->scores, at(r->scores), constant(r->score_scale), rows);
    mask(e, last, heads, masks);
    if (lower) mask(e, r->scores, heads, masks + MASK_ROWS);
    vec_args v = heads_walk(heads, tiles);
    v.of[VEC_A] = strided(r->scores, C_ROWS, heads * C_ROWS);
    v.of[VEC_C] = grouped(r->most, 1, 0);
    emit_walk(e, OP_VLARGEST, v);
    bool sinks = e->c->m->layers[0].sinks != NULL;
    if (sinks) emit_rows(e, OP_VMAX, r->most, at(r->most), at(kv->sinks), heads);
    vec_args less = v;
    less.of[VEC_B] = grouped(r->most, 1, 0);
    less.of[VEC_C] = less.of[VEC_A];
    emit_walk(e, OP_VSUB, less);
    emit_rows(e, OP_VEXP2, r->scores, at(r->scores), at(0), rows);
    v.of[VEC_C] = grouped(r->sum, 1, 0);
    emit_walk(e, OP_VSUM, v);
    if (sinks) {
        emit_rows(e, OP_VSUB, r->most, at(kv->sinks), at(r->most), heads);
        emit_rows(e, OP_VEXP2, r->most, at(r->most), at(0), heads);
        emit_rows(e, OP_VADD, r->sum, at(r->sum), at(r->most), heads);
    }
    emit_rows(e, OP_VRECIP, r->sum, at(r->sum), at(0), heads);
}

// The heads that share one key.
static void attend(emitter *e, const cached *kv, uint32_t first_block, uint32_t position, bool lower) {
    const tile_rows *r = &e->t->rows;
    const compiled *c = e->c;
    uint32_t dim = c->value_dim, heads = kv->heads, rows = dim / LANES;
    uint32_t blocks = position / BLOCK + 1 - first_block, block_rows = CFG_COLS * BF16_ROWS;
    for (uint32_t b = 0; b < c->key_blocks; b++) {
        vec_args v = {.outer = HALVES, .lines = (uint16_t)heads, .segs = 1, .rows = 2};
        v.of[VEC_A] = strided(r->q_rot + (kv->first - e->t->head0) * key_rows(e) + b * MASK_ROWS, key_rows(e), 2);
        v.of[VEC_C] = grouped(r->q_a + b * heads * BF16_ROWS, BF16_ROWS, 1);
        emit_walk(e, OP_VBF16, v);
    }
    multiply(e, heads, blocks * BLOCK, c->key_dim, r->q_a, kv->keys + first_block * BLOCK * BF16_ROWS * c->key_blocks,
             r->scores);
    softmax(e, kv, blocks, lower);
    for (uint32_t half = 0; half < HALVES; half++) {
        vec_args v = {.outer = (uint16_t)blocks, .lines = (uint16_t)heads, .segs = 1, .rows = C_ROWS};
        v.of[VEC_A] = strided(r->scores + half * heads * C_ROWS, C_ROWS, HALVES * heads * C_ROWS);
        v.of[VEC_C] = grouped(r->p + half, BF16_ROWS, BF16_ROWS * heads);
        emit_walk(e, OP_VBF16, v);
    }
    for (uint32_t t = 0; t * CFG_COLS < dim; t++)
        multiply(e, heads, min_u32(CFG_COLS, dim - t * CFG_COLS), blocks * BLOCK, r->p,
                 kv->values + (t * c->blocks + first_block) * block_rows, r->mixed + t * heads * C_ROWS);
    for (uint32_t t = 0; t * CFG_COLS < dim; t++) {
        vec_args v = {
            .outer = 1, .lines = (uint16_t)heads, .segs = 1, .rows = (uint8_t)min_u32(C_ROWS, rows - t * C_ROWS)};
        v.of[VEC_A] = strided(r->mixed + t * heads * C_ROWS, C_ROWS, 0);
        v.of[VEC_B] = grouped(r->sum, 1, 0);
        v.of[VEC_C] = strided(r->heads + kv->first * rows + t * C_ROWS, rows, 0);
        emit_walk(e, OP_VMUL, v);
    }
}

// Queries, keys and values of this tile's heads from rows.a.
static void project(emitter *e, const tile_layer *l) {
    const tile_plan *t = e->t;
    const tile_rows *r = &t->rows;
    const compiled *c = e->c;
    fmt_id fmt = c->o.activations;
    uint32_t rows = c->key_dim / LANES;
    emit_product(e, &l->q, fmt, r->q);
    emit_product(e, &l->k, fmt, r->k);
    emit_product(e, &l->v, fmt, r->v);
    emit_bias(e, &l->q, r->q);
    emit_bias(e, &l->k, r->k);
    emit_bias(e, &l->v, r->v);
    turn(e, t->heads, r->q, rows, r->q_rot, key_rows(e));
    turn(e, t->kv_count, r->k, rows, r->k_rot, key_rows(e));
}

// The same by way of latents; what turns of a key is one for all heads.
static void project_latent(emitter *e, const tile_layer *l) {
    const tile_plan *t = e->t;
    const tile_rows *r = &t->rows;
    const compiled *c = e->c;
    const llm_config *f = &c->m->c;
    fmt_id fmt = c->o.activations;
    uint32_t plain = c->plain_dim / LANES, turning = c->turn_dim / LANES, rows = plain + turning;
    emit_product(e, f->q_rank ? &l->q_a : &l->q, fmt, f->q_rank ? r->q_latent : r->q);
    emit_product(e, &l->kv_a, fmt, r->kv_latent);
    if (f->q_rank) {
        emit_rms_norm(e, r->q_latent, f->q_rank / LANES, l->q_a_norm, r->q_eps, r->q_normed);
        emit_convert(e, r->q_normed, ceil_div(f->q_rank, BLOCK), fmt);
        emit_product(e, &l->q, fmt, r->q);
    }
    emit_rms_norm(e, r->kv_latent, f->kv_rank / LANES, l->kv_a_norm, r->kv_eps, r->kv_normed);
    emit_convert(e, r->kv_normed, ceil_div(f->kv_rank, BLOCK), fmt);
    emit_product(e, &l->k, fmt, r->k);
    emit_product(e, &l->v, fmt, r->v);
    copy(e, t->heads, plain, r->q, rows, r->q_rot, key_rows(e));
    turn(e, t->heads, r->q + plain, rows, r->q_rot + plain, key_rows(e));
    turn(e, 1, r->kv_latent + f->kv_rank / LANES, 0, r->k_turned, 0);
    copy(e, t->kv_count, plain, r->k, plain, r->k_rot, key_rows(e));
    copy(e, t->kv_count, turning, r->k_turned, 0, r->k_rot + plain, key_rows(e));
}

void emit_attention(emitter *e, const tile_layer *l, uint32_t layer, uint32_t position) {
    const tile_plan *t = e->t;
    const tile_rows *r = &t->rows;
    const llm_config *f = &e->c->m->c;
    uint32_t rows = e->c->value_dim / LANES;
    if (!t->heads) return;
    uint32_t first = f->slides[layer] && position + 1 > f->window ? position + 1 - f->window : 0;
    if (f->arch == LLM_DEEPSEEK_V3)
        project_latent(e, l);
    else
        project(e, l);
    copy(e, t->kv_count, rows, r->v, rows, r->v_pad, value_rows(e));
    for (uint32_t g = 0; g < t->kv_count; g++) {
        append(e, &l->kv[g], position);
        attend(e, &l->kv[g], first / BLOCK, position, first > 0);
    }
}
