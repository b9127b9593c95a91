#include "llm/safetensors.h"

#include "llm/checkpoint.h"

static st_checkpoint file;
static char error[ST_ERROR];

Test(safetensors, reads_back_what_was_written) {
    checkpoint k;
    float x[6] = {1, -2.5f, 0, 1e-40f, INFINITY, 3}, y[6];
    ck_begin(&k);
    ck_put_bytes(&k, "z.weight", "F32", "[2,3]", x, sizeof x);
    ck_put_bytes(&k, "a", "U8", "[]", "\x07", 1);
    ck_put_bytes(&k, "none", "F32", "[0,4]", "", 0);
    ck_put_bytes(&k, "__metadata__x", "I64", "[1]", "12345678", 8);
    ck_write(&k, "model.safetensors", 0);
    cr_assert(st_open(k.dir, &file, error), "%s", error);
    cr_assert_eq(file.count, 4);
    const st_tensor *z = st_find(&file, "z.weight"), *a = st_find(&file, "a"), *none = st_find(&file, "none");
    cr_assert(z && a && none && !st_find(&file, "z") && !st_find(&file, ""));
    cr_assert(z->rank == 2 && z->shape[0] == 2 && z->shape[1] == 3 && z->elements == 6 && z->bytes == 24);
    cr_assert(a->rank == 0 && a->elements == 1 && *a->data == 7 && none->elements == 0);
    cr_assert(st_floats(z, y) && !memcmp(x, y, sizeof x) && !st_floats(a, y));
    st_close(&file);
    ck_end(&k);
}

// Every code of the two 16-bit formats, against arithmetic.
Test(safetensors, halves_and_brain_floats_are_exact) {
    checkpoint k;
    static uint16_t codes[65536];
    static float half[65536], brain[65536];
    for (unsigned i = 0; i < 65536; i++) codes[i] = (uint16_t)i;
    ck_begin(&k);
    ck_put_bytes(&k, "half", "F16", "[65536]", codes, sizeof codes);
    ck_put_bytes(&k, "brain", "BF16", "[256,256]", codes, sizeof codes);
    ck_write(&k, "model.safetensors", 0);
    cr_assert(st_open(k.dir, &file, error), "%s", error);
    cr_assert(st_floats(st_find(&file, "half"), half) && st_floats(st_find(&file, "brain"), brain));
    for (unsigned i = 0; i < 65536; i++) {
        int exp = i >> 10 & 31, man = i & 1023;
        double want = exp == 31 ? (man ? NAN : INFINITY) : exp ? ldexp(1024 + man, exp - 25) : ldexp(man, -24);
        if (i >> 15) want = -want;
        cr_assert((isnan(want) && isnan(half[i])) || (half[i] == want && !signbit(half[i]) == !signbit(want)),
                  "F16 %04x: got %g, want %g", i, half[i], want);
        exp = i >> 7 & 255, man = i & 127;
        want = exp == 255 ? (man ? NAN : INFINITY) : exp ? ldexp(128 + man, exp - 134) : ldexp(man, -133);
        if (i >> 15) want = -want;
        cr_assert((isnan(want) && isnan(brain[i])) || (brain[i] == want && !signbit(brain[i]) == !signbit(want)),
                  "BF16 %04x: got %g, want %g", i, brain[i], want);
    }
    st_close(&file);
    ck_end(&k);
}

Test(safetensors, joins_the_shards_of_an_index) {
    checkpoint k;
    float one = 1, two = 2, got;
    ck_begin(&k);
    ck_put_bytes(&k, "b", "F32", "[1]", &one, 4);
    ck_write(&k, "first.safetensors", 0);
    ck_put_bytes(&k, "a", "F32", "[1]", &two, 4);
    ck_write(&k, "second.safetensors", 0);
    ck_write_text(&k, "model.safetensors.index.json",
                  "{\"weight_map\": {\"b\": \"first.safetensors\", \"a\": \"second.safetensors\"}}");
    cr_assert(st_open(k.dir, &file, error), "%s", error);
    cr_assert_eq(file.count, 2);
    cr_assert(st_floats(st_find(&file, "a"), &got) && got == 2);
    cr_assert(st_floats(st_find(&file, "b"), &got) && got == 1);
    st_close(&file);
    ck_end(&k);
}

// ---- bad input
static void refused(const checkpoint *k, const char *because) {
    cr_assert_not(st_open(k->dir, &file, error), "expected a refusal: %s", because);
    cr_assert(strstr(error, because), "got \"%s\", expected \"%s\"", error, because);
    cr_assert(!strchr(error, '\n') && strstr(error, k->dir));
    cr_assert(!file.tensors && !file.maps);
}

