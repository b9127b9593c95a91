// Round-robin arbiter: grants one of the requests, the next one after the last granted in ascending order, cyclically.
// Latency 0; with all requests held, each input is granted once in N cycles. Twin: csim/common/rr_arbiter.
`include "chk.svh"
module rr_arbiter #(
    parameter int N = 4,
    localparam int IdxBits = N > 1 ? $clog2(N) : 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    // requests; idx_o is the one chosen, meaningful while valid_o
    input  logic [N-1:0]       req_i,
    output logic               valid_o,
    output logic [IdxBits-1:0] idx_o,
    // the choice is used: priority moves behind it
    input  logic               take_i
);
  logic [IdxBits-1:0] last_d, last_q;

  always_comb begin
    idx_o = '0;
    for (int i = N - 1; i >= 0; i--) if (req_i[i]) idx_o = IdxBits'(i);
    for (int i = N - 1; i >= 0; i--) if (req_i[i] && i > int'(last_q)) idx_o = IdxBits'(i);
    valid_o = |req_i;
    last_d  = valid_o && take_i ? idx_o : last_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) last_q <= IdxBits'(N - 1);
    else last_q <= last_d;
  end

  `CHK(GrantIsRequested, !valid_o || req_i[idx_o])
endmodule
