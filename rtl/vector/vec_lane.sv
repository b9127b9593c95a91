// One float32 lane: an operation taken in cycle t has its result on the output in t + 3. One a cycle, special functions
// too. Stages: product or table; sum; rounding. Sums and products to nearest even; exp2, recip, rsqrt within 1 ulp by
// quadratics of configs/special.tbl. Every NaN result is num_pkg::QNAN, but PASS and SELECT keep their operand's bits.
// Twin: csim/vector/vec_lane.
module vec_lane
  import vec_pkg::*;
(
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            valid_i,
    input  lane_op_t        op_i,
    input  logic     [31:0] a_i,
    input  logic     [31:0] b_i,
    input  logic     [31:0] c_i,
    output logic            valid_o,
    output logic     [31:0] result_o  // matters while valid_o is high
);
  localparam logic [31:0] One = 32'h3F80_0000;
  localparam logic [31:0] Sign = 32'h8000_0000;
  localparam logic [30:0] Inf = 31'h7F80_0000;
  localparam int Point = 27;  // bits of a fraction: 7 choose the interval of a table, 20 are r
  localparam logic signed [12:0] SumExp = -13'sd48;  // of a quadratic's last bit

  // After the first stage: a result that is known, a product and its addend, or the terms of a quadratic.
  typedef struct packed {
    logic                       known;
    logic [31:0]                bits;      // the known result, or the addend
    logic                       quadratic;
    logic                       falling;   // c1 is below zero
    special_pkg::special_row_t  row;
    logic [19:0]                r;
    logic [15:0]                square;
    logic                       sign;
    logic [47:0]                mag;
    logic signed [12:0]         exp;
  } first_t;

  logic   valid1_q, valid2_q, valid3_q, known2_q;
  first_t first_d, first_q;
  logic [31:0] bits2_q, result_q;
  num_pkg::sum_t sum_d, sum_q;

  // a * b + c, c = -0 for a plain product
  function automatic first_t multiply(logic [31:0] a, logic [31:0] b, logic [31:0] c);
    logic sign, infinite, zero;
    multiply = '0;
    sign = a[31] ^ b[31];
    infinite = is_inf(a) || is_inf(b);
    zero = is_zero(a) || is_zero(b);
    multiply.known = infinite || zero || is_nan(a) || is_nan(b) || is_nan(c) || is_inf(c);
    multiply.sign = sign;
    multiply.mag = 48'(significand(a)) * 48'(significand(b));
    multiply.exp = lsb(a) + lsb(b);
    multiply.bits = c;
    if (is_nan(a) || is_nan(b) || is_nan(c) || (infinite && (zero || (is_inf(c) && c[31] != sign))))
      multiply.bits = num_pkg::QNAN;
    else if (infinite) multiply.bits = {sign, Inf};
    else if (zero && is_zero(c)) multiply.bits = {sign && c[31], 31'd0};
  endfunction

  // table: 0 exp2, 1 recip, 2 and 3 rsqrt of even and odd exponents
  function automatic first_t look_up(logic [1:0] index, logic [Point-1:0] at, logic sign, logic signed [12:0] exp);
    // verilator lint_off UNUSEDSIGNAL
    logic [39:0] squared;  // its upper bits count
    // verilator lint_on UNUSEDSIGNAL
    look_up = '0;
    look_up.quadratic = 1'b1;
    look_up.falling = index != 2'd0;
    look_up.row = special_pkg::SPECIAL_ROWS[{index, at[26:20]}];
    look_up.r = at[19:0];
    squared = 40'(at[19:0]) * 40'(at[19:0]);
    look_up.square = squared[39:24];
    look_up.sign = sign;
    look_up.exp = exp + SumExp;
  endfunction

  function automatic first_t power(logic [31:0] x);
    logic signed [12:0] up;
    logic [23:0] mag, whole;
    logic signed [36:0] fixed;
    up = lsb(x) + 13'(Point);
    mag = significand(x);
    whole = up > -13'sd32 ? mag >> 5'(-up) : '0;
    fixed = up >= 0 ? 37'(mag) << up[3:0] : 37'(whole);
    if (x[31]) fixed = -fixed;
    power = look_up(2'd0, fixed[Point-1:0], 1'b0, 13'(fixed >>> Point));
    power.known = is_nan(x) || x[30:23] >= 8'd135;  // 256 and more
    power.bits = is_nan(x) ? num_pkg::QNAN : {1'b0, x[31] ? 31'd0 : Inf};
  endfunction

  // 1 / x; root: 1 / sqrt(x)
  function automatic first_t inverse(logic root, logic [31:0] x);
    logic [4:0] up;
    logic [22:0] mag;  // without its top bit
    logic signed [12:0] exp;
    logic odd;
    up = 5'(6'd23 - num_pkg::top_bit({40'd0, significand(x)}));
    mag = 23'(significand(x) << up);
    exp = lsb(x) + 13'sd23 - 13'(signed'({1'b0, up}));
    odd = root && exp[0];
    inverse = look_up({root, root ? odd : 1'b1}, {mag, 4'd0}, x[31],
                      root ? -((exp - 13'(signed'({1'b0, odd}))) >>> 1) : -exp);
    inverse.known = is_nan(x) || is_inf(x) || is_zero(x) || (root && x[31]);
    if (is_nan(x) || (root && x[31] && !is_zero(x))) inverse.bits = num_pkg::QNAN;
    else inverse.bits = {x[31] && !root, is_inf(x) ? 31'd0 : Inf};
  endfunction

  // of two operands, what needs no arithmetic
  function automatic first_t choose(lane_op_t op, logic [31:0] a, logic [31:0] b, logic [31:0] c);
    logic nan;
    choose = '0;
    choose.known = 1'b1;
    nan = is_nan(a) || is_nan(b);
    unique case (op)
      LANE_MAX:    choose.bits = nan ? num_pkg::QNAN : key(a) >= key(b) ? a : b;
      LANE_MIN:    choose.bits = nan ? num_pkg::QNAN : key(a) <= key(b) ? a : b;
      LANE_LESS:   choose.bits = !nan && !(is_zero(a) && is_zero(b)) && key(a) < key(b) ? One : 32'd0;
      LANE_SELECT: choose.bits = is_zero(a) ? c : b;
      default:     choose.bits = a;
    endcase
  endfunction

  always_comb begin
    first_d = '0;
    if (valid_i)
      unique case (op_i)
        LANE_ADD:   first_d = multiply(a_i, One, b_i);
        LANE_SUB:   first_d = multiply(a_i, One, b_i ^ Sign);
        LANE_MUL:   first_d = multiply(a_i, b_i, Sign);
        LANE_FMA:   first_d = multiply(a_i, b_i, c_i);
        LANE_EXP2:  first_d = power(a_i);
        LANE_RECIP: first_d = inverse(1'b0, a_i);
        LANE_RSQRT: first_d = inverse(1'b1, a_i);
        default:    first_d = choose(op_i, a_i, b_i, c_i);
      endcase
  end

  logic [48:0] line, curve;
  always_comb begin
    line = '0;
    curve = '0;
    sum_d = '0;
    if (valid1_q && !first_q.known) begin
      if (first_q.quadratic) begin
        line = 49'(first_q.row.c1) * 49'(first_q.r);
        curve = {15'd0, 30'(first_q.row.c2) * 30'(first_q.square), 4'd0} + {first_q.row.c0, 20'd0};
        sum_d.sign = first_q.sign;
        sum_d.mag = {15'd0, first_q.falling ? curve - line : curve + line};
        sum_d.exp = first_q.exp;
      end else begin
        sum_d = num_pkg::sum_exact(first_q.bits, first_q.sign, {14'd0, first_q.mag}, first_q.exp);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
      valid3_q <= 1'b0;
    end else begin
      valid1_q <= valid_i;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
    end
    if (valid_i) first_q <= first_d;
    if (valid1_q) begin
      known2_q <= first_q.known;
      bits2_q  <= first_q.bits;
      sum_q    <= sum_d;
    end
    if (valid2_q) result_q <= known2_q ? bits2_q : num_pkg::round_fp32(sum_q.sign, sum_q.mag, sum_q.exp);
  end

  assign valid_o  = valid3_q;
  assign result_o = result_q;
endmodule
