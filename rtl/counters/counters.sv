// Activity counters of a tile: NUM_EVENTS counters of Width bits that saturate and then keep a sticky flag. snapshot_i
// copies all of them and the flags in one edge, clear_i sets them to zero. Both act on the events of the cycles before;
// the events of their own cycle count on the new side: not in the snapshot, but in the counters behind it, cleared or not.
// So snapshot_i with clear_i in one cycle cuts time into windows and loses nothing. Twin: csim/counters/counters.
`include "chk.svh"
module counters #(
    parameter int Width = 48
) (
    input  logic                                           clk_i,
    input  logic                                           rst_ni,
    // increments of this cycle
    input  events_pkg::tile_events_t                       events_i,
    // pulses
    input  logic                                           snapshot_i,
    input  logic                                           clear_i,
    // counters and saturation flags as of the last snapshot
    output logic [events_pkg::NUM_EVENTS-1:0][Width-1:0]   snap_o,
    output logic [events_pkg::NUM_EVENTS-1:0]              snap_sticky_o
);
  import events_pkg::*;
  localparam int SumBits = (Width > INC_BITS ? Width : INC_BITS) + 1;
  localparam logic [Width-1:0] MAX = '1;

  logic [NUM_EVENTS-1:0][INC_BITS-1:0] inc;
  logic [Width-1:0]                    count_q [NUM_EVENTS];
  logic [NUM_EVENTS-1:0]               sticky_q;

  assign inc = flatten(events_i);

  function automatic logic [SumBits-1:0] sum(logic [Width-1:0] count, logic [INC_BITS-1:0] add);
    return SumBits'(count) + SumBits'(add);
  endfunction

  for (genvar e = 0; e < NUM_EVENTS; e++) begin : gen_counter
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        count_q[e]  <= '0;
        sticky_q[e] <= 1'b0;
      end else if (clear_i || inc[e] != '0) begin
        if (sum(clear_i ? '0 : count_q[e], inc[e]) > SumBits'(MAX)) begin
          count_q[e]  <= MAX;
          sticky_q[e] <= 1'b1;
        end else begin
          count_q[e] <= Width'(sum(clear_i ? '0 : count_q[e], inc[e]));
          if (clear_i) sticky_q[e] <= 1'b0;
        end
      end
      if (!rst_ni) snap_o[e] <= '0;
      else if (snapshot_i) snap_o[e] <= count_q[e];
    end
    `CHK(StickyMeansFull, !sticky_q[e] || count_q[e] == MAX)
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) snap_sticky_o <= '0;
    else if (snapshot_i) snap_sticky_o <= sticky_q;
  end
endmodule
