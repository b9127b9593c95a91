// What the files of this room share.
#ifndef COMPILER_PARTS_H
#define COMPILER_PARTS_H
#include "compiler/compiler.h"
#include "llm/llm_parts.h"
#include "workload/kernel_pack.h"

enum {
    LANES = 8,
    TILES = PROGRAM_TILES,
    MASK_ROWS = BLOCK / LANES // a mask of the positions of one block
};

// Columns first..first + n - 1 of a matrix on a tile; n == 0: none. Rows of SRAM.
typedef struct {
    uint32_t first, n, k;
    uint16_t w, ws, bias; // bias: float32 in the layout of results, where has_bias
    fmt_id fmt;
    bool has_bias;
} placed;

// Keys and values of one head on a tile, and the query heads that use them.
typedef struct {
    uint16_t keys;                // blocks of COLS positions as weights
    uint16_t values;              // transposed: per COLS dimensions, blocks of 32 positions as weights
    uint16_t stage;               // the values of the last 32 positions, as weights
    uint16_t sinks;               // rows [heads]: the sink of a head, times log2(e), in every lane
    uint32_t first, heads, local; // query heads; the head's number among the tile's keys
} cached;

typedef struct {
    uint16_t norm_in, norm_post;       // gains times sqrt(hidden)
    placed q, k, v, o, gate, up, down; // of experts: all of them side by side
    placed q_a, kv_a;                  // latent attention: every tile has all of them
    uint16_t q_a_norm, kv_a_norm;
    bool has_experts;
    uint32_t width;       // of the feed-forward network
    placed router;        // every tile has all of it
    uint16_t correction;  // of the choice, -infinity behind the last expert
    uint16_t router_bias; // -infinity behind the last expert
    uint16_t down_bias;   // [experts] rows in the layout of results: of this tile's columns of down
    cached *kv;           // [kv_count]
} tile_layer;

// Working rows of a tile; every buffer in front of a conversion ends in zero rows to a whole block.
typedef struct {
    uint16_t x, normed, a, a_scales, position;
    uint16_t q, k, v, turned, q_rot, k_rot, v_pad, q_a, scores, most, sum, p, mixed, transposed;
    uint16_t heads, o, gate, up, hidden, down, scratch;
    uint16_t q_latent, kv_latent, q_normed, kv_normed, k_turned; // latent attention
    uint16_t route, left, below, first, chosen, groups, shares;  // of experts: [route_rows], shares [experts]
    // constants
    uint16_t eps, ones, gate_scale, score_scale, identity, limit, minus_limit, minus_infinity, log2e;
    uint16_t q_eps, kv_eps, routed_scale;
    uint16_t order, one_hot; // minus the expert's number [route_rows]; 1 for one expert [experts][route_rows]
    uint16_t member;         // 1 for a group's experts [groups][route_rows]
} tile_rows;

typedef struct {
    uint32_t head0, heads, kv0, kv_count;
    tile_layer *layers;
    uint16_t norm;
    placed head;
    tile_rows rows;
    row_t *sram;       // what is placed
    uint32_t resident; // rows of it
    uint32_t used;     // with buffers
    uint32_t kinds[3]; // rows of weights, constants, KV cache
    int port;
    uint32_t hbm_sram, hbm_embedding, hbm_position, hbm_logits;
} tile_plan;

struct compiled {
    const llm *m;
    compiler_options o;
    llm_ffn *wide; // [layers]: the dense one, or all experts as one
    float **owned; // what those of experts point to
    uint32_t num_owned;
    uint32_t width;                                   // of the widest of wide
    uint32_t route_rows;                              // rows of a router's result
    uint32_t key_dim, plain_dim, turn_dim, value_dim; // key_dim = plain_dim, then turn_dim that turns by position
    uint32_t kv_heads;
    uint32_t key_blocks, value_blocks; // of 32 dimensions
    llm_linear *expand_k, *expand_v;   // [layers]: from the latent to keys and values of all heads
    uint32_t blocks;                   // of positions
    uint32_t position_rows;            // rows of HBM a position: cosines, sines, upper mask, lower mask
    tile_plan tiles[TILES];
    row_t *image[COMPILER_PORTS];
    uint32_t image_rows[COMPILER_PORTS];
};

// Column tiles first..end - 1 of `count` that tile t computes.
static inline uint32_t share_begin(uint32_t count, int t) {
    return count * (uint32_t)t / TILES;
}

// ---- place.c
bool compiler_place(compiled *c, char error[COMPILER_ERROR]);
// ---- wide.c: experts side by side as one feed-forward network; false where there is no memory
bool compiler_widen(compiled *c);
#endif
