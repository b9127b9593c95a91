// The SRAM port of every engine: twin of rtl/common/mem_pkg.sv, which states the handshake.
#ifndef COMMON_MEM_H
#define COMMON_MEM_H
#include <stdbool.h>
#include <stdint.h>

enum { ROW_BITS = 256, ROW_BYTES = 32, ROW_WORDS = 4, MEM_ADDR_BITS = 16 };

// One SRAM row of 256 bits; bits 63..0 are w[0].
typedef struct {
    uint64_t w[ROW_WORDS];
} row_t;

typedef struct {
    bool valid;
    bool we;
    uint16_t addr;
    row_t wdata;
} mem_req;

typedef struct {
    bool gnt;
    bool rvalid;
    bool rerr;
    row_t rdata;
} mem_rsp;

enum {
    PORT_MM_A,
    PORT_MM_W,
    PORT_MM_S,
    PORT_MM_C,
    PORT_MOVE_R,
    PORT_MOVE_W,
    PORT_SEND,
    PORT_RECV,
    PORT_VEC_A,
    PORT_VEC_B,
    PORT_VEC_C,
    PORT_VEC_W,
    NUM_PORTS
};

// Number of bits that differ between two rows, 0..256.
static inline uint16_t row_toggles(const row_t *a, const row_t *b) {
    int n = 0;
    for (int i = 0; i < ROW_WORDS; i++) n += __builtin_popcountll(a->w[i] ^ b->w[i]);
    return (uint16_t)n;
}
#endif
