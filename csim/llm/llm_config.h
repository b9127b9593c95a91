// Hugging Face's config.json of the three architectures: llama, gpt_oss, deepseek_v3.
#ifndef LLM_LLM_CONFIG_H
#define LLM_LLM_CONFIG_H
#include <stdbool.h>
#include <stdint.h>

enum { LLM_ERROR = 512, LLM_MAX_LAYERS = 256, LLM_MAX_ENDS = 8, LLM_NO_TOKEN = UINT32_MAX };

typedef enum { LLM_LLAMA, LLM_GPT_OSS, LLM_DEEPSEEK_V3 } llm_arch;

typedef struct {
    double theta;
    bool yarn; // the fields below
    bool truncate;
    double factor, beta_fast, beta_slow, original_positions;
    double attention_factor; // multiplies cos and sin
    double mscale_all_dim;   // deepseek_v3: squared into the softmax's scale
} llm_rope;

typedef struct {
    llm_arch arch;
    uint32_t layers, hidden, vocabulary, positions, heads;
    uint32_t kv_heads, head_dim;                         // llama, gpt_oss
    uint32_t q_rank, kv_rank, nope_dim, rope_dim, v_dim; // deepseek_v3; q_rank 0: queries straight from hidden
    uint32_t begin, num_ends, ends[LLM_MAX_ENDS];        // tokens that begin (LLM_NO_TOKEN: none) and end a text
    bool attention_bias, tied;                           // tied: the head is the embedding
    double norm_eps;
    llm_rope rope;
    bool rope_interleaved; // pairs (2i, 2i + 1); else (i, i + dim / 2)
    uint32_t window;       // keys that a sliding layer sees, itself included
    bool slides[LLM_MAX_LAYERS];
    uint32_t dense_layers, dense_width;                    // the first layers, without experts
    uint32_t experts, top_k, expert_width, shared_experts; // experts 0: every layer is dense
    uint32_t groups, top_groups;                           // deepseek_v3: choice limited to the best groups
    bool norm_top_k;
    double routed_scale, swiglu_alpha, swiglu_limit;
} llm_config;

// Reads DIR/config.json. False with one line in error that names the file, the key and what was expected; what the
// reference does not have (another activation, another rope) is refused by name.
bool llm_config_load(const char *dir, llm_config *out, char error[LLM_ERROR]);
#endif
