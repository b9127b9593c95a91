// Checkpoints made by a test: a directory of its own, tensors put one by one, written as safetensors.
#ifndef TESTS_LLM_CHECKPOINT_H
#define TESTS_LLM_CHECKPOINT_H
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/seed.h"

enum { CK_HEADER = 1 << 16, CK_DATA = 1 << 21 };

typedef struct {
    char dir[64], header[CK_HEADER];
    uint8_t *data;
    size_t head, size;
    rng_t rng;
} checkpoint;

static inline void ck_begin(checkpoint *k) {
    memset(k, 0, sizeof *k);
    strcpy(k->dir, "/tmp/llm_test_XXXXXX");
    cr_assert(mkdtemp(k->dir));
    cr_assert_not_null(k->data = calloc(1, CK_DATA));
    k->rng = rng_new(4);
}

// shape as in JSON: "[2, 3]".
static inline void ck_put_bytes(checkpoint *k, const char *name, const char *dtype, const char *shape, const void *data,
                                size_t size) {
    cr_assert(k->size + size <= CK_DATA && k->head < CK_HEADER - 512);
    k->head += (size_t)snprintf(k->header + k->head, CK_HEADER - k->head,
                                "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                                k->head ? "," : "{", name, dtype, shape, k->size, k->size + size);
    memcpy(k->data + k->size, data, size);
    k->size += size;
}

// Normal-like values, spread about a mean; d1, d2: 0 where there is no such axis.
static inline void ck_put(checkpoint *k, const char *name, unsigned d0, unsigned d1, unsigned d2, float mean,
                          float spread) {
    char shape[64];
    size_t count = (size_t)d0 * (d1 ? d1 : 1) * (d2 ? d2 : 1);
    float *x = malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < 4; j++) sum += (double)(rng_next(&k->rng) >> 11) / 9007199254740992.0 - 0.5;
        x[i] = mean + spread * (float)sum;
    }
    if (d2)
        snprintf(shape, sizeof shape, "[%u,%u,%u]", d0, d1, d2);
    else if (d1)
        snprintf(shape, sizeof shape, "[%u,%u]", d0, d1);
    else
        snprintf(shape, sizeof shape, "[%u]", d0);
    ck_put_bytes(k, name, "F32", shape, x, count * sizeof *x);
    free(x);
}

static inline void ck_write_text(const checkpoint *k, const char *file, const char *text) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", k->dir, file);
    FILE *f = fopen(path, "wb");
    cr_assert(f && fwrite(text, 1, strlen(text), f) == strlen(text) && fclose(f) == 0);
}

// Writes what was put so far, and begins anew in the same directory. cut: bytes to leave out at the end; negative:
// zeros too many.
static inline void ck_write(checkpoint *k, const char *file, long cut) {
    char path[160];
    snprintf(k->header + k->head, CK_HEADER - k->head, "%s", k->head ? "}" : "{}");
    uint64_t length = strlen(k->header);
    size_t size = 8 + length + k->size;
    uint8_t *all = calloc(1, size + 64);
    memcpy(all, &length, 8);
    memcpy(all + 8, k->header, length);
    memcpy(all + 8 + length, k->data, k->size);
    snprintf(path, sizeof path, "%s/%s", k->dir, file);
    FILE *f = fopen(path, "wb");
    size = (size_t)((long)size - cut);
    cr_assert(f && fwrite(all, 1, size, f) == size && fclose(f) == 0);
    free(all);
    k->head = k->size = 0;
}

static inline void ck_end(checkpoint *k) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", k->dir);
    cr_assert_eq(system(command), 0);
    free(k->data);
}

// Path of a model beside the project; the test is skipped where it is not there.
static inline const char *shared_model(const char *name, char path[512]) {
    const char *dir = getenv("POBLANO_SHARED");
    snprintf(path, 512, "%s/models/%s", dir ? dir : "../shared", name);
    if (access(path, R_OK) != 0) cr_skip_test("%s is not there", path);
    return path;
}
#endif
