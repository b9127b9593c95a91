// Vector engine: operations, and float32 taken apart. Twin: csim/vector/vec_lane.h, csim/vector/vec.h.
// a package serves many modules, each uses a part
// verilator lint_off UNUSEDPARAM
package vec_pkg;
  parameter int LANES = mem_pkg::ROW_BITS / 32;
  typedef logic [LANES-1:0][31:0] lanes_t;

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

  // What becomes of the lanes' results.
  typedef enum logic [1:0] {
    KIND_ROWS   = 2'd0,  // a result row a step
    KIND_REDUCE = 2'd1,  // one a group: all steps and lanes joined by the lane operation
    KIND_BF16   = 2'd2,  // one a group: its steps as BF16
    KIND_QUANT  = 2'd3   // one a group: its steps as a block, and scales
  } kind_t;

  typedef struct packed {
    logic     own;  // an operation of this engine
    lane_op_t lane;
    kind_t    kind;
    logic     uses_b;
    logic     uses_c;
  } facts_t;

  function automatic facts_t facts(logic [7:0] op);
    facts = '{own: op >= isa_pkg::OP_VADD && op <= isa_pkg::OP_VQUANT, lane: LANE_PASS, kind: KIND_ROWS, uses_b: 1'b0,
              uses_c: op == isa_pkg::OP_VFMA || op == isa_pkg::OP_VSELECT};
    case (op)
      isa_pkg::OP_VADD, isa_pkg::OP_VSUB, isa_pkg::OP_VMUL, isa_pkg::OP_VFMA, isa_pkg::OP_VMAX, isa_pkg::OP_VMIN,
      isa_pkg::OP_VLESS, isa_pkg::OP_VSELECT: begin
        facts.lane   = lane_op_t'(op[3:0]);
        facts.uses_b = 1'b1;
      end
      isa_pkg::OP_VEXP2, isa_pkg::OP_VRECIP, isa_pkg::OP_VRSQRT, isa_pkg::OP_VCOPY: facts.lane = lane_op_t'(op[3:0]);
      isa_pkg::OP_VSUM: begin
        facts.lane = LANE_ADD;
        facts.kind = KIND_REDUCE;
      end
      isa_pkg::OP_VLARGEST: begin
        facts.lane = LANE_MAX;
        facts.kind = KIND_REDUCE;
      end
      isa_pkg::OP_VBF16:  facts.kind = KIND_BF16;
      isa_pkg::OP_VQUANT: facts.kind = KIND_QUANT;
      default: ;
    endcase
  endfunction

  // Whether a group has the steps that its result needs. Fields that count no steps are not looked at.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic shape_fits(kind_t kind, isa_pkg::vec_instr_t instr);
    logic [15:0] steps;
    steps = 16'(instr.segs) * 16'(instr.rows);
    return !kind[1] || steps == (kind == KIND_BF16 ? 16'd2 : 16'd4);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Whether VQUANT makes blocks of the format, by the rule.
  function automatic logic has_blocks(logic [4:0] arg);
    return (arg[2:0] == isa_pkg::FMT_E2M1 || arg[2:0] == isa_pkg::FMT_E4M3 || arg[2:0] == isa_pkg::FMT_E5M2 ||
            arg[2:0] == isa_pkg::FMT_INT8) && arg[4:3] <= num_pkg::RULE_CEIL;
  endfunction

  // A step on its way: where its result goes, and what the group needs to know.
  typedef struct packed {
    logic        first;  // of its group
    logic        last;
    logic        tail;   // no step, but a joining of partial results
    logic        final_join;
    logic [1:0]  part;   // number in the group modulo 4; of a joining: the partial result it writes
    logic [15:0] addr;   // of the result row
    logic [15:0] scale_addr;
    logic        scale_due;  // the scale row is full with this group
    logic [4:0]  byte_idx;   // of the group's scale
  } step_t;

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

  // float32 to BF16, to nearest even; overflow to infinity.
  function automatic logic [15:0] to_bf16(logic [31:0] x);
    if (is_nan(x)) return 16'h7FC0;
    to_bf16 = x[31:16];
    if (x[15] && (x[14:0] != 0 || x[16])) to_bf16 = x[31:16] + 16'd1;
  endfunction

  // Lane i of the result from lane i ^ by.
  function automatic lanes_t swap(lanes_t x, logic [2:0] by);
    for (int i = 0; i < LANES; i++) swap[i] = x[{29'd0, by} ^ i];
  endfunction
endpackage
// verilator lint_on UNUSEDPARAM
