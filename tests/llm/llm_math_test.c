// The operators of the functional reference, in closed form.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "llm/llm_parts.h"

Test(llm_math, softmax_leaves_out_the_sinks_share) {
    float x[3] = {0, logf(2), logf(3)}, y[3], sink = logf(6);
    memcpy(y, x, sizeof x);
    llm_softmax(x, 3, NULL);
    llm_softmax(y, 3, &sink);
    for (int i = 0; i < 3; i++) {
        cr_assert_float_eq(x[i], (float)(i + 1) / 6, 1e-7);
        cr_assert_float_eq(y[i], (float)(i + 1) / 12, 1e-7);
    }
    float high[2] = {10000, 10000}, large = 20000;
    llm_softmax(high, 2, NULL);
    cr_assert(high[0] == 0.5f && high[1] == 0.5f);
    llm_softmax(high, 2, &large);
    cr_assert(high[0] == 0 && high[1] == 0);
}

Test(llm_math, norm_and_surprise) {
    float x[4] = {1, -1, 7, -7}, gain[4] = {1, 2, 1, 1}, y[4];
    llm_rms_norm(x, gain, 4, 0, y);
    cr_assert(y[0] == 0.2f && y[1] == -0.4f && fabsf(y[2] - 1.4f) < 1e-6f);
    llm_rms_norm(x, gain, 4, 75, y);
    cr_assert_float_eq(y[0], 0.1f, 1e-8);
    float logits[4] = {logf(1), logf(2), logf(4), logf(1)};
    cr_assert_float_eq(llm_surprise(logits, 4, 2), log(2), 1e-6);
    cr_assert_float_eq(llm_surprise(logits, 4, 0), log(8), 1e-6);
}

Test(llm_math, ties_go_to_the_lowest_index_and_nan_never_wins) {
    float x[6] = {1, 3, 2, 3, NAN, 3};
    uint32_t chosen[6];
    cr_assert_eq(llm_argmax(x, 6), 1);
    llm_top_k(x, 6, 6, chosen);
    static const uint32_t want[6] = {1, 3, 5, 2, 0, 4};
    for (int i = 0; i < 6; i++) cr_assert_eq(chosen[i], want[i], "place %d: got %u", i, chosen[i]);
    float nans[2] = {NAN, -INFINITY};
    cr_assert_eq(llm_argmax(nans, 2), 1);
}

// factor: the frequencies under the ramp are divided by it, those above are as without YaRN.
Test(llm_math, yarn_keeps_high_and_divides_low_frequencies) {
    llm_rope plain = {.theta = 10000, .attention_factor = 1}, yarn = plain;
    yarn.yarn = yarn.truncate = true;
    yarn.factor = 40, yarn.beta_fast = 32, yarn.beta_slow = 1, yarn.original_positions = 4096;
    float p[32], y[32], smooth[32];
    llm_rope_frequencies(&plain, 64, p);
    llm_rope_frequencies(&yarn, 64, y);
    for (int i = 0; i < 32; i++) cr_assert_float_eq(p[i], powf(10000, -(float)i / 32), 1e-6 * p[i]);
    // turns 32 and 1 in 4096 positions: dimensions 10.47 and 22.51, made 10 and 23
    for (int i = 0; i <= 10; i++) cr_assert_eq(y[i], p[i]);
    for (int i = 23; i < 32; i++) cr_assert_float_eq(y[i], p[i] / 40, 1e-6 * y[i]);
    for (int i = 11; i < 23; i++) {
        float ramp = (float)(i - 10) / 13;
        cr_assert_float_eq(y[i], p[i] * (1 - ramp) + p[i] / 40 * ramp, 1e-6 * p[i]);
    }
    yarn.truncate = false;
    llm_rope_frequencies(&yarn, 64, smooth);
    cr_assert(smooth[10] == p[10] && smooth[11] > y[11] && smooth[22] > p[22] / 40 && smooth[22] < y[22]);
}

