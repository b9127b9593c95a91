// MAC array: a double-buffered block of 32 x COLS weights, COLS block dot products a cycle, float32 accumulators
// [2][ROWS][COLS]. A row taken in cycle t is decoded into the operand register at its end, meets the weights in t + 1,
// the scales in t + 2, and its accumulators are written at the end of t + 3 (read-modify-write in one cycle, so the same
// accumulator row may come in every cycle). Weights loaded in cycle t serve rows taken in t or later; weight scales of a
// block must not change before the cycle after its last row was taken. Throughput: one row and one weight row a cycle.
// One column's products and running sum are scratch variables of one block: so written it simulates fastest.
// The sum is exact and needs no alignment to the largest product where neither format is E5M2 or BF16 (28 bits span all
// their products); otherwise products are aligned to the largest exponent and cut ALIGN_BITS below it, toward zero.
// Twin: csim/matmul/matmul_array.
`include "chk.svh"
module matmul_array
  import num_pkg::*;
#(
    localparam int Cols = cfg_pkg::COLS,
    localparam int Rows = cfg_pkg::ROWS,
    localparam int Align = cfg_pkg::ALIGN_BITS,
    localparam int IdxBits = $clog2(Rows),
    localparam int PartBits = Cols > 8 ? $clog2(Cols / 8) : 1,
    localparam int LoadBits = $clog2(2 * Cols),
    localparam int ColBits = $clog2(Cols)
) (
    input  logic                       clk_i,
    input  logic                       rst_ni,
    // weights, one SRAM row a cycle
    input  logic                       wl_valid_i,
    input  logic                       wl_bank_i,
    input  logic        [LoadBits-1:0] wl_row_i,
    input  isa_pkg::fmt_t              wl_fmt_i,
    input  logic        [255:0]        wl_data_i,
    // weight scales of a block; E8M0 in the low 8 bits
    input  logic                       ws_valid_i,
    input  logic                       ws_bank_i,
    input  isa_pkg::scale_t            ws_fmt_i,
    input  logic [Cols-1:0][15:0]      ws_data_i,
    // activation rows
    input  logic                       row_valid_i,
    input  logic                       row_wbank_i,
    input  isa_pkg::fmt_t              row_fmt_i,
    input  logic        [511:0]        row_data_i,
    input  isa_pkg::scale_t            row_scale_fmt_i,
    input  logic        [7:0]          row_scale_i,
    input  logic                       row_acc_bank_i,
    input  logic        [IdxBits-1:0]  row_idx_i,
    input  logic                       row_first_i,     // start from 0 instead of the stored accumulators
    output logic                       busy_o,
    output logic        [1:0]          acc_busy_o,
    // accumulators: combinational read, and initial values eight at a time
    input  logic                       rd_bank_i,
    input  logic        [IdxBits-1:0]  rd_idx_i,
    output logic [Cols-1:0][31:0]      rd_data_o,
    input  logic                       ini_valid_i,
    input  logic                       ini_bank_i,
    input  logic        [IdxBits-1:0]  ini_idx_i,
    input  logic        [PartBits-1:0] ini_part_i,
    input  logic        [255:0]        ini_data_i,
    // events
    output logic        [5:0]          zero_operands_o,
    output logic        [9:0]          a_toggles_o,
    output logic        [9:0]          w_toggles_o,
    output logic        [15:0]         acc_toggles_o,
    output logic                       gated_o
);
  typedef struct packed {
    logic               valid;
    logic               bank;   // of the accumulators
    logic [IdxBits-1:0] idx;
    logic               first;
  } slot_t;

  function automatic logic is_wide(isa_pkg::fmt_t fmt);
    return Align < 28 || fmt == isa_pkg::FMT_E5M2 || fmt == isa_pkg::FMT_BF16;
  endfunction

  // An element in the form the multipliers take: sig * 2^(least_exp(fmt) + sh). sig has 9 bits; their sign extension and
  // the zeros fill words, so that simulation takes them whole; synthesis merges and drops them.
  typedef struct packed {
    logic signed [15:0] sig;
    logic [5:0]         zero;
    logic               is_nan;
    logic               is_inf;
    logic [7:0]         sh;
  } operand_t;
  typedef operand_t [BLOCK-1:0] vector_t;

  function automatic operand_t operand(isa_pkg::fmt_t fmt, logic [15:0] code);
    elem_t e;
    e = decode(fmt, code);
    return '{sig: e.sign ? -16'(e.mag) : 16'(e.mag), zero: '0, is_nan: e.is_nan, is_inf: e.is_inf,
             sh: 8'(e.exp - least_exp(fmt))};
  endfunction

  function automatic logic any_odd(vector_t v);
    any_odd = 1'b0;
    for (int k = 0; k < BLOCK; k++) any_odd |= v[k].is_nan | v[k].is_inf;
  endfunction

  // {NaN, +infinity, -infinity} as one product gives it
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [2:0] special(operand_t a, operand_t w);
    if (a.is_nan || w.is_nan || (a.is_inf && !w.is_inf && w.sig == 0) || (w.is_inf && !a.is_inf && a.sig == 0))
      return 3'b100;
    if (a.is_inf || w.is_inf) return a.sig[15] == w.sig[15] ? 3'b010 : 3'b001;
    return 3'b000;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- weights, decoded when they are loaded
  vector_t                w_q     [2*Cols];  // {bank, column}
  logic [2*Cols-1:0]      w_odd_q;           // a NaN or an infinity among them
  isa_pkg::fmt_t          w_fmt_q [2];
  isa_pkg::scale_t        ws_fmt_q[2];
  logic [Cols-1:0][15:0]  ws_q    [2];
  logic [255:0]           w_last_q;
  vector_t                load_lo, load_hi;  // the SRAM row as elements; 4 bit: two columns

  always_comb begin
    load_lo = '0;
    load_hi = '0;
    if (wl_valid_i) begin
      for (int k = 0; k < BLOCK; k++) begin
        unique case (wl_fmt_i)
          isa_pkg::FMT_E2M1, isa_pkg::FMT_INT4: begin
            load_lo[k] = operand(wl_fmt_i, {12'd0, wl_data_i[4*k+:4]});
            load_hi[k] = operand(wl_fmt_i, {12'd0, wl_data_i[128+4*k+:4]});
          end
          isa_pkg::FMT_BF16: load_lo[k] = operand(wl_fmt_i, wl_data_i[16*(k%16)+:16]);
          default:           load_lo[k] = operand(wl_fmt_i, {8'd0, wl_data_i[8*k+:8]});
        endcase
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_last_q <= '0;
    end else if (wl_valid_i) begin
      w_last_q           <= wl_data_i;
      w_fmt_q[wl_bank_i] <= wl_fmt_i;
      if (wl_fmt_i == isa_pkg::FMT_E2M1 || wl_fmt_i == isa_pkg::FMT_INT4) begin
        w_q[{wl_bank_i, wl_row_i[LoadBits-3:0], 1'b0}] <= load_lo;
        w_q[{wl_bank_i, wl_row_i[LoadBits-3:0], 1'b1}] <= load_hi;
        w_odd_q[{wl_bank_i, wl_row_i[LoadBits-3:0], 1'b0}+:2] <= 2'b00;
      end else if (wl_fmt_i == isa_pkg::FMT_BF16) begin
        if (wl_row_i[0]) begin
          w_q[{wl_bank_i, wl_row_i[LoadBits-1:1]}][BLOCK-1:16] <= load_lo[BLOCK-1:16];
          w_odd_q[{wl_bank_i, wl_row_i[LoadBits-1:1]}] <= w_odd_q[{wl_bank_i, wl_row_i[LoadBits-1:1]}] | any_odd(load_lo);
        end else begin
          w_q[{wl_bank_i, wl_row_i[LoadBits-1:1]}][15:0] <= load_lo[15:0];
          w_odd_q[{wl_bank_i, wl_row_i[LoadBits-1:1]}] <= any_odd(load_lo);
        end
      end else begin
        w_q[{wl_bank_i, wl_row_i[LoadBits-2:0]}] <= load_lo;
        w_odd_q[{wl_bank_i, wl_row_i[LoadBits-2:0]}] <= any_odd(load_lo);
      end
    end
    if (ws_valid_i) begin
      ws_fmt_q[ws_bank_i] <= ws_fmt_i;
      ws_q[ws_bank_i]     <= ws_data_i;
    end
  end

  // ---- stage 0: the operand register
  slot_t           s0_q;
  vector_t         a_d, a_q;
  logic            a_odd_q;
  isa_pkg::fmt_t   s0_fmt_q;
  logic            s0_wbank_q;
  elem_t           s0_scale_q;
  logic [511:0]    a_last_q;

  always_comb begin
    zero_operands_o = '0;
    if (row_valid_i) begin
      for (int k = 0; k < BLOCK; k++) begin
        unique case (row_fmt_i)
          isa_pkg::FMT_E2M1: zero_operands_o += 6'(row_data_i[4*k+:3] == 0);
          isa_pkg::FMT_INT4: zero_operands_o += 6'(row_data_i[4*k+:4] == 0);
          isa_pkg::FMT_INT8: zero_operands_o += 6'(row_data_i[8*k+:8] == 0);
          isa_pkg::FMT_BF16: zero_operands_o += 6'(row_data_i[16*k+:15] == 0);
          default:           zero_operands_o += 6'(row_data_i[8*k+:7] == 0);
        endcase
      end
    end
    a_d = '0;
    if (row_valid_i) begin
      for (int k = 0; k < BLOCK; k++) begin
        unique case (row_fmt_i)
          isa_pkg::FMT_E2M1, isa_pkg::FMT_INT4: a_d[k] = operand(row_fmt_i, {12'd0, row_data_i[4*k+:4]});
          isa_pkg::FMT_BF16: a_d[k] = operand(row_fmt_i, row_data_i[16*k+:16]);
          default: a_d[k] = operand(row_fmt_i, {8'd0, row_data_i[8*k+:8]});
        endcase
      end
    end
    a_toggles_o = '0;
    w_toggles_o = '0;
    if (row_valid_i) a_toggles_o = 10'($countones(row_data_i ^ a_last_q));
    if (wl_valid_i) w_toggles_o = 10'($countones(wl_data_i ^ w_last_q));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s0_q     <= '0;
      a_last_q <= '0;
    end else begin
      s0_q.valid <= row_valid_i;
      if (row_valid_i) begin
        s0_q       <= '{valid: 1'b1, bank: row_acc_bank_i, idx: row_idx_i, first: row_first_i};
        a_last_q   <= row_data_i;
        s0_fmt_q   <= row_fmt_i;
        s0_wbank_q <= row_wbank_i;
        s0_scale_q <= decode_scale(row_scale_fmt_i, {8'd0, row_scale_i});
        a_q        <= a_d;
        a_odd_q    <= any_odd(a_d);
      end
    end
  end

  // ---- stage 1: products, alignment, exact sum
  slot_t              s1_q;
  logic signed [55:0] s1_sum_d [Cols], s1_sum_q [Cols];
  logic signed [10:0] s1_exp_d [Cols], s1_exp_q [Cols];
  logic [2:0]         s1_spec_d[Cols], s1_spec_q[Cols];  // nan, +inf, -inf
  logic [Cols-1:0][15:0] s1_ws_code_q;
  isa_pkg::scale_t    s1_ws_fmt_q;
  // a scale of activations is a power of two
  // verilator lint_off UNUSEDSIGNAL
  elem_t              s1_scale_q;
  // verilator lint_on UNUSEDSIGNAL

  logic wide;
  assign wide = is_wide(s0_fmt_q) || is_wide(w_fmt_q[s0_wbank_q]);

  // 64 and 32 bits wide, so that simulation need not cut them; 56 and 18 count
  vector_t            w;
  logic signed [63:0] sum, term;
  logic signed [31:0] product;
  logic [8:0]         top;      // of a column: the largest shift of a product that is not zero
  logic signed [10:0] shift;

  always_comb begin
    w = '0;
    sum = '0;
    term = '0;
    product = '0;
    top = '0;
    shift = '0;
    for (int c = 0; c < Cols; c++) begin
      s1_sum_d[c]  = '0;
      s1_exp_d[c]  = '0;
      s1_spec_d[c] = '0;
      if (s0_q.valid) begin
        w = w_q[{s0_wbank_q, ColBits'(c)}];
        sum = '0;
        s1_exp_d[c] = 11'(least_exp(s0_fmt_q)) + 11'(least_exp(w_fmt_q[s0_wbank_q]));
        if (a_odd_q || w_odd_q[{s0_wbank_q, ColBits'(c)}])
          for (int k = 0; k < BLOCK; k++) s1_spec_d[c] |= special(a_q[k], w[k]);
        if (wide) begin
          // one shift left by up to ALIGN_BITS + 16 and the low 16 bits dropped: what lies below the cut is gone
          top = '0;
          for (int k = 0; k < BLOCK; k++)
            if (a_q[k].sig != 0 && w[k].sig != 0 && 9'(a_q[k].sh) + 9'(w[k].sh) > top) top = 9'(a_q[k].sh) + 9'(w[k].sh);
          for (int k = 0; k < BLOCK; k++) begin
            product = 32'(a_q[k].sig) * 32'(w[k].sig);
            shift = 11'(a_q[k].sh) + 11'(w[k].sh) - 11'(top) + 11'(Align + 16);
            term = 64'((product < 0 ? -64'(product) : 64'(product)) << shift[5:0]) >> 16;
            if (shift > 0) sum = product < 0 ? sum - term : sum + term;
          end
          s1_exp_d[c] = s1_exp_d[c] + 11'(top) - 11'(Align);
        end else begin
          for (int k = 0; k < BLOCK; k++) begin
            product = 32'(a_q[k].sig) * 32'(w[k].sig);
            sum += 64'(product) <<< 5'(a_q[k].sh + w[k].sh);
          end
        end
        s1_sum_d[c] = 56'(sum);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_q <= '0;
    end else begin
      s1_q <= s0_q;
      if (s0_q.valid) begin
        s1_scale_q <= s0_scale_q;
        s1_sum_q     <= s1_sum_d;
        s1_exp_q     <= s1_exp_d;
        s1_spec_q    <= s1_spec_d;
        s1_ws_code_q <= ws_q[s0_wbank_q];
        s1_ws_fmt_q  <= ws_fmt_q[s0_wbank_q];
      end
    end
  end

  // ---- stage 2: scales
  slot_t              s2_q;
  elem_t              ws       [Cols];
  logic               s2_sign_d[Cols], s2_sign_q[Cols];
  logic [61:0]        s2_mag_d [Cols], s2_mag_q [Cols];
  logic signed [12:0] s2_exp_d [Cols], s2_exp_q [Cols];
  logic [2:0]         s2_spec_d[Cols], s2_spec_q[Cols];

  always_comb begin
    for (int c = 0; c < Cols; c++) begin
      ws[c] = '0;
      s2_sign_d[c] = '0;
      s2_mag_d[c]  = '0;
      s2_exp_d[c]  = '0;
      s2_spec_d[c] = '0;
      if (s1_q.valid) begin
        ws[c] = decode_scale(s1_ws_fmt_q, s1_ws_code_q[c]);
        s2_sign_d[c] = s1_sum_q[c][55] ^ ws[c].sign;
        s2_mag_d[c]  = 62'(magnitude(s1_sum_q[c])) * 62'(ws[c].mag);
        s2_exp_d[c]  = 13'(s1_exp_q[c]) + 13'(s1_scale_q.exp) + 13'(ws[c].exp);
        // a NaN anywhere, opposite infinities, an infinity times a scale of zero
        s2_spec_d[c][2] = s1_spec_q[c][2] || (&s1_spec_q[c][1:0]) || s1_scale_q.is_nan || ws[c].is_nan ||
                          ((|s1_spec_q[c][1:0]) && ws[c].mag == 0);
        s2_spec_d[c][1:0] = ws[c].sign ? {s1_spec_q[c][0], s1_spec_q[c][1]} : s1_spec_q[c][1:0];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s2_q <= '0;
    end else begin
      s2_q <= s1_q;
      if (s1_q.valid) begin
        s2_sign_q <= s2_sign_d;
        s2_mag_q  <= s2_mag_d;
        s2_exp_q  <= s2_exp_d;
        s2_spec_q <= s2_spec_d;
      end
    end
  end

  // ---- stage 3: accumulate
  logic [Cols-1:0][31:0] acc_q [2*Rows];
  logic [Cols-1:0][31:0] acc_d, base;

  always_comb begin
    base = '0;
    acc_d = '0;
    acc_toggles_o = '0;
    if (s2_q.valid) begin
      if (!s2_q.first) base = acc_q[{s2_q.bank, s2_q.idx}];
      for (int c = 0; c < Cols; c++) begin
        if (s2_spec_q[c][2] || base[c][30:0] > 31'h7F80_0000) acc_d[c] = QNAN;
        else if (base[c][30:0] == 31'h7F80_0000)
          acc_d[c] = (base[c][31] ? s2_spec_q[c][1] : s2_spec_q[c][0]) ? QNAN : base[c];
        else if (s2_spec_q[c][1:0] != 0) acc_d[c] = {s2_spec_q[c][0], 31'h7F80_0000};
        else acc_d[c] = add_exact(base[c], s2_sign_q[c], s2_mag_q[c], s2_exp_q[c]);
      end
      acc_toggles_o = 16'($countones(acc_d ^ base));
    end
  end

  always_ff @(posedge clk_i) begin
    if (s2_q.valid) acc_q[{s2_q.bank, s2_q.idx}] <= acc_d;
    if (ini_valid_i) acc_q[{ini_bank_i, ini_idx_i}][ini_part_i*8+:8] <= ini_data_i;
  end

  assign rd_data_o  = acc_q[{rd_bank_i, rd_idx_i}];
  assign busy_o     = s0_q.valid || s1_q.valid || s2_q.valid;
  assign acc_busy_o = {(s0_q.valid && s0_q.bank) || (s1_q.valid && s1_q.bank) || (s2_q.valid && s2_q.bank),
                       (s0_q.valid && !s0_q.bank) || (s1_q.valid && !s1_q.bank) || (s2_q.valid && !s2_q.bank)};
  assign gated_o    = !(busy_o || wl_valid_i || ws_valid_i || row_valid_i || ini_valid_i);
  `CHK(WeightRowInRange, !wl_valid_i || wl_fmt_i == isa_pkg::FMT_BF16 ||
       32'(wl_row_i) < (wl_fmt_i == isa_pkg::FMT_E2M1 || wl_fmt_i == isa_pkg::FMT_INT4 ? Cols / 2 : Cols))
  `CHK(FormatsAreKnown, (!wl_valid_i || wl_fmt_i <= isa_pkg::FMT_BF16) && (!row_valid_i || row_fmt_i <= isa_pkg::FMT_BF16))
  `CHK(ActivationScaleIsAPowerOfTwo, !row_valid_i || row_scale_fmt_i == isa_pkg::SCALE_NONE ||
       row_scale_fmt_i == isa_pkg::SCALE_E8M0)
  `CHK(OneWriterPerAccumulatorRow, !(ini_valid_i && s2_q.valid && ini_bank_i == s2_q.bank && ini_idx_i == s2_q.idx))
endmodule
