// Steps of a vector instruction: loops outer, lines, segs, rows and the three operands' addresses, as
// isa_pkg::vec_instr_t says. load_i sets the first step; step_i goes to the next, in one cycle. Twin: csim/vector/vec_walk.
module vec_walk
  import isa_pkg::*;
(
    input  logic              clk_i,
    input  logic              load_i,
    // op, engine and arg are the engine's
    // verilator lint_off UNUSEDSIGNAL
    input  vec_instr_t        instr_i,       // holds while it runs
    // verilator lint_on UNUSEDSIGNAL
    input  logic              quant_i,       // b walks scale rows
    input  logic              step_i,
    output logic [2:0][15:0]  addr_o,        // of a, b, c
    output logic              first_o,       // of its group
    output logic              group_last_o,
    output logic              last_o,
    output logic              scale_due_o,   // this group fills a scale row
    output logic [4:0]        byte_o
);
  operand_t [2:0]         operand;
  logic     [2:0][15:0]   base_q, line_q, seg_q, span_q;
  logic     [15:0]        o_q, l_q;
  logic     [7:0]         s_q, r_q;
  logic                   row_last, seg_last, line_last;
  logic     [2:0]         line_steps;

  assign operand      = {instr_i.c, instr_i.b, instr_i.a};
  assign row_last     = r_q == instr_i.rows - 8'd1;
  assign seg_last     = s_q == instr_i.segs - 8'd1;
  assign line_last    = l_q == instr_i.lines - 16'd1;
  assign first_o      = r_q == '0 && s_q == '0;
  assign group_last_o = row_last && seg_last;
  assign last_o       = group_last_o && line_last && o_q == instr_i.outer - 16'd1;
  assign scale_due_o  = l_q[4:0] == 5'd31 || line_last;
  assign byte_o       = l_q[4:0];
  assign line_steps   = {1'b1, !quant_i || l_q[4:0] == 5'd31, 1'b1};

  always_comb for (int x = 0; x < 3; x++) addr_o[x] = operand[x].wide ? seg_q[x] + 16'(r_q) : line_q[x];

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      o_q <= '0;
      l_q <= '0;
      s_q <= '0;
      r_q <= '0;
    end else if (step_i) begin
      r_q <= row_last ? '0 : r_q + 8'd1;
      if (row_last) s_q <= seg_last ? '0 : s_q + 8'd1;
      if (group_last_o) l_q <= line_last ? '0 : l_q + 16'd1;
      if (group_last_o && line_last) o_q <= o_q + 16'd1;
    end
    for (int x = 0; x < 3; x++) begin
      if (load_i) begin
        base_q[x] <= operand[x].addr;
        line_q[x] <= operand[x].addr;
        seg_q[x]  <= operand[x].addr;
        span_q[x] <= operand[x].wide ? 16'(instr_i.segs) * operand[x].seg : operand[x].seg;
      end else if (step_i && group_last_o && line_last) begin
        base_q[x] <= base_q[x] + span_q[x];
        line_q[x] <= base_q[x] + span_q[x];
        seg_q[x]  <= base_q[x] + span_q[x];
      end else if (step_i && group_last_o) begin
        if (line_steps[x]) line_q[x] <= line_q[x] + operand[x].line;
        seg_q[x] <= line_q[x] + operand[x].line;
      end else if (step_i && row_last) begin
        seg_q[x] <= seg_q[x] + operand[x].seg;
      end
    end
  end
endmodule
