// Queue of instructions in front of an engine: first in, first out, QUEUE_DEPTH deep. Latency 1, throughput 1 a cycle;
// both handshakes are functions of the state. Twin: csim/tile/tile_queue.
`include "chk.svh"
module tile_queue #(
    parameter int Depth = cfg_pkg::QUEUE_DEPTH,
    localparam int IdxBits = Depth > 1 ? $clog2(Depth) : 1,
    localparam int CntBits = $clog2(Depth + 1)
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    // from the sequencer: valid, ready, data
    input  logic            in_valid_i,
    input  isa_pkg::instr_t in_instr_i,
    output logic            in_ready_o,
    // to the engine: valid, ready, data
    output logic            out_valid_o,
    output isa_pkg::instr_t out_instr_o,
    input  logic            out_ready_i
);
  isa_pkg::instr_t    mem       [Depth];
  logic [IdxBits-1:0] rd_d, rd_q, wr_d, wr_q;
  logic [CntBits-1:0] count_d, count_q;
  logic               push, pop;

  function automatic logic [IdxBits-1:0] next(logic [IdxBits-1:0] idx);
    return idx == IdxBits'(Depth - 1) ? '0 : idx + 1'b1;
  endfunction

  assign in_ready_o  = count_q != CntBits'(Depth);
  assign out_valid_o = count_q != '0;
  assign out_instr_o = mem[rd_q];

  always_comb begin
    push        = in_valid_i && in_ready_o;
    pop         = out_valid_o && out_ready_i;
    wr_d        = push ? next(wr_q) : wr_q;
    rd_d        = pop ? next(rd_q) : rd_q;
    count_d     = count_q + CntBits'(push) - CntBits'(pop);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_q    <= '0;
      wr_q    <= '0;
      count_q <= '0;
    end else begin
      rd_q    <= rd_d;
      wr_q    <= wr_d;
      count_q <= count_d;
    end
  end
  always_ff @(posedge clk_i) if (push) mem[wr_q] <= in_instr_i;

  // an offered instruction stays until it is taken
  logic waits_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waits_q <= 1'b0;
    else waits_q <= in_valid_i && !in_ready_o;
  end
  `CHK(OfferHolds, !waits_q || in_valid_i)
  `CHK(CountInRange, count_q <= CntBits'(Depth))
endmodule
