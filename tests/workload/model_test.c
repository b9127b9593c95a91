#include "workload/model.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char error[MODEL_ERROR];

static model_facts load(const char *name) {
    model_facts m;
    cr_assert(model_load("models", name, &m, error), "%s", error);
    return m;
}

static uint64_t tens_of_millions(uint64_t n) {
    return (n + 5000000) / 10000000;
}

static uint64_t hundreds_of_millions(uint64_t n) {
    return (n + 50000000) / 100000000;
}

Test(model, parameters_add_up_to_the_published_totals) {
    model_facts m = load("gpt-oss-120b");
    cr_assert_eq(tens_of_millions(model_parameters(&m)), 11683);
    cr_assert_eq(tens_of_millions(model_active_parameters(&m)), 513);
    m = load("gpt-oss-20b");
    cr_assert_eq(tens_of_millions(model_parameters(&m)), 2091);
    cr_assert_eq(tens_of_millions(model_active_parameters(&m)), 361);
    m = load("deepseek-r1");
    cr_assert_eq(tens_of_millions(model_parameters(&m)), 67103);
    cr_assert_eq(hundreds_of_millions(model_active_parameters(&m)), 366);
    m = load("kimi-k2.5");
    cr_assert_eq(hundreds_of_millions(model_parameters(&m)), 10264);
    cr_assert_eq(hundreds_of_millions(model_active_parameters(&m)), 317);
}

// Counted by hand for a layer of GPT-OSS 120B.
Test(model, gpt_oss_is_exact_to_the_last_parameter) {
    model_facts m = load("gpt-oss-120b");
    uint64_t attention = 2880 * 4096 + 4096 + 2 * (2880 * 512 + 512) + 4096 * 2880 + 2880 + 64;
    uint64_t expert = 2880 * 5760 + 5760 + 2880 * 2880 + 2880, router = 2880 * 128 + 128;
    uint64_t layer = attention + 2 * 2880 + router + 128 * expert, table = (uint64_t)201088 * 2880;
    cr_assert_eq(model_parameters(&m), 36 * layer + 2 * table + 2880);
    cr_assert_eq(model_parameters(&m) - model_active_parameters(&m), 36 * 124 * expert + table);
}

Test(model, keys_and_values_of_a_token) {
    model_facts gpt = load("gpt-oss-120b"), dsv3 = load("deepseek-r1"), kimi = load("kimi-k2.5");
    cr_assert_eq(model_kv_elements(&gpt), 36864);
    cr_assert_eq(model_kv_elements(&dsv3), 35136);
    cr_assert_eq(model_kv_elements(&kimi), 35136);
}

// The file of GPT-OSS 120B with one piece of text replaced is refused, in one line that says why.
static void refused(const char *old, const char *new, const char *because) {
    char text[4096] = "", changed[8192], dir[] = "/tmp/model_test_XXXXXX", path[64];
    FILE *f = fopen("models/gpt-oss-120b.json", "r");
    cr_assert(f && fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    char *at = strstr(text, old);
    cr_assert(at, "no \"%s\" in the file", old);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/gpt-oss-120b.json", dir);
    f = fopen(path, "w");
    fputs(changed, f);
    fclose(f);
    model_facts m;
    error[0] = '\0';
    cr_expect_not(model_load(dir, "gpt-oss-120b", &m, error), "read with \"%s\"", new);
    cr_expect(strstr(error, because), "got \"%s\", want \"%s\"", error, because);
    cr_expect_null(strchr(error, '\n'));
    remove(path);
    rmdir(dir);
}

Test(model, damaged_facts_are_refused_in_one_line) {
    refused("\"layers\": 36", "\"layers\": 0", "layers: expected 1 or more");
    refused("\"layers\": 36", "\"layers\": -1", "layers: expected a whole number");
    refused("\"layers\": 36", "\"layers\": 36.5", "layers: expected a whole number");
    refused("\"layers\": 36,", "", "layers: expected a whole number");
    refused("\"gqa\"", "\"mha\"", "attention.kind");
    refused("\"kv_heads\": 8", "\"kv_heads\": 7", "a multiple of kv_heads");
    refused("\"top_k\": 4", "\"top_k\": 129", "at most experts.routed");
    refused("\"sinks\": true", "\"sinks\": 1", "attention.sinks: expected true or false");
    refused("\"attention\": {", "\"attention\": [], \"x\": {", "attention: expected an object");
    refused("\"e2m1\"", "\"mxfp4\"", "experts.format");
    refused("\"e8m0\"", "\"none\"", "experts.scale");
    refused("\"gpt-oss-120b\"", "\"other\"", "name: expected the name of the file");
    refused("\"hidden\": 2880,", "\"hidden\": 2880", "expected JSON");
}

Test(model, unknown_names_are_refused_in_one_line) {
    model_facts m;
    const char *const names[] = {"gpt-5", "", "../models/gpt-oss-120b",
                                 "a-name-that-is-far-too-long-to-be-one-of-ours"};
    for (int i = 0; i < 4; i++) {
        cr_assert_not(model_load("models", names[i], &m, error));
        cr_assert(strstr(error, i ? "expected the name of a file" : "expected a file models/gpt-5.json"), "%s", error);
        cr_assert_null(strchr(error, '\n'));
    }
}
