// Instructions of a tile: one 256-bit row each. Engines have a queue each and run in order; semaphores are the only
// ordering between them. Twin: csim/common/isa.h; text form: docs/programs.md.
// a package serves many modules, each uses a part
// verilator lint_off UNUSEDPARAM
package isa_pkg;
  typedef enum logic [2:0] {
    ENG_MATMUL = 3'd0,
    ENG_MOVE   = 3'd1,
    ENG_SEND   = 3'd2,
    ENG_RECV   = 3'd3,
    ENG_VECTOR = 3'd4,
    ENG_SEQ    = 3'd5   // the sequencer itself: END
  } engine_t;
  parameter int NUM_ENGINES = 5;

  typedef enum logic [7:0] {
    OP_END       = 8'd0,   // seq: the program ends
    OP_WAIT      = 8'd1,   // any engine: block until sem >= count, then sem -= count
    OP_SIGNAL    = 8'd2,   // any engine: once everything before it in this engine is final, sem += count
    OP_MATMUL    = 8'd3,   // matmul: C[m][n] (+)= A[m][k] W[n][k]
    OP_COPY      = 8'd4,   // move: rows SRAM rows from addr_a to addr_c
    OP_LOAD      = 8'd5,   // move: rows from HBM port, row hbm_addr, to addr_c
    OP_STORE     = 8'd6,   // move: rows from addr_a to HBM port, row hbm_addr
    OP_SEND      = 8'd7,   // send: rows from addr_a to SRAM row addr_c of tile (rect.x0, rect.y0), arrival tag
    OP_MULTICAST = 8'd8,   // send: the same to every tile of rect
    OP_REDUCE    = 8'd9,   // send: this tile's float32 rows from addr_a into the sum over rect, to addr_c of root
    OP_RECEIVE   = 8'd10,  // recv: block until arrivals[tag] >= rows, then arrivals[tag] -= rows
    // vector: 32 to 63, fields of vec_instr_t; on float32, lane by lane
    OP_VADD      = 8'd32,  // c = a + b
    OP_VSUB      = 8'd33,  // c = a - b
    OP_VMUL      = 8'd34,  // c = a * b
    OP_VFMA      = 8'd35,  // c = a * b + c
    OP_VMAX      = 8'd36,
    OP_VMIN      = 8'd37,
    OP_VLESS     = 8'd38,  // c = a < b: 1.0, otherwise 0.0
    OP_VSELECT   = 8'd39,  // c = a is not zero: b, otherwise c as it was
    OP_VEXP2     = 8'd40,  // c = 2^a
    OP_VRECIP    = 8'd41,  // c = 1 / a
    OP_VRSQRT    = 8'd42,  // c = 1 / sqrt(a)
    OP_VCOPY     = 8'd43,  // c = a, lane i from lane i ^ arg
    // one result row a group
    OP_VSUM      = 8'd44,  // c = sum of the group's rows and lanes, the same in every lane
    OP_VLARGEST  = 8'd45,  // c = the largest of them
    OP_VBF16     = 8'd46,  // c = two rows as BF16 (to nearest even)
    OP_VQUANT    = 8'd47   // c = four rows as an MX block as arg says, its scale a byte of a row of b
  } op_t;

  typedef enum logic [2:0] {
    FMT_E2M1 = 3'd0, FMT_INT4 = 3'd1, FMT_E4M3 = 3'd2, FMT_E5M2 = 3'd3, FMT_INT8 = 3'd4, FMT_BF16 = 3'd5
  } fmt_t;

  typedef enum logic [1:0] {
    SCALE_NONE = 2'd0, SCALE_E8M0 = 2'd1, SCALE_BF16 = 2'd2
  } scale_t;

  typedef struct packed {
    logic [7:0]  op;
    engine_t     engine;
    logic [4:0]  sem;
    logic [7:0]  count;      // semaphores hold 0..255; more is an error of the program
    logic [4:0]  tag;
    fmt_t        fmt_a;
    fmt_t        fmt_w;
    scale_t      scale_a;    // none or E8M0
    scale_t      scale_w;
    logic        init;       // MATMUL: C starts from what lies at addr_c, otherwise from 0
    logic [15:0] m;          // 1..ROWS
    logic [15:0] n;
    logic [15:0] k;
    logic [15:0] rows;
    logic [15:0] addr_a;     // SRAM row addresses; MATMUL: activations, others: source
    logic [15:0] addr_as;    // activation scales
    logic [15:0] addr_w;     // weights
    logic [15:0] addr_ws;    // weight scales
    logic [15:0] addr_c;     // result or destination
    logic [31:0] hbm_addr;   // HBM row
    noc_pkg::edge_t to;      // LOAD, STORE: TO_WEST or TO_EAST
    logic [4:0]  rect_x0;
    logic [4:0]  rect_y0;    // LOAD, STORE: the row of the HBM port
    logic [4:0]  rect_x1;
    logic [4:0]  rect_y1;
    logic [4:0]  root_x;
    logic [4:0]  root_y;
    logic [7:0]  reserved;
  } instr_t;

  // Vector instructions walk for o < outer, for l < lines, for s < segs, for r < rows. One pair (o, l) is a group. A wide
  // operand has a row for each step, at addr + l line + (o segs + s) seg + r; any other one a row for each group, at
  // addr + l line + o seg. Results of VSUM, VLARGEST, VBF16, VQUANT are one row a group. The scales of VQUANT are byte
  // l % 32 of the row at addr + (l / 32) line + o seg of b, written whole.
  typedef struct packed {
    logic [15:0] addr;
    logic [15:0] line;
    logic [15:0] seg;
    logic        wide;
  } operand_t;
  typedef struct packed {
    logic [7:0]  op;
    engine_t     engine;
    logic [4:0]  arg;     // VCOPY: 0..7; VQUANT: fmt_t + 8 num_pkg::rule_t
    logic [15:0] outer;
    logic [15:0] lines;
    logic [7:0]  segs;
    logic [7:0]  rows;
    operand_t    a;
    operand_t    b;
    operand_t    c;
    logic [44:0] reserved;
  } vec_instr_t;
endpackage
// verilator lint_on UNUSEDPARAM
