// CONFIGS: mini
#include "cli/cli.h"
#include "cli/run_line.h"
#include "llm/made_models.h"
#include "npy/npy.h"

enum { HIDDEN = 32, VOCABULARY = 33, CHOICES = 5 };

// A model that the chip takes; of its tokens only a few are ever likely, so that backends agree in spite of rounding.
static void make(checkpoint *k) {
    float head[VOCABULARY * HIDDEN];
    ck_begin(k);
    ck_write_text(k, "config.json",
                  "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 32, \"vocab_size\": 33, "
                  "\"max_position_embeddings\": 64, \"num_attention_heads\": 4, \"intermediate_size\": 24, "
                  "\"tie_word_embeddings\": false, \"bos_token_id\": 1, \"eos_token_id\": 2}");
    for (int i = 0; i < VOCABULARY * HIDDEN; i++)
        head[i] = i % HIDDEN == i / HIDDEN && i / HIDDEN > 2 && i / HIDDEN < 3 + CHOICES ? 8.0f : 0;
    ck_put(k, "model.embed_tokens.weight", VOCABULARY, HIDDEN, 0, 0, 1);
    ck_put_bytes(k, "lm_head.weight", "F32", "[33, 32]", head, sizeof head);
    ck_put(k, "model.norm.weight", HIDDEN, 0, 0, 1, 0.2f);
    put_layer(k, 0, "input_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
    put_layer(k, 0, "post_attention_layernorm.weight", HIDDEN, 0, 0, 1, 0.2f);
    static const char *const square[] = {"q", "k", "v", "o"};
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "self_attn.%s_proj.weight", square[i]);
        put_layer(k, 0, name, HIDDEN, HIDDEN, 0, 0, 0.4f);
    }
    put_layer(k, 0, "mlp.gate_proj.weight", 24, HIDDEN, 0, 0, 0.4f);
    put_layer(k, 0, "mlp.up_proj.weight", 24, HIDDEN, 0, 0, 0.4f);
    put_layer(k, 0, "mlp.down_proj.weight", HIDDEN, 24, 0, 0, 0.4f);
    ck_write(k, "model.safetensors", 0);
}

static void run(const checkpoint *k, const char *backend, npy_matrix *logits) {
    char line[512], path[128], error[NPY_ERROR_SIZE];
    snprintf(path, sizeof path, "%s/%s.npy", k->dir, backend);
    snprintf(line, sizeof line, "run %s --prompt-ids 1,7,9,11 --tokens 5 --backend %s --logits %s", k->dir, backend,
             path);
    cr_assert_eq(run_line(cmd_run, line), EXIT_OK, "%s", line);
    cr_assert(npy_load(path, logits, error), "%s", error);
}

static size_t read_all(FILE *from, char *to, size_t size) {
    size_t n = fread(to, 1, size - 1, from);
    to[n] = '\0';
    return n;
}

Test(cmd_run_chip, every_backend_says_the_same) {
    static const char *const backends[] = {"ref", "twin", "rtl", "all"};
    checkpoint k;
    npy_matrix logits[4];
    char said[4096], heard[8192];
    make(&k);
    cr_redirect_stdout();
    cr_redirect_stderr();
    for (int i = 0; i < 4; i++) run(&k, backends[i], &logits[i]);
    fflush(stdout);
    fflush(stderr);
    cr_assert_gt(read_all(cr_get_redirected_stdout(), said, sizeof said), 40);
    size_t each = strlen(said) / 4;
    cr_assert_eq(strlen(said) % 4, 0, "%s", said);
    for (int i = 0; i < 4; i++) {
        cr_assert(strncmp(said, said + (size_t)i * each, each) == 0 && said[(size_t)(i + 1) * each - 1] == '\n', "%s",
                  said);
        cr_assert(logits[i].rows == 8 && logits[i].cols == VOCABULARY);
    }
    cr_assert_eq(memcmp(logits[1].data, logits[2].data, 8 * VOCABULARY * sizeof(float)), 0, "twin and rtl");
    cr_assert_neq(memcmp(logits[0].data, logits[1].data, 8 * VOCABULARY * sizeof(float)), 0, "reference and chip");
    read_all(cr_get_redirected_stderr(), heard, sizeof heard);
    cr_assert(strstr(heard, "RTL and twin: ") && strstr(heard, " 0 differ") && strstr(heard, "tile 1 1: heads 3 to 4"),
              "%s", heard);
    for (int i = 0; i < 4; i++) npy_free(&logits[i]);
    ck_end(&k);
}
