// Sequencer: runs the program in its instruction memory. start_i reads instruction 0; from the next cycle on one
// instruction is dispatched to its engine's queue each cycle, in order, and waits while that queue is full. OP_END ends
// the program. An unknown engine and a last row that is not END end it with an error. Twin: csim/tile/tile_seq.
`include "chk.svh"
module tile_seq #(
    parameter int Rows = cfg_pkg::IMEM_ROWS,
    localparam int AddrBits = $clog2(Rows)
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    // host: writes rows of the instruction memory while the program does not run, and starts it
    input  logic                            imem_we_i,
    input  logic [AddrBits-1:0]             imem_addr_i,
    input  isa_pkg::instr_t                 imem_wdata_i,
    input  logic                            start_i,
    output logic                            running_o,
    output logic                            error_o,       // sticky
    // one valid and ready per engine's queue, one instruction for all
    output logic [isa_pkg::NUM_ENGINES-1:0] instr_valid_o,
    output isa_pkg::instr_t                 instr_o,
    input  logic [isa_pkg::NUM_ENGINES-1:0] instr_ready_i,
    output events_pkg::seq_events_t         events_o
);
  import isa_pkg::*;

  instr_t              imem     [Rows];
  instr_t              instr_q;
  logic [AddrBits-1:0] pc_d, pc_q;  // of instr_q
  logic                running_d, running_q, error_d, error_q, legal, taken, read;

  always_comb begin
    instr_o       = instr_q;
    instr_valid_o = '0;
    legal         = int'(instr_q.engine) < NUM_ENGINES;
    taken         = 1'b0;
    running_d     = running_q;
    error_d       = error_q;
    pc_d          = pc_q;
    if (running_q) begin
      if (instr_q.op == OP_END || !legal) begin
        taken     = 1'b1;
        running_d = 1'b0;
        error_d   = error_q || instr_q.op != OP_END;
      end else begin
        instr_valid_o[instr_q.engine] = 1'b1;
        taken = instr_ready_i[instr_q.engine];
        if (taken && pc_q == AddrBits'(Rows - 1)) begin
          running_d = 1'b0;
          error_d   = 1'b1;
        end
      end
      if (taken) pc_d = pc_q + 1'b1;
    end
    if (start_i) begin
      running_d = 1'b1;
      pc_d      = '0;
    end
    read                 = start_i || (taken && running_d);
    running_o            = running_q;
    error_o              = error_q;
    events_o.busy        = taken;
    events_o.stall_queue = running_q && !taken;
    events_o.idle        = !running_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      error_q   <= 1'b0;
      pc_q      <= '0;
    end else begin
      running_q <= running_d;
      error_q   <= error_d;
      pc_q      <= pc_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (imem_we_i) imem[imem_addr_i] <= imem_wdata_i;
    if (read) instr_q <= imem[pc_d];
  end

  `CHK(HostWritesWhileIdle, !imem_we_i || !(running_q || start_i))
  `CHK(StartsWhileIdle, !start_i || !running_q)
endmodule
