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
    float none = -INFINITY, a[2] = {0.3f, -1.7f}, b[2] = {0.3f, -1.7f};
    llm_softmax(a, 2, NULL);
    llm_softmax(b, 2, &none);
    cr_assert_arr_eq(a, b, sizeof a);
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

// GPT-OSS does not round the range: the ramp runs from 8.092779 to 17.398025.
Test(llm_math, yarn_of_gpt_oss_is_not_truncated) {
    llm_rope plain = {.theta = 150000}, rope = plain;
    rope.yarn = true;
    rope.factor = 32, rope.beta_fast = 32, rope.beta_slow = 1, rope.original_positions = 4096;
    float p[32], y[32];
    llm_rope_frequencies(&plain, 64, p);
    llm_rope_frequencies(&rope, 64, y);
    for (int i = 0; i < 32; i++) {
        double ramp = fmin(fmax((i - 8.092779) / (17.398025 - 8.092779), 0), 1);
        cr_assert_float_eq(y[i], p[i] * (1 - ramp) + p[i] / 32 * ramp, 1e-6 * p[i], "%d: %g", i, y[i]);
    }
}

// Query by key depends on their distance only, near the start and beyond the positions of training.
Test(llm_math, rotated_products_depend_on_the_distance_only) {
    float frequencies[4] = {1, 0.25f, 0.03125f, 0.0078125f}; // exact angles, so that far positions compare
    llm m = {.frequencies = frequencies};
    m.c.rope.attention_factor = 1;
    for (int pairs = 0; pairs < 2; pairs++) {
        m.c.rope_interleaved = pairs;
        double first = 0;
        for (uint32_t at = 0; at < 200000; at = 3 * at + 1) {
            float q[8] = {1, -2, 0.5f, 3, 0.25f, -1, 2, 1}, k[8] = {-1, 1, 2, 0.5f, 3, 1, -0.5f, 2};
            llm_rotate(&m, at + 17, 8, q);
            llm_rotate(&m, at, 8, k);
            double product = llm_dot(q, k, 8);
            if (at == 0) first = product;
            cr_assert_float_eq(product, first, 1e-5, "position %u: %g, at 0 %g", at, product, first);
        }
    }
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

// gpt_oss: gate clamped above only, up on both sides, then up + 1; inputs of 20 in any signs, gate and up apart.
Test(llm_math, clamped_swiglu) {
    static const float cases[][2] = {{20, 20}, {20, -20}, {-20, 20}, {-20, -20}, {1, -3}, {-3, 1}};
    float one[1] = {1}, normed[1] = {1}, mixed[1], gate[1], up[1], weights[1], router[1];
    uint32_t chosen[1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        llm_ffn expert = {{&cases[i][0], NULL, 1, 1}, {&cases[i][1], NULL, 1, 1}, {one, NULL, 1, 1}};
        llm_layer l = {.router = {one, NULL, 1, 1}, .experts = &expert};
        llm m = {
            .c = {
                .arch = LLM_GPT_OSS, .hidden = 1, .experts = 1, .top_k = 1, .swiglu_alpha = 1.702, .swiglu_limit = 7}};
        llm_run r = {.m = &m,
                     .normed = normed,
                     .mixed = mixed,
                     .gate = gate,
                     .up = up,
                     .router = router,
                     .chosen = chosen,
                     .weights = weights};
        double g = fmin(cases[i][0], 7), u = fmin(fmax(cases[i][1], -7), 7);
        llm_feed_forward(&r, &l);
        cr_assert_float_eq(mixed[0], (u + 1) * g / (1 + exp(-1.702 * g)), 1e-5, "%g %g: %g", cases[i][0], cases[i][1],
                           mixed[0]);
    }
}
