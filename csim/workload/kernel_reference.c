// The expected bits of a kernel. Blocks whose dot product is exact in double precision (E2M1, INT4, INT8, E4M3 without
// NaN, with power-of-two scales) take a fast path that rounds once all the same; all others go through num.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/num.h"
#include "numerics/num_fp32.h"
#include "workload/kernel_plan.h"

typedef struct {
    const kernel_plan *p;
    const gemm_operands *o;
    bool exact;      // formats whose block sums are exact in double precision
    double *a, *w;   // values of all elements where exact, rows padded to kb blocks; NaN for NaN
    double *as, *ws; // of all scales
} reference;

static float bits_to_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t float_to_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static double value_of(num_elem e) {
    if (e.nan || e.inf) return NAN;
    return ldexp(e.sign ? -(double)e.mag : e.mag, e.exp);
}

// float32 of acc + p with one rounding: the double sum is rounded to odd first. Both finite, p exact, the sum not zero.
static float add_once(float acc, double p) {
    double a = (double)acc, sum = a + p, b = sum - a, lost = (a - (sum - b)) + (p - b);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : UINT64_MAX;
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
}

static uint32_t slow_block(const reference *r, uint32_t m, uint32_t n, uint32_t b, uint32_t acc) {
    const kernel_plan *p = r->p;
    uint16_t a[BLOCK] = {0}, w[BLOCK] = {0};
    uint32_t count = min_u32(p->spec.k - b * BLOCK, BLOCK);
    memcpy(a, r->o->a + (size_t)m * p->spec.k + b * BLOCK, count * sizeof *a);
    memcpy(w, r->o->w + (size_t)n * p->spec.k + b * BLOCK, count * sizeof *w);
    uint16_t as = p->spec.scale_a == SCALE_NONE ? 0 : r->o->a_scales[(size_t)m * p->kb + b];
    uint16_t ws = p->spec.scale_w == SCALE_NONE ? 0 : r->o->w_scales[(size_t)n * p->kb + b];
    return num_accumulate(acc, num_block_dot(p->spec.fmt_a, a, p->spec.fmt_w, w), num_decode_scale(p->spec.scale_a, as),
                          num_decode_scale(p->spec.scale_w, ws));
}

static uint32_t one_block(const reference *r, uint32_t m, uint32_t n, uint32_t b, uint32_t acc) {
    if (r->exact) {
        const double *a = r->a + ((size_t)m * r->p->kb + b) * BLOCK, *w = r->w + ((size_t)n * r->p->kb + b) * BLOCK;
        double sum[4] = {0};
        for (int i = 0; i < BLOCK; i += 4)
            for (int j = 0; j < 4; j++) sum[j] += a[i + j] * w[i + j];
        double dot = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        dot *= r->as[(size_t)m * r->p->kb + b] * r->ws[(size_t)n * r->p->kb + b];
        float base = bits_to_float(acc);
        if (isfinite(dot) && isfinite(base) && (double)base + dot != 0) return float_to_bits(add_once(base, dot));
    }
    return slow_block(r, m, n, b, acc);
}

static double *element_values(fmt_id fmt, const uint16_t *codes, uint32_t rows, uint32_t k, uint32_t kb) {
    double table[256];
    for (int c = 0; c < 1 << num_fmt_bits(fmt); c++) table[c] = value_of(num_decode(fmt, (uint16_t)c));
    double *v = calloc((size_t)rows * kb * BLOCK, sizeof *v);
    for (uint32_t i = 0; v && i < rows; i++)
        for (uint32_t j = 0; j < k; j++) v[(size_t)i * kb * BLOCK + j] = table[codes[(size_t)i * k + j]];
    return v;
}

static bool is_exact(fmt_id fmt) {
    return CFG_ALIGN_BITS >= 28 && fmt != FMT_E5M2 && fmt != FMT_BF16;
}

static bool prepare(reference *r) {
    const gemm_spec *s = &r->p->spec;
    size_t na = (size_t)s->m * r->p->kb, nw = (size_t)s->n * r->p->kb;
    r->exact = is_exact(s->fmt_a) && is_exact(s->fmt_w);
    if (!r->exact) return true;
    r->a = element_values(s->fmt_a, r->o->a, s->m, s->k, r->p->kb);
    r->w = element_values(s->fmt_w, r->o->w, s->n, s->k, r->p->kb);
    r->as = malloc(na * sizeof *r->as);
    r->ws = malloc(nw * sizeof *r->ws);
    if (!r->a || !r->w || !r->as || !r->ws) return false;
    for (size_t i = 0; i < na; i++)
        r->as[i] = value_of(num_decode_scale(s->scale_a, s->scale_a == SCALE_NONE ? 0 : r->o->a_scales[i]));
    for (size_t i = 0; i < nw; i++)
        r->ws[i] = value_of(num_decode_scale(s->scale_w, s->scale_w == SCALE_NONE ? 0 : r->o->w_scales[i]));
    return true;
}

static uint32_t blocks_sum(const reference *r, uint32_t m, uint32_t n, span_t blocks, uint32_t acc) {
    for (uint32_t b = blocks.first; b < blocks.end; b++) acc = one_block(r, m, n, b, acc);
    return acc;
}

// The sum of the mesh rows' shares as the routers add it up: each adds its own share to what comes from outside, the
// root its own, then north, then south.
static uint32_t reduced(const reference *r, uint32_t m, uint32_t n, int root) {
    uint32_t share[CFG_TILES_Y];
    for (int y = 0; y < CFG_TILES_Y; y++) share[y] = blocks_sum(r, m, n, plan_blocks(r->p, y * CFG_TILES_X, 0), 0);
    uint32_t sum = share[root], north = share[CFG_TILES_Y - 1], south = share[0];
    for (int y = CFG_TILES_Y - 2; y > root; y--) north = num_fp32_add(share[y], north);
    for (int y = 1; y < root; y++) south = num_fp32_add(share[y], south);
    if (root < CFG_TILES_Y - 1) sum = num_fp32_add(sum, north);
    if (root > 0) sum = num_fp32_add(sum, south);
    return sum;
}

// The mesh row whose tile receives the sum of a column tile.
static int root_of(const kernel_plan *p, uint32_t column_tile) {
    for (int x = 0; x < CFG_TILES_X; x++) {
        span_t all = plan_columns(p, x);
        if (column_tile >= all.first && column_tile < all.end)
            return (int)((column_tile - all.first) / p->chunk % CFG_TILES_Y);
    }
    return 0;
}

static void compute(const reference *r, float *y) {
    const gemm_spec *s = &r->p->spec;
    for (uint32_t n = 0; n < s->n; n++) {
        int root = r->p->split_k ? root_of(r->p, n / CFG_COLS) : 0;
        for (uint32_t m = 0; m < s->m; m++) {
            size_t at = (size_t)m * s->n + n;
            uint32_t acc = r->o->init ? float_to_bits(r->o->init[at]) : 0;
            y[at] =
                bits_to_float(r->p->split_k ? reduced(r, m, n, root) : blocks_sum(r, m, n, (span_t){0, r->p->kb}, acc));
        }
    }
}

bool kernel_reference(const kernel *k, const gemm_operands *operands, float *y) {
    kernel_plan plan;
    char error[KERNEL_ERROR];
    if (!plan_make(&k->spec, operands->init != NULL, &plan, error)) return false;
    reference r = {.p = &plan, .o = operands};
    bool ok = prepare(&r);
    if (ok) compute(&r, y);
    free(r.a);
    free(r.w);
    free(r.as);
    free(r.ws);
    return ok;
}
