#include "workload/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/num.h"
#include "workload/kernel_build.h"

// ---- contents of the HBM
row_t *build_rows(kernel_builder *b, int port, uint32_t count, uint32_t *row) {
    kernel_rows *r = &b->k->hbm[port];
    if (count > HBM_MAX_ROWS - r->count) {
        b->failed = true;
        return NULL;
    }
    if (r->count + count > r->capacity) {
        uint32_t capacity = r->capacity ? r->capacity : 4096;
        while (capacity < r->count + count) capacity *= 2;
        row_t *rows = realloc(r->rows, capacity * sizeof *rows);
        if (!rows) {
            b->failed = true;
            return NULL;
        }
        r->rows = rows;
        r->capacity = capacity;
    }
    *row = r->count;
    r->count += count;
    return memset(r->rows + *row, 0, count * sizeof(row_t));
}

weight_place *build_weights_at(const kernel_builder *b, int tile, uint32_t group, uint32_t phase, uint32_t chunk) {
    return &b->weights[(((size_t)tile * b->groups + group) * b->p->phases + phase) * b->chunks + chunk];
}

static void place_chunk(kernel_builder *b, int tile, span_t tiles, span_t blocks, weight_place *at) {
    uint32_t count = tiles.end - tiles.first, n_blocks = blocks.end - blocks.first;
    uint32_t ws_rows = plan_ws_rows(b->p, count, n_blocks);
    row_t *rows = build_rows(b, plan_port(tile), count * n_blocks * b->p->w_rows_block, &at->w);
    if (rows) pack_w(b->p, b->o->w, tiles, blocks, rows);
    if (!ws_rows) return;
    rows = build_rows(b, plan_port(tile), ws_rows, &at->ws);
    if (rows) pack_w_scales(b->p, b->o->w_scales, tiles, blocks, rows);
}

static void place_weights(kernel_builder *b) {
    for (int tile = 0; tile < KERNEL_TILES; tile++)
        for (uint32_t group = 0; group < b->groups; group++)
            for (uint32_t phase = 0; phase < b->p->phases; phase++)
                for (uint32_t chunk = 0; chunk < plan_chunks(b->p, group) && !b->failed; chunk++) {
                    span_t tiles = plan_chunk(b->p, tile, group, chunk);
                    if (tiles.first != tiles.end)
                        place_chunk(b, tile, tiles, plan_blocks(b->p, tile, phase),
                                    build_weights_at(b, tile, group, phase, chunk));
                }
}

// The activations of a group of rows, chunk of ROWS by chunk, then their scales the same way.
static void place_a(kernel_builder *b, uint32_t m0, uint32_t m, int source_tile, uint32_t phase, uint32_t *at) {
    const kernel_plan *p = b->p;
    span_t blocks = plan_blocks(p, source_tile, phase);
    uint32_t n_blocks = blocks.end - blocks.first, rows = n_blocks * m * p->a_rows_k;
    row_t *out = build_rows(b, plan_port(source_tile), rows + plan_as_rows(p, m, n_blocks), at);
    if (!out) return;
    row_t *scales = out + rows;
    for (uint32_t i = 0; i < m; i += CFG_ROWS) {
        uint32_t part = min_u32(CFG_ROWS, m - i);
        pack_a(p, b->o->a, m0 + i, part, blocks, out);
        out += n_blocks * part * p->a_rows_k;
        if (p->spec.scale_a == SCALE_NONE) continue;
        pack_a_scales(p, b->o->a_scales, m0 + i, part, blocks, scales);
        scales += n_blocks * ceil_div(part, BLOCK);
    }
}

static void place_activations(kernel_builder *b, uint32_t m0, uint32_t m, uint32_t m_index) {
    for (uint32_t phase = 0; phase < b->p->phases; phase++)
        for (int y = 0; y < (b->p->split_k ? CFG_TILES_Y : 1) && !b->failed; y++)
            place_a(b, m0, m, y * CFG_TILES_X, phase,
                    &b->a_rows[(m_index * b->p->phases + phase) * KERNEL_SOURCES + (uint32_t)y]);
}

// ---- programs
static void build_group(kernel_builder *b, kernel_pass pass, uint32_t per_pass) {
    uint32_t loaded = UINT32_MAX; // the phase whose activations are in SRAM
    for (pass.group = 0; pass.group < b->groups; pass.group++)
        for (pass.phase = 0; pass.phase < b->p->phases; pass.phase++) {
            uint32_t chunks = plan_chunks(b->p, pass.group);
            for (pass.first = 0; pass.first < chunks && !b->failed; pass.first = pass.end) {
                pass.end = min_u32(pass.first + per_pass, chunks);
                pass.load_a = loaded != pass.phase;
                loaded = pass.phase;
                build_pass(b, &pass);
            }
        }
}

static void build_programs(kernel_builder *b) {
    uint32_t per_pass = (CFG_IMEM_ROWS - BUILD_FIXED_INSTRS) / build_chunk_instrs(b->p);
    for (uint32_t m0 = 0, index = 0; m0 < b->p->spec.m && !b->failed; m0 += b->p->m_group, index++) {
        uint32_t m = min_u32(b->p->m_group, b->p->spec.m - m0);
        place_activations(b, m0, m, index);
        build_group(b, (kernel_pass){.m0 = m0, .m = m, .m_index = index}, per_pass);
    }
}

// ---- bounds
static uint64_t load_rows(const instr_t *i) {
    return (uint64_t)(CFG_COLS * num_fmt_bits((fmt_id)i->fmt_w) / 8);
}