static void refused_tensor(const char *dtype, const char *shape, size_t size, const char *because) {
    checkpoint k;
    uint8_t bytes[64] = {0};
    ck_begin(&k);
    ck_put_bytes(&k, "x", dtype, shape, bytes, size);
    ck_write(&k, "model.safetensors", 0);
    refused(&k, because);
    ck_end(&k);
}

Test(safetensors, refuses_a_file_cut_anywhere) {
    checkpoint k;
    for (long cut = 1; cut < 79; cut++) {
        ck_begin(&k);
        ck_put_bytes(&k, "x", "F32", "[4]", "0123456789abcdef", 16);
        ck_write(&k, "model.safetensors", cut);
        cr_assert_not(st_open(k.dir, &file, error), "cut by %ld", cut);
        ck_end(&k);
    }
}

Test(safetensors, refuses_bytes_behind_the_data) {
    checkpoint k;
    ck_begin(&k);
    ck_put_bytes(&k, "x", "F32", "[4]", "0123456789abcdef", 16);
    ck_write(&k, "model.safetensors", -1);
    refused(&k, "17 bytes of data, its header says 16");
    ck_end(&k);
}

Test(safetensors, refuses_tensors_that_are_not_the_formats) {
    refused_tensor("F31", "[4]", 16, "dtype \"F31\"");
    refused_tensor("F32", "[5]", 16, "16 bytes of data, expected 5 elements of 4");
    refused_tensor("F32", "[-4]", 16, "shape: expected");
    refused_tensor("F32", "[1.5]", 16, "shape: expected");
    refused_tensor("F32", "[1,1,1,2,2]", 16, "up to 4 sizes");
    refused_tensor("F32", "[1073741824,1073741824,1073741824,4]", 16, "shape: expected");
    refused_tensor("F32", "4", 16, "shape: expected");
}

Test(safetensors, refuses_offsets_beyond_the_data) {
    static const char *const offsets[] = {"[0,17]", "[-1,15]", "[16,0]", "[0]", "[0,16,16]", "\"0\""};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        checkpoint k;
        char text[256], head[9] = {0};
        ck_begin(&k);
        snprintf(text, sizeof text, "        {\"x\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":%s}}",
                 offsets[i]);
        head[0] = (char)(strlen(text) - 8);
        strcat(text, "0123456789abcdef");
        char path[160];
        snprintf(path, sizeof path, "%s/model.safetensors", k.dir);
        FILE *f = fopen(path, "wb");
        fwrite(head, 1, 8, f);
        fwrite(text + 8, 1, strlen(text + 8), f);
        fclose(f);
        refused(&k, "data_offsets: expected a range within the 16 bytes");
        ck_end(&k);
    }
}

Test(safetensors, refuses_headers_that_are_no_object) {
    checkpoint k;
    ck_begin(&k);
    strcpy(k.header, "[1, 2]");
    k.head = 5; // ck_write closes it
    refused(&k, "cannot read");
    ck_write_text(&k, "model.safetensors", "\x06\0\0\0\0\0\0\0");
    refused(&k, "truncated");
    strcpy(k.header, "{\"x\": 1, \"x\": 2");
    k.head = strlen(k.header);
    ck_write(&k, "model.safetensors", 0);
    refused(&k, "expected a header in JSON, duplicate");
    strcpy(k.header, "{\"x\": 1");
    k.head = strlen(k.header);
    ck_write(&k, "model.safetensors", 0);
    refused(&k, "x: dtype \"\"");
    ck_end(&k);
}

Test(safetensors, refuses_shards_that_do_not_fit) {
    checkpoint k;
    ck_begin(&k);
    ck_put_bytes(&k, "x", "U8", "[1]", "1", 1);
    ck_write(&k, "a.safetensors", 0);
    ck_put_bytes(&k, "x", "U8", "[1]", "1", 1);
    ck_write(&k, "b.safetensors", 0);
    ck_write_text(&k, "model.safetensors.index.json", "{\"weight_map\": {\"x\": \"c.safetensors\"}}");
    refused(&k, "c.safetensors: cannot read");
    ck_write_text(&k, "model.safetensors.index.json", "{\"weight_map\": {\"x\": \"../c.safetensors\"}}");
    refused(&k, "weight_map.x: expected the name of a file");
    ck_write_text(&k, "model.safetensors.index.json", "{\"weight_map\": [1]}");
    refused(&k, "weight_map: expected an object");
    ck_write_text(&k, "model.safetensors.index.json", "{\"weight_map\"");
    refused(&k, "expected JSON");
    ck_write_text(&k, "model.safetensors.index.json",
                  "{\"weight_map\": {\"x\": \"a.safetensors\", \"y\": \"b.safetensors\"}}");
    refused(&k, "x: expected it once, met twice");
    ck_end(&k);
}
