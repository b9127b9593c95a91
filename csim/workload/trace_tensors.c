// Synthetic operands: values with the spread of real ones, quantised block by block.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/num_block.h"
#include "workload/random.h"
#include "workload/trace.h"

enum { BLOCK = NUM_BLOCK, OUTLIERS = 128 };

// ---- values
// What multiplies column k: an outlier channel now and then, otherwise a factor of 1/2 to 2.
static void channel_gains(trace_values values, random_t r, uint32_t k, float *gain) {
    for (uint32_t i = 0; i < k; i++) {
        float u = (float)random_uniform(&r);
        bool outlier = random_next(&r) % OUTLIERS == 0;
        gain[i] = values != VALUES_ACTIVATIONS ? 1.0f : exp2f(outlier ? 4 + 2 * u : 2 * u - 1);
    }
}

// One row; weights have a standard deviation near 1/sqrt(k), as trained ones do.
static void fill_row(trace_values values, random_t *r, uint32_t k, const float *gain, float *x) {
    float spread = exp2f((float)random_uniform(r) - 0.5f);
    if (values == VALUES_WEIGHTS) spread /= sqrtf((float)k);
    for (uint32_t i = 0; i < k; i++) {
        float normal = random_normal(r);
        // 8.7 is the mean of 2^(3 normal)
        x[i] = values == VALUES_PROBABILITIES ? exp2f(3 * normal) / (8.7f * (float)k) : spread * gain[i] * normal;
    }
}

// codes[rows][k], scales[rows][KB] as 16-bit codes of the scale's format.
static bool make_tensor(trace_values values, fmt_id fmt, random_t r, uint32_t rows, uint32_t k, uint16_t *codes,
                        uint16_t *scales) {
    uint32_t kb = (k + BLOCK - 1) / BLOCK;
    float *gain = malloc(k * sizeof *gain), *x = malloc(k * sizeof *x);
    if (gain && x) {
        channel_gains(values, random_of(r, 0), k, gain);
        random_t values_r = random_of(r, 1);
        for (uint32_t i = 0; i < rows; i++) {
            fill_row(values, &values_r, k, gain, x);
            num_block_quantize_row(fmt, x, k, codes + (size_t)i * k, scales + (size_t)i * kb);
        }
    }
    bool ok = gain && x;
    free(gain);
    free(x);
    return ok;
}

bool trace_operands(const trace *t, uint32_t op, uint32_t instance, trace_tensors *out) {
    const trace_op *o = &t->ops[op];
    const gemm_spec *s = &o->spec;
    size_t kb = (s->k + BLOCK - 1) / BLOCK, na = s->m * kb;
    memset(out, 0, sizeof *out);
    out->a = malloc((size_t)s->m * s->k * sizeof *out->a);
    out->w = malloc((size_t)s->n * s->k * sizeof *out->w);
    out->a_scales = malloc(na);
    out->w_scales = malloc(s->n * kb * sizeof *out->w_scales);
    uint16_t *a_scales = malloc(na * sizeof *a_scales);
    random_t r = random_of(random_of((random_t){t->seed}, op), instance);
    bool ok = out->a && out->w && out->a_scales && out->w_scales && a_scales &&
              make_tensor(o->a_values, s->fmt_a, random_of(r, 'a'), s->m, s->k, out->a, a_scales) &&
              make_tensor(o->w_values, s->fmt_w, random_of(r, 'w'), s->n, s->k, out->w, out->w_scales);
    for (size_t i = 0; ok && i < na; i++) out->a_scales[i] = (uint8_t)a_scales[i];
    free(a_scales);
    if (!ok) trace_tensors_free(out);
    return ok;
}

void trace_tensors_free(trace_tensors *t) {
    free(t->a);
    free(t->w);
    free(t->a_scales);
    free(t->w_scales);
    memset(t, 0, sizeof *t);
}

gemm_operands trace_gemm(const trace_tensors *t) {
    return (gemm_operands){.a = t->a, .a_scales = t->a_scales, .w = t->w, .w_scales = t->w_scales};
}
