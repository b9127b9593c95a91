// Semaphores of a tile: NUM_SEMS values of 8 bits. A WAIT is granted in its cycle where the value is at least its count,
// which is then taken off; where engines wait for one semaphore, only the lowest of them is considered. A SIGNAL is always
// taken and seen in the next cycle; a value above 255 stays 255 and sets error_o, which is sticky. A semaphore that does not
// exist is never granted, keeps nothing, and sets error_o too. Twin: csim/tile/tile_sems.
`include "chk.svh"
module tile_sems #(
    parameter int NumSems = cfg_pkg::NUM_SEMS,
    parameter int Engines = isa_pkg::NUM_ENGINES
) (
    input  logic                    clk_i,
    input  logic                    rst_ni,
    // WAIT of each engine: held until granted; the grant comes in the same cycle
    input  logic [Engines-1:0]      wait_valid_i,
    input  logic [Engines-1:0][4:0] wait_sem_i,
    input  logic [Engines-1:0][7:0] wait_count_i,
    output logic [Engines-1:0]      wait_gnt_o,
    // SIGNAL of each engine: always taken
    input  logic [Engines-1:0]      signal_valid_i,
    input  logic [Engines-1:0][4:0] signal_sem_i,
    input  logic [Engines-1:0][7:0] signal_count_i,
    output logic                    error_o
);
  logic [31:0][7:0] value_d, value_q;  // those from NumSems on stay 0
  logic [31:0]      claimed;           // by a lower engine
  logic             error_d, error_q;
  logic [8:0]       sum;

  always_comb begin
    value_d    = value_q;
    error_d    = error_q;
    wait_gnt_o = '0;
    claimed    = '0;
    sum        = '0;
    if (wait_valid_i != '0) begin
      for (int e = 0; e < Engines; e++) begin
        if (wait_valid_i[e]) begin
          if (32'(wait_sem_i[e]) >= NumSems) error_d = 1'b1;
          else if (!claimed[wait_sem_i[e]] && value_q[wait_sem_i[e]] >= wait_count_i[e]) begin
            wait_gnt_o[e] = 1'b1;
            value_d[wait_sem_i[e]] = value_q[wait_sem_i[e]] - wait_count_i[e];
          end
          claimed[wait_sem_i[e]] = 1'b1;
        end
      end
    end
    if (signal_valid_i != '0) begin
      for (int e = 0; e < Engines; e++) begin
        if (signal_valid_i[e]) begin
          sum = 9'(value_d[signal_sem_i[e]]) + 9'(signal_count_i[e]);
          if (32'(signal_sem_i[e]) >= NumSems) error_d = 1'b1;
          else value_d[signal_sem_i[e]] = sum[8] ? 8'hFF : sum[7:0];
          if (sum[8]) error_d = 1'b1;
        end
      end
    end
  end

  assign error_o = error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      value_q <= '0;
      error_q <= 1'b0;
    end else begin
      value_q <= value_d;
      error_q <= error_d;
    end
  end

  // a WAIT holds until granted
  logic [Engines-1:0] waits_q, holds;
  logic [Engines-1:0][12:0] asked_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni ? wait_valid_i & ~wait_gnt_o : '0;
    for (int e = 0; e < Engines; e++) if (wait_valid_i[e]) asked_q[e] <= {wait_sem_i[e], wait_count_i[e]};
  end
  always_comb begin
    for (int e = 0; e < Engines; e++)
      holds[e] = !waits_q[e] || (wait_valid_i[e] && asked_q[e] == {wait_sem_i[e], wait_count_i[e]});
  end
  `CHK(WaitHolds, &holds)
endmodule
