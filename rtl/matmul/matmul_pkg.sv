// Types inside the matmul engine. Twin: csim/matmul/matmul.h.
package matmul_pkg;
  // One block of 32 x COLS weights and the rows that meet it.
  typedef struct packed {
    logic [15:0]     a_base;   // first activation row
    logic [15:0]     as_base;  // first activation scale row
    logic [15:0]     ws_addr;  // row of the first weight scale
    logic [1:0]      ws_sub;   // its place in that row, in groups of 8 columns
    logic [15:0]     c_base;   // first result row of the column tile
    logic [15:0]     m;
    isa_pkg::fmt_t   fmt_a;
    isa_pkg::scale_t scale_a;
    isa_pkg::scale_t scale_w;
    logic            init;
    logic            first;    // first block along k of its column tile
    logic            last;     // last one
    logic            fresh;    // first block of its instruction
    logic            tag;      // alternates with every instruction
    logic            bank;     // accumulator bank
    logic [7:0]      ncol;     // columns inside N
    logic [5:0]      kval;     // elements inside K
  } block_t;
endpackage
