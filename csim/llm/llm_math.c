#include <math.h>

#include "llm/llm_parts.h"

double llm_dot(const float *a, const float *b, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += (double)a[i] * b[i];
    return sum;
}

void llm_apply(const llm_linear *l, const float *x, float *y) {
    for (uint32_t i = 0; i < l->out; i++)
        y[i] = (float)(llm_dot(l->w + (size_t)i * l->in, x, l->in) + (l->bias ? l->bias[i] : 0));
}

void llm_rms_norm(const float *x, const float *gain, uint32_t n, double eps, float *y) {
    double scale = 1 / sqrt(llm_dot(x, x, n) / n + eps);
    for (uint32_t i = 0; i < n; i++) y[i] = (float)(x[i] * scale) * gain[i];
}

void llm_softmax(float *x, uint32_t n, const float *sink) {
    float most = sink ? *sink : -INFINITY;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) most = fmaxf(most, x[i]);
    for (uint32_t i = 0; i < n; i++) sum += exp((double)x[i] - most);
    if (sink) sum += exp((double)*sink - most);
    for (uint32_t i = 0; i < n; i++) x[i] = (float)(exp((double)x[i] - most) / sum);
}

double llm_sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

uint32_t llm_argmax(const float *x, uint32_t n) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i]))) best = i;
    return best;
}

static bool holds(const uint32_t *chosen, uint32_t count, uint32_t index) {
    for (uint32_t i = 0; i < count; i++)
        if (chosen[i] == index) return true;
    return false;
}

void llm_top_k(const float *x, uint32_t n, uint32_t k, uint32_t *chosen) {
    for (uint32_t taken = 0; taken < k; taken++) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++)
            if (!holds(chosen, taken, i) && (best == n || x[i] > x[best] || (isnan(x[best]) && !isnan(x[i])))) best = i;
        chosen[taken] = best;
    }
}

double llm_surprise(const float *logits, uint32_t n, uint32_t token) {
    double most = logits[llm_argmax(logits, n)], sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += exp(logits[i] - most);
    return log(sum) - (logits[token] - most);
}

// ---- rope
// The dimension whose wave turns so many times within the positions of training.
static double correction(const llm_rope *rope, uint32_t dim, double turns) {
    return dim * log(rope->original_positions / (turns * 2 * M_PI)) / (2 * log(rope->theta));
}

// YaRN (arXiv 2309.00071): high frequencies stay, low ones are divided by the factor, a ramp lies between.
static double yarn(const llm_rope *rope, uint32_t dim, uint32_t i, double plain) {
    double low = correction(rope, dim, rope->beta_fast), high = correction(rope, dim, rope->beta_slow);
    if (rope->truncate) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, dim - 1);
    double ramp = fmin(fmax((i - low) / (high > low ? high - low : 0.001), 0), 1);
    return plain / rope->factor * ramp + plain * (1 - ramp);
}

void llm_rope_frequencies(const llm_rope *rope, uint32_t dim, float *out) {
    for (uint32_t i = 0; i < dim / 2; i++) {
        double plain = pow(rope->theta, -2.0 * i / dim);
        out[i] = (float)(rope->yarn ? yarn(rope, dim, i, plain) : plain);
    }
}

void llm_rotate(const llm *m, uint32_t position, uint32_t dim, float *x) {
    bool pairs = m->c.rope_interleaved;
    for (uint32_t i = 0; i < dim / 2; i++) {
        double angle = (float)position * m->frequencies[i], factor = m->c.rope.attention_factor;
        double c = cos(angle) * factor, s = sin(angle) * factor;
        float *a = pairs ? &x[2 * i] : &x[i], *b = pairs ? a + 1 : &x[i + dim / 2];
        double u = *a, v = *b;
        *a = (float)(u * c - v * s);
        *b = (float)(v * c + u * s);
    }
}
