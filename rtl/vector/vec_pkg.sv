// Vector engine: operations of a lane, and float32 taken apart. Twin: csim/vector/vec_lane.h.
// a package serves many modules, each uses a part
// verilator lint_off UNUSEDPARAM
package vec_pkg;
  parameter int LANES = mem_pkg::ROW_BITS / 32;

  typedef enum logic [3:0] {
    LANE_ADD    = 4'd0,   // a + b
    LANE_SUB    = 4'd1,   // a - b
    LANE_MUL    = 4'd2,   // a * b
    LANE_FMA    = 4'd3,   // a * b + c, rounded once
    LANE_MAX    = 4'd4,   // the larger; a NaN makes a NaN, -0 is below +0
    LANE_MIN    = 4'd5,
    LANE_LESS   = 4'd6,   // a < b: 1.0, otherwise 0.0
    LANE_SELECT = 4'd7,   // a is not zero: b, otherwise c
    LANE_EXP2   = 4'd8,   // 2^a
    LANE_RECIP  = 4'd9,   // 1 / a
    LANE_RSQRT  = 4'd10,  // 1 / sqrt(a)
    LANE_PASS   = 4'd11   // a
  } lane_op_t;

  // of some, the sign does not count
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic is_nan(logic [31:0] x);
    return x[30:0] > 31'h7F80_0000;
  endfunction
  function automatic logic is_inf(logic [31:0] x);
    return x[30:0] == 31'h7F80_0000;
  endfunction
  function automatic logic is_zero(logic [31:0] x);
    return x[30:0] == 0;
  endfunction

  // A finite x = significand(x) * 2^lsb(x).
  function automatic logic [23:0] significand(logic [31:0] x);
    return {x[30:23] != 0, x[22:0]};
  endfunction
  function automatic logic signed [12:0] lsb(logic [31:0] x);
    return 13'(signed'({1'b0, x[30:23] != 0 ? x[30:23] : 8'd1})) - 13'sd150;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Grows with the value; -0 just below +0.
  function automatic logic [31:0] key(logic [31:0] x);
    return x[31] ? ~x : {1'b1, x[30:0]};
  endfunction
endpackage
// verilator lint_on UNUSEDPARAM