// Both layouts turn a pair by position times frequency.
Test(llm_math, rotation_of_both_layouts) {
    float frequencies[2] = {0.5f, 0.125f};
    llm m = {.frequencies = frequencies};
    m.c.rope.attention_factor = 2;
    float halves[4] = {1, 0, 0, 1}, pairs[4] = {1, 0, 0, 1};
    llm_rotate(&m, 4, 4, halves); // pairs (0, 2), (1, 3)
    m.c.rope_interleaved = true;
    llm_rotate(&m, 4, 4, pairs); // pairs (0, 1), (2, 3)
    float want_halves[4] = {2 * cosf(2), -2 * sinf(0.5f), 2 * sinf(2), 2 * cosf(0.5f)};
    float want_pairs[4] = {2 * cosf(2), 2 * sinf(2), -2 * sinf(0.5f), 2 * cosf(0.5f)};
    for (int i = 0; i < 4; i++) {
        cr_assert_float_eq(halves[i], want_halves[i], 1e-6, "%d: %g", i, halves[i]);
        cr_assert_float_eq(pairs[i], want_pairs[i], 1e-6, "%d: %g", i, pairs[i]);
    }
}

// Groups: the kept one is the one whose best two choices add up highest; weights come without the correction.
Test(llm_math, routing_masks_groups_and_corrects_the_choice_only) {
    static const float correction[8] = {-1.1f, -2, -2, -2, -2, -2, -2, -1.8f}; // all choices negative
    float router[8] = {2, -8, 1, 1, -1, -1, 1.5f, -0.5f}; // sigmoid .88 .0003 .73 .73 .27 .27 .82 .38
    float normed[1] = {1}, mixed[1], choice[8], sums[4], weights[2], gate[1], up[1], down[8];
    uint32_t kept[2], chosen[2];
    // Expert e leaves down[e] * silu(1) * 1; the router's row is its value.
    float one[1] = {1};
    llm_ffn experts[8];
    llm_layer l = {.router = {router, NULL, 1, 8}, .correction = correction, .experts = experts};
    for (int e = 0; e < 8; e++) {
        down[e] = (float)(1 << e);
        experts[e] = (llm_ffn){{one, NULL, 1, 1}, {one, NULL, 1, 1}, {&down[e], NULL, 1, 1}};
    }
    llm m = {.c = {.arch = LLM_DEEPSEEK_V3,
                   .hidden = 1,
                   .experts = 8,
                   .top_k = 2,
                   .groups = 4,
                   .top_groups = 1,
                   .norm_top_k = true,
                   .routed_scale = 2}};
    llm_run r = {.m = &m,
                 .normed = normed,
                 .mixed = mixed,
                 .gate = gate,
                 .up = up,
                 .router = (float[8]){0},
                 .choice = choice,
                 .sums = sums,
                 .kept = kept,
                 .chosen = chosen,
                 .weights = weights};
    llm_feed_forward(&r, &l);
    // groups, each less 4: (.88 + .9) + .0003; .73 + .73; .27 + .27; .82 + (.38 + .2)
    cr_assert(chosen[0] == 0 && chosen[1] == 1, "got %u %u", chosen[0], chosen[1]);
    double a = 1 / (1 + exp(-2)), b = 1 / (1 + exp(8)), silu = 1 / (1 + exp(-1));
    cr_assert_float_eq(mixed[0], 2 * silu * (a * 1 + b * 2) / (a + b), 1e-5);
    router[0] = -2; // now .12 + .9: the second group's best two win, the lower index first
    m.c.norm_top_k = false;
    llm_feed_forward(&r, &l);
    cr_assert(chosen[0] == 2 && chosen[1] == 3, "got %u %u", chosen[0], chosen[1]);
    double c = 1 / (1 + exp(-1));
    cr_assert_float_eq(mixed[0], 2 * silu * c * (4 + 8), 1e-4);
}
