// Front of an engine: holds the instruction that runs and the one behind it, and runs WAIT and SIGNAL, the same in every
// engine. Latency 1; one instruction a cycle. Twin: csim/common/engine_front.h.
module engine_front (
    input  logic            clk_i,
    input  logic            rst_ni,
    // instructions, in order
    input  logic            instr_valid_i,
    input  isa_pkg::instr_t instr_i,
    output logic            instr_ready_o,
    // semaphores: wait holds until granted, signal is always taken
    output logic            wait_valid_o,
    output logic [4:0]      wait_sem_o,
    output logic [7:0]      wait_count_o,
    input  logic            wait_gnt_i,
    output logic            signal_valid_o,
    output logic [4:0]      signal_sem_o,
    output logic [7:0]      signal_count_o,
    // the engine: an instruction of its own runs; it ends in this cycle; everything before a SIGNAL is final
    output logic            work_valid_o,
    output isa_pkg::instr_t work_o,
    input  logic            done_i,
    input  logic            quiet_i,
    // an instruction is here; a SIGNAL waits or fires; a WAIT or SIGNAL ends in this cycle
    output logic            busy_o,
    output logic            signals_o,
    output logic            passed_o
);
  logic cur_valid_q, nxt_valid_q, is_wait, is_signal, accept, advance, cur_free;
  isa_pkg::instr_t cur_q, nxt_q;

  assign is_wait        = cur_valid_q && cur_q.op == isa_pkg::OP_WAIT;
  assign is_signal      = cur_valid_q && cur_q.op == isa_pkg::OP_SIGNAL;
  assign wait_valid_o   = is_wait;
  assign wait_sem_o     = cur_q.sem;
  assign wait_count_o   = cur_q.count;
  assign signal_valid_o = is_signal && quiet_i;
  assign signal_sem_o   = cur_q.sem;
  assign signal_count_o = cur_q.count;
  assign work_valid_o   = cur_valid_q && !is_wait && !is_signal;
  assign work_o         = cur_q;
  assign busy_o         = cur_valid_q || nxt_valid_q;
  assign signals_o      = is_signal;
  assign passed_o       = (is_wait && wait_gnt_i) || signal_valid_o;
  assign instr_ready_o  = !nxt_valid_q;
  assign accept         = instr_valid_i && instr_ready_o;
  assign advance        = passed_o || (work_valid_o && done_i);
  assign cur_free       = !cur_valid_q || advance;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cur_valid_q <= 1'b0;
      nxt_valid_q <= 1'b0;
    end else begin
      if (cur_free) cur_valid_q <= nxt_valid_q || accept;
      nxt_valid_q <= (nxt_valid_q || accept) && !cur_free;
    end
    if (accept && !cur_free) nxt_q <= instr_i;
    if (cur_free && nxt_valid_q) cur_q <= nxt_q;
    else if (cur_free && accept) cur_q <= instr_i;
  end
endmodule