typedef struct {
    uint64_t compute, weights, both;
} tile_work;

static void add_instr(const instr_t *i, tile_work *tile, uint64_t in[HBM_PORTS], uint64_t out[HBM_PORTS]) {
    int port = i->rect.y0 + (i->to == TO_EAST ? CFG_TILES_Y : 0);
    if (i->op == OP_LOAD) in[port] += i->rows;
    if (i->op == OP_STORE) out[port] += i->rows;
    if (i->op != OP_MATMUL) return;
    uint64_t blocks = (uint64_t)ceil_div(i->n, CFG_COLS) * ceil_div(i->k, BLOCK), load = load_rows(i);
    uint64_t rows = (uint64_t)i->m * (i->fmt_a == FMT_BF16 ? 2 : 1);
    tile->compute += blocks * rows;
    tile->weights += blocks * load;
    tile->both += blocks * (rows > load ? rows : load);
}

static void raise(uint64_t *most, uint64_t value) {
    if (value > *most) *most = value;
}

static void count_bounds(kernel *k) {
    uint64_t in[HBM_PORTS] = {0}, out[HBM_PORTS] = {0};
    for (int t = 0; t < KERNEL_TILES; t++) {
        tile_work work = {0};
        for (uint32_t p = 0; p < k->num_programs; p++)
            for (uint32_t i = 0; i < k->programs[p].tiles[t].count; i++)
                add_instr(&k->programs[p].tiles[t].instrs[i], &work, in, out);
        raise(&k->bounds.compute, work.compute);
        raise(&k->bounds.weights, work.weights);
        raise(&k->bounds.cycles, work.both);
    }
    for (int p = 0; p < HBM_PORTS; p++) {
        raise(&k->bounds.hbm, in[p]);
        raise(&k->bounds.hbm, out[p]);
    }
    raise(&k->bounds.cycles, k->bounds.hbm);
}

// ---- the whole
static bool fits_imem(const kernel *k) {
    for (uint32_t p = 0; p < k->num_programs; p++)
        for (int t = 0; t < KERNEL_TILES; t++)
            if (k->programs[p].tiles[t].count > CFG_IMEM_ROWS) return false;
    return true;
}

static bool build(kernel_builder *b) {
    size_t places = (size_t)KERNEL_TILES * b->groups * b->p->phases * b->chunks;
    size_t groups_m = ceil_div(b->p->spec.m, b->p->m_group);
    b->weights = calloc(places, sizeof *b->weights);
    b->a_rows = calloc(groups_m * b->p->phases * KERNEL_SOURCES, sizeof *b->a_rows);
    b->failed = !b->weights || !b->a_rows;
    if (!b->failed) place_weights(b);
    if (!b->failed) build_programs(b);
    free(b->weights);
    free(b->a_rows);
    return !b->failed;
}

bool kernel_gemm(const char *name, const gemm_spec *spec, const gemm_operands *operands, kernel *out,
                 char error[KERNEL_ERROR]) {
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", name);
    out->spec = *spec;
    kernel_plan plan;
    char reason[KERNEL_ERROR];
    if (!plan_make(spec, operands->init != NULL, &plan, reason)) {
        snprintf(error, KERNEL_ERROR, "%.64s: %.180s", name, reason);
        return false;
    }
    out->split_k = plan.split_k;
    out->useful_macs = (uint64_t)spec->m * spec->n * spec->k;
    kernel_builder b = {.k = out, .p = &plan, .o = operands, .groups = plan_groups(&plan)};
    b.chunks = plan_chunks(&plan, 0);
    bool built = build(&b);
    if (!built)
        snprintf(error, KERNEL_ERROR, "%.64s: no memory for the kernel, or an HBM port of %d rows is full", name,
                 HBM_MAX_ROWS);
    else if (!fits_imem(out))
        snprintf(error, KERNEL_ERROR, "%.64s: a chunk exceeds the instruction memory of %d", name, CFG_IMEM_ROWS);
    if (!built || !fits_imem(out)) return false;
    count_bounds(out);
    return true;
}

void kernel_free(kernel *k) {
    for (uint32_t p = 0; p < k->num_programs; p++)
        for (int t = 0; t < KERNEL_TILES; t++) free(k->programs[p].tiles[t].instrs);
    for (int p = 0; p < HBM_PORTS; p++) free(k->hbm[p].rows);
    free(k->programs);
    free(k->regions);
    memset(k, 0, sizeof *k);
}

bool kernel_place(const kernel *k, hbm *mem) {
    for (int p = 0; p < HBM_PORTS; p++) {
        if (!k->hbm[p].count) continue;
        row_t *rows = hbm_rows(mem, p, 0, k->hbm[p].count);
        if (!rows) return false;
        memcpy(rows, k->hbm[p].rows, k->hbm[p].count * sizeof *rows);
    }
    return true;
}

bool kernel_result(const kernel *k, hbm *mem, float *y) {
    for (uint32_t i = 0; i < k->num_regions; i++) {
        const kernel_region *r = &k->regions[i];
        const row_t *rows = hbm_rows(mem, r->port, r->row, r->nt * r->m * C_ROWS);
        if (!rows) return false;
        span_t tiles = {r->nt0, r->nt0 + r->nt};
        for (uint32_t m = 0; m < r->m; m += CFG_ROWS) {
            uint32_t part = min_u32(CFG_ROWS, r->m - m);
            unpack_c(rows, k->spec.n, r->m0 + m, part, tiles, y);
            rows += r->nt * part * C_ROWS;
        }
    }
    return true;
}
