// Block quantiser: 32 float32 values to 32 element codes and one E8M0 scale (OCP MX v1.0, 6.3). A block taken in cycle t
// gets its largest magnitude at the end of t, its scale and codes at the end of t + 1, and is on the outputs in t + 2.
// Throughput: one block a cycle. Elements to nearest even, saturating; all zeros: scale 0, signs kept; a NaN or an
// infinity: scale 255, codes 0. 4-bit codes lie in the low half of their byte. Twin: csim/numerics/mx_quantize.
`include "chk.svh"
module mx_quantize
  import num_pkg::*;
(
    input  logic                         clk_i,
    input  logic                         rst_ni,
    // a block of float32; formats E2M1, E4M3, E5M2, INT8
    input  logic                         valid_i,
    input  isa_pkg::fmt_t                fmt_i,
    input  rule_t                        rule_i,
    input  logic        [BLOCK-1:0][31:0] x_i,
    // its codes, two cycles later; they matter while valid_o is high
    output logic                         valid_o,
    output logic        [BLOCK-1:0][7:0] codes_o,
    output logic        [7:0]            scale_o
);
  // Of a format: mantissa bits, exponent of the largest and of the least normal element, largest code without sign.
  typedef struct packed {
    logic [2:0]        man;
    logic signed [5:0] max_exp;
    logic signed [5:0] least;
    logic [6:0]        max_code;
  } mx_t;

  function automatic mx_t facts(isa_pkg::fmt_t fmt);
    unique case (fmt)
      isa_pkg::FMT_E2M1: return '{man: 3'd1, max_exp: 6'sd2, least: 6'sd0, max_code: 7'h07};
      isa_pkg::FMT_E4M3: return '{man: 3'd3, max_exp: 6'sd8, least: -6'sd6, max_code: 7'h7E};
      isa_pkg::FMT_E5M2: return '{man: 3'd2, max_exp: 6'sd15, least: -6'sd14, max_code: 7'h7B};
      default:           return '{man: 3'd6, max_exp: 6'sd0, least: 6'sd0, max_code: 7'h7F};  // INT8
    endcase
  endfunction

  function automatic logic [23:0] mantissa(logic [30:0] x);
    return {x[30:23] != 0, x[22:0]};
  endfunction

  // x = mantissa(x) * 2^lsb(exponent field)
  function automatic logic signed [9:0] lsb(logic [7:0] field);
    return 10'(signed'({1'b0, field != 0 ? field : 8'd1})) - 10'sd150;
  endfunction

  function automatic logic signed [9:0] top(logic [23:0] mag);
    return 10'(signed'({1'b0, top_bit({40'd0, mag})}));
  endfunction

  // each function uses a part of the facts
  // verilator lint_off UNUSEDSIGNAL
  // Exponent of the scale, -127..127, from the largest magnitude.
  function automatic logic signed [9:0] scale_exp(mx_t f, rule_t rule, logic [30:0] largest);
    logic [22:0] norm, even;  // ones where "even" demands ones: the mantissa and the bit below it
    logic up;
    if (largest == 0) return -10'sd127;
    scale_exp = top(mantissa(largest));
    norm = 23'(mantissa(largest) << 5'(10'sd23 - scale_exp));
    even = ~(23'h3F_FFFF >> f.man);
    up = rule == RULE_CEIL ? norm != 0 : rule == RULE_EVEN && (norm & even) == even;
    scale_exp = scale_exp + lsb(largest[30:23]) - 10'(f.max_exp) + 10'(signed'({1'b0, up}));
    if (scale_exp < -10'sd127) return -10'sd127;
    if (scale_exp > 10'sd127) return 10'sd127;
  endfunction

  // The scale comes from the largest magnitude, so an element never lies above the format's largest exponent; a carry
  // out of the mantissa moves into the exponent field by itself, and past the largest code it saturates.
  function automatic logic [7:0] element(isa_pkg::fmt_t fmt, mx_t f, logic signed [9:0] scale, logic [31:0] x);
    logic signed [9:0] exp, e, drop, above;
    logic [31:0] mag, half, rest, n;
    mag = {8'd0, mantissa(x[30:0])};
    exp = lsb(x[30:23]) - scale;
    e = exp + top(mag[23:0]);
    if (fmt == isa_pkg::FMT_INT8 || e < 10'(f.least)) e = 10'(f.least);
    drop = e - 10'(signed'({1'b0, f.man})) - exp;  // 6 or more
    n = 32'd0;
    if (mag != 0 && drop < 10'sd26) begin
      half = 32'd1 << 5'(drop - 10'sd1);
      rest = mag & (half | (half - 32'd1));
      n = mag >> drop[4:0];
      if (rest > half || (rest == half && n[0])) n = n + 32'd1;
    end
    above = e - 10'(f.least);
    if (mag != 0) n = n + ({22'd0, above} << f.man);
    if (n > {25'd0, f.max_code}) n = {25'd0, f.max_code};
    if (fmt == isa_pkg::FMT_INT8) return x[31] ? 8'(-n[7:0]) : n[7:0];
    if (fmt == isa_pkg::FMT_E2M1) return {4'd0, x[31], n[2:0]};
    return {x[31], n[6:0]};
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- stage 0: the block and its largest magnitude
  logic                   s0_valid_q;
  isa_pkg::fmt_t          s0_fmt_q;
  rule_t                  s0_rule_q;
  logic [BLOCK-1:0][31:0] s0_x_q;
  logic [30:0]            largest_d, largest_q;

  always_comb begin
    largest_d = '0;
    if (valid_i)
      for (int k = 0; k < BLOCK; k++) if (x_i[k][30:0] > largest_d) largest_d = x_i[k][30:0];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s0_valid_q <= 1'b0;
    else s0_valid_q <= valid_i;
    if (valid_i) begin
      s0_fmt_q  <= fmt_i;
      s0_rule_q <= rule_i;
      s0_x_q    <= x_i;
      largest_q <= largest_d;
    end
  end

  // ---- stage 1: scale and codes
  logic                  s1_valid_q;
  logic [BLOCK-1:0][7:0] codes_d, codes_q;
  logic [7:0]            scale_d, scale_q;
  logic signed [9:0]     exp;
  mx_t                   f;

  always_comb begin
    f = facts(s0_fmt_q);
    exp = '0;
    codes_d = '0;
    scale_d = 8'd255;
    if (s0_valid_q && largest_q < 31'h7F80_0000) begin
      exp = scale_exp(f, s0_rule_q, largest_q);
      scale_d = 8'(exp + 10'sd127);
      for (int k = 0; k < BLOCK; k++) codes_d[k] = element(s0_fmt_q, f, exp, s0_x_q[k]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) s1_valid_q <= 1'b0;
    else s1_valid_q <= s0_valid_q;
    if (s0_valid_q) begin
      codes_q <= codes_d;
      scale_q <= scale_d;
    end
  end

  assign valid_o = s1_valid_q;
  assign codes_o = codes_q;
  assign scale_o = scale_q;

  `CHK(FormatHasBlocks, !valid_i || fmt_i == isa_pkg::FMT_E2M1 || fmt_i == isa_pkg::FMT_E4M3 ||
       fmt_i == isa_pkg::FMT_E5M2 || fmt_i == isa_pkg::FMT_INT8)
  `CHK(RuleIsKnown, !valid_i || rule_i == RULE_FLOOR || rule_i == RULE_EVEN || rule_i == RULE_CEIL)
endmodule
