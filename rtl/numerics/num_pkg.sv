// Numerics: element decoding and float32 arithmetic with one rounding. Functions, so that callers can isolate operands
// (`if (valid)`) and simulation skips idle units. Twin: csim/numerics/num.h; the contract: docs/architecture.md.
// a package serves many modules, each uses a part
// verilator lint_off UNUSEDPARAM
package num_pkg;
  parameter int BLOCK = 32;
  parameter logic [31:0] QNAN = 32'h7FC0_0000;

  // value = (-1)^sign * mag * 2^exp, unless is_nan or is_inf.
  typedef struct packed {
    logic              is_nan;
    logic              is_inf;
    logic              sign;
    logic [7:0]        mag;
    logic signed [8:0] exp;
  } elem_t;

  // How the scale of an MX block follows from the largest magnitude; csim/numerics/num.h says what each does.
  typedef enum logic [1:0] {RULE_FLOOR = 2'd0, RULE_EVEN = 2'd1, RULE_CEIL = 2'd2} rule_t;

  function automatic elem_t decode(isa_pkg::fmt_t fmt, logic [15:0] code);
    decode = '0;
    unique case (fmt)
      isa_pkg::FMT_E2M1: begin
        decode.sign = code[3];
        decode.mag  = {6'd0, code[2:1] != 0, code[0]};
        decode.exp  = 9'(signed'({1'b0, code[2:1]})) - (code[2:1] != 0 ? 9'sd2 : 9'sd1);
      end
      isa_pkg::FMT_INT4: begin
        decode.sign = code[3];
        decode.mag  = {4'd0, code[3] ? 4'(-code[3:0]) : code[3:0]};
      end
      isa_pkg::FMT_E4M3: begin
        decode.is_nan  = code[6:0] == 7'h7F;
        decode.sign = code[7];
        decode.mag  = {4'd0, code[6:3] != 0, code[2:0]};
        decode.exp  = 9'(signed'({1'b0, code[6:3]})) - (code[6:3] != 0 ? 9'sd10 : 9'sd9);
      end
      isa_pkg::FMT_E5M2: begin
        decode.is_nan  = code[6:2] == 5'h1F && code[1:0] != 0;
        decode.is_inf  = code[6:2] == 5'h1F && code[1:0] == 0;
        decode.sign = code[7];
        decode.mag  = {5'd0, code[6:2] != 0, code[1:0]};
        decode.exp  = 9'(signed'({1'b0, code[6:2]})) - (code[6:2] != 0 ? 9'sd17 : 9'sd16);
      end
      isa_pkg::FMT_INT8: begin
        decode.sign = code[7];
        decode.mag  = code[7] ? 8'(-code[7:0]) : code[7:0];
        decode.exp  = -9'sd6;
      end
      default: begin  // BF16
        decode.is_nan  = code[14:7] == 8'hFF && code[6:0] != 0;
        decode.is_inf  = code[14:7] == 8'hFF && code[6:0] == 0;
        decode.sign = code[15];
        decode.mag  = {code[14:7] != 0, code[6:0]};
        decode.exp  = 9'(signed'({1'b0, code[14:7]}) - (code[14:7] != 0 ? 10'sd134 : 10'sd133));
      end
    endcase
  endfunction

  // Scale factors; an infinite BF16 scale is an error of the tensor and reads as NaN.
  function automatic elem_t decode_scale(isa_pkg::scale_t fmt, logic [15:0] code);
    decode_scale = '0;
    decode_scale.mag = 8'd1;
    if (fmt == isa_pkg::SCALE_E8M0) begin
      decode_scale.is_nan = code[7:0] == 8'hFF;
      decode_scale.exp = 9'(signed'({1'b0, code[7:0]}) - 10'sd127);
    end else if (fmt == isa_pkg::SCALE_BF16) begin
      decode_scale = decode(isa_pkg::FMT_BF16, code);
      decode_scale.is_nan |= decode_scale.is_inf;
      decode_scale.is_inf = 1'b0;
    end
  endfunction

  // Exponent of the smallest unit of a format.
  function automatic logic signed [8:0] least_exp(isa_pkg::fmt_t fmt);
    unique case (fmt)
      isa_pkg::FMT_E2M1: return -9'sd1;
      isa_pkg::FMT_INT4: return 9'sd0;
      isa_pkg::FMT_E4M3: return -9'sd9;
      isa_pkg::FMT_E5M2: return -9'sd16;
      isa_pkg::FMT_INT8: return -9'sd6;
      default: return -9'sd133;  // BF16
    endcase
  endfunction

  function automatic logic [55:0] magnitude(logic signed [55:0] x);
    return x[55] ? -x : x;
  endfunction

  // Index of the highest set bit; 0 for 0.
  function automatic logic [5:0] top_bit(logic [63:0] x);
    logic [63:0] rest;
    rest = x;
    top_bit = 6'd0;
    if (|rest[63:32]) begin top_bit[5] = 1'b1; rest = rest >> 32; end
    if (|rest[31:16]) begin top_bit[4] = 1'b1; rest = rest >> 16; end
    if (|rest[15:8]) begin top_bit[3] = 1'b1; rest = rest >> 8; end
    if (|rest[7:4]) begin top_bit[2] = 1'b1; rest = rest >> 4; end
    if (|rest[3:2]) begin top_bit[1] = 1'b1; rest = rest >> 2; end
    top_bit[0] = rest[1];
  endfunction

  // x >> n, with bit 0 set where anything was lost.
  function automatic logic [63:0] shift_jam(logic [63:0] x, logic signed [12:0] n);
    if (n > 13'sd63) return {63'd0, x != 0};
    return (x >> n[5:0]) | {63'd0, (x & ((64'd1 << n[5:0]) - 64'd1)) != 0};
  endfunction

  // float32 of (-1)^sign * mag * 2^exp, to nearest even, subnormals kept; mag = 0 gives +0.
  function automatic logic [31:0] round_fp32(logic sign, logic [63:0] mag, logic signed [12:0] exp);
    logic signed [12:0] lsb, drop;
    logic [63:0] kept, rest, half;
    if (mag == 0) return 32'd0;
    lsb = exp + 13'(signed'({1'b0, top_bit(mag)})) - 13'sd23;
    if (lsb < -13'sd149) lsb = -13'sd149;
    drop = lsb - exp;
    if (drop > 13'sd64) return {sign, 31'd0};
    if (drop <= 0) begin
      kept = mag << 6'(-drop);
    end else begin
      half = 64'd1 << 6'(drop - 13'sd1);
      rest = mag & (half | (half - 64'd1));
      kept = drop == 13'sd64 ? 64'd0 : mag >> drop[5:0];
      if (rest > half || (rest == half && kept[0])) kept = kept + 64'd1;
    end
    if (kept[24]) begin
      kept = kept >> 1;
      lsb  = lsb + 13'sd1;
    end
    if (!kept[23]) return {sign, 8'd0, kept[22:0]};
    if (lsb > 13'sd104) return {sign, 8'hFF, 23'd0};
    return {sign, 8'(lsb + 13'sd150), kept[22:0]};
  endfunction

  // A finite number before rounding: (-1)^sign * mag * 2^exp; bit 0 of mag may stand for anything below it.
  typedef struct packed {
    logic               sign;
    logic        [63:0] mag;
    logic signed [12:0] exp;
  } sum_t;

  // a + (-1)^sign * mag * 2^exp; a finite, mag < 2^62.
  function automatic sum_t sum_exact(logic [31:0] a, logic sign, logic [61:0] mag, logic signed [12:0] exp);
    logic [63:0] x, y;
    logic [5:0] up;
    logic signed [12:0] a_exp, p_exp, d, base;
    x = {40'd0, a[30:23] != 0, a[22:0]};
    a_exp = 13'(signed'({1'b0, a[30:23] != 0 ? a[30:23] : 8'd1})) - 13'sd150;
    if (mag == 0) return '{sign: a[31], mag: x, exp: a_exp};
    up = 6'd61 - top_bit({2'd0, mag});
    y = {2'd0, mag} << up;
    p_exp = exp - 13'(signed'({1'b0, up}));
    d = a_exp - p_exp;
    base = p_exp;
    if (d > 13'sd39) begin
      x = x << 38;
      y = shift_jam(y, d - 13'sd38);
      base = a_exp - 13'sd38;
    end else if (d >= 0) begin
      x = x << d[5:0];
    end else begin
      x = shift_jam(x, -d);
    end
    if (a[31] == sign) return '{sign: sign, mag: x + y, exp: base};
    if (x >= y) return '{sign: a[31], mag: x - y, exp: base};
    return '{sign: sign, mag: y - x, exp: base};
  endfunction

  // The sum rounded once to float32; exactly zero is +0.
  function automatic logic [31:0] add_exact(logic [31:0] a, logic sign, logic [61:0] mag, logic signed [12:0] exp);
    sum_t sum;
    sum = sum_exact(a, sign, mag, exp);
    return round_fp32(sum.sign, sum.mag, sum.exp);
  endfunction

  // float32 a + b, to nearest even; every NaN result is QNAN.
  function automatic logic [31:0] fp32_add(logic [31:0] a, logic [31:0] b);
    logic a_inf, b_inf;
    a_inf = a[30:0] == 31'h7F80_0000;
    b_inf = b[30:0] == 31'h7F80_0000;
    if (a[30:0] > 31'h7F80_0000 || b[30:0] > 31'h7F80_0000 || (a_inf && b_inf && a[31] != b[31])) return QNAN;
    if (a_inf) return a;
    if (b_inf) return b;
    if (a == 32'h8000_0000 && b == 32'h8000_0000) return a;
    return add_exact(a, b[31], {38'd0, b[30:23] != 0, b[22:0]},
                     13'(signed'({1'b0, b[30:23] != 0 ? b[30:23] : 8'd1})) - 13'sd150);
  endfunction
endpackage
// verilator lint_on UNUSEDPARAM
