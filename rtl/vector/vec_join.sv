// Partial results of a reduction: step i of a group joins partial i % 4 (an adder's latency apart), then partial 1 joins
// 0, 3 joins 2, 2 joins 0, and the lanes join those at distance 1, 2, 4. Partials begin at the operation's neutral value.
// The order is fixed, so results are the same bits for the same number of steps. The joining enters the lanes in six of
// 18 cycles, from the one after the last step's result. Twin: csim/vector/vec_join.
module vec_join
  import vec_pkg::*;
(
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     largest_i,    // neutral is -infinity, otherwise -0
    input  logic     clear_i,      // a group's first step enters the lanes in the next cycle
    input  logic [1:0] part_i,     // partial that the step now entering joins
    output lanes_t   partial_o,
    // results of the lanes
    input  logic     result_i,
    // addresses are not looked at
    // verilator lint_off UNUSEDSIGNAL
    input  step_t    step_i,
    // verilator lint_on UNUSEDSIGNAL
    input  lanes_t   lanes_i,
    // a joining enters the lanes: a and b of them
    output logic     join_valid_o,
    output step_t    join_o,       // its part, tail and final_join
    output lanes_t   join_a_o,
    output lanes_t   join_b_o,
    output logic     release_o     // the next group's first step may be issued in the next cycle
);
  localparam logic [4:0] Last = 5'd17;

  lanes_t [3:0] partial_q;
  logic         active_q;
  logic [4:0]   count_q;

  assign partial_o = partial_q[part_i];
  assign release_o = active_q && count_q == Last - 5'd2;

  always_comb begin
    join_valid_o = 1'b0;
    join_o       = '0;
    join_a_o     = '0;
    join_b_o     = '0;
    if (active_q) begin
      join_a_o = partial_q[0];
      unique case (count_q)
        5'd0:  {join_valid_o, join_b_o} = {1'b1, partial_q[1]};
        5'd1: begin
          join_valid_o = 1'b1;
          join_o.part  = 2'd2;
          join_a_o     = partial_q[2];
          join_b_o     = partial_q[3];
        end
        5'd5:  {join_valid_o, join_b_o} = {1'b1, partial_q[2]};
        5'd9:  {join_valid_o, join_b_o} = {1'b1, swap(partial_q[0], 3'd1)};
        5'd13: {join_valid_o, join_b_o} = {1'b1, swap(partial_q[0], 3'd2)};
        Last:  {join_valid_o, join_b_o} = {1'b1, swap(partial_q[0], 3'd4)};
        default: ;
      endcase
      join_o.tail       = join_valid_o;
      join_o.final_join = count_q == Last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= 1'b0;
    end else begin
      if (result_i && step_i.last && !step_i.tail) active_q <= 1'b1;
      else if (count_q == Last) active_q <= 1'b0;
    end
    count_q <= active_q && count_q != Last ? count_q + 5'd1 : '0;
    if (clear_i) partial_q <= {4 * LANES{largest_i ? 32'hFF80_0000 : 32'h8000_0000}};
    else if (result_i && !step_i.final_join) partial_q[step_i.part] <= lanes_i;
  end
endmodule
