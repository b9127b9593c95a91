// Flits and links of the network: twin of rtl/common/noc_pkg.sv, which says what the fields mean.
#ifndef COMMON_FLIT_H
#define COMMON_FLIT_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/mem.h"

enum { NOC_MAX_FLITS = 8, NOC_DATA_VCS = CFG_NOC_VCS, NOC_NUM_VCS = CFG_NOC_VCS + 1, NOC_VC_REDUCE = CFG_NOC_VCS };
enum { NOC_LOCAL, NOC_NORTH, NOC_EAST, NOC_SOUTH, NOC_WEST, NOC_PORTS };
enum { NOC_MAX_COORD = 31 };

typedef enum { FLIT_WRITE, FLIT_LOAD_REQ, FLIT_LOAD_DATA, FLIT_STORE_DATA, FLIT_STORE_ACK, FLIT_REDUCE } flit_kind;
typedef enum { TO_TILE, TO_WEST, TO_EAST } flit_to;

typedef struct {
    uint8_t x, y;
} node_t;

typedef struct {
    uint8_t x0, y0, x1, y1;
} rect_t;

typedef struct {
    bool head, tail;
    uint8_t len_m1;
    uint8_t kind; // flit_kind
    uint8_t to;   // flit_to
    rect_t rect;
    node_t root;
    node_t src;
    uint8_t tag;
    bool last;
    uint32_t addr;
    row_t data;
} flit_t;

typedef struct {
    bool valid;
    uint8_t vc;
    flit_t flit;
} link_t;

// Bit v: one flit of virtual channel v freed in this cycle.
typedef uint8_t credit_t;

// Header of a flit as the packed bits of the RTL above the data (for toggles and shims): 88 bits, low 64 in w[0].
typedef struct {
    uint64_t w[2];
} flit_head_bits;
#endif
