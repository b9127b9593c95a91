// Matmul engine of a tile: C[m][n] (+)= A[m][k] W[n][k] on blocks of 32 x COLS weights that stand still while rows of
// activations stream through. Throughput with all grants: max(rows, load) cycles a block, rows = M (BF16 activations 2 M),
// load = COLS/2, COLS or 2 COLS rows of 4-bit, 8-bit or BF16 weights. First row of an instruction that finds the engine
// idle: load + 2 cycles after the cycle that takes it. The array (matmul_array) says how long its pipeline is. A SIGNAL
// fires at the earliest in the cycle after the last result's grant. Twin: csim/matmul/matmul.
`include "chk.svh"
module matmul (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    // instructions of this engine, in order
    input  logic                        instr_valid_i,
    input  isa_pkg::instr_t             instr_i,
    output logic                        instr_ready_o,
    // SRAM ports in the order of mem_pkg::PORT_MM_*: activations, weights, scales, results
    output mem_pkg::mem_req_t [3:0]     mem_req_o,
    input  mem_pkg::mem_rsp_t [3:0]     mem_rsp_i,
    // semaphores: wait holds until granted, signal is always taken
    output logic                        wait_valid_o,
    output logic [4:0]                  wait_sem_o,
    output logic [7:0]                  wait_count_o,
    input  logic                        wait_gnt_i,
    output logic                        signal_valid_o,
    output logic [4:0]                  signal_sem_o,
    output logic [7:0]                  signal_count_o,
    // anything queued or in flight; an operand read was poisoned (sticky)
    output logic                        busy_o,
    output logic                        error_o,
    output events_pkg::matmul_events_t  events_o
);
  localparam int COLS = cfg_pkg::COLS;
  localparam int RowBits = $clog2(cfg_pkg::ROWS);
  localparam int PartBits = COLS > 8 ? $clog2(COLS / 8) : 1;
  localparam int LoadBits = $clog2(2 * COLS);

  logic push, push_half, row_valid, row_last, row_close, row_wbank, row_acc_bank, row_first, as_valid, as_pop;
  matmul_pkg::block_t [1:0] block;
  logic [1:0] loaded, ws_loaded, bank_ready, blocks, acc_busy;
  logic [7:0] drained, row_scale;
  logic wl_valid, wl_bank, ws_valid, ws_bank, rd_bank, ini_valid, ini_bank;
  logic [LoadBits-1:0] wl_row;
  isa_pkg::fmt_t wl_fmt, row_fmt;
  isa_pkg::scale_t ws_fmt, row_scale_fmt;
  logic [COLS-1:0][15:0] ws_data;
  logic [255:0] as_row;
  logic [511:0] row_data;
  logic [RowBits-1:0] row_idx, rd_idx, ini_idx;
  logic [PartBits-1:0] ini_part;
  logic [COLS-1:0][31:0] rd_data;
  logic stall_weights, stall_operand, stall_scale, stall_acc, drain_row, front_busy, drain_busy, array_busy, nothing;
  logic [15:0] mac_useful, acc_toggles;
  logic [5:0] zero_operands;
  logic [9:0] a_toggles, w_toggles;
  logic gated, error_q, poisoned;

  matmul_front u_front (
      .clk_i, .rst_ni, .instr_valid_i, .instr_i, .instr_ready_o,
      .wait_valid_o, .wait_sem_o, .wait_count_o, .wait_gnt_i, .signal_valid_o, .signal_sem_o, .signal_count_o,
      .req_o(mem_req_o[mem_pkg::PORT_MM_W]), .rsp_i(mem_rsp_i[mem_pkg::PORT_MM_W]),
      .wl_valid_o(wl_valid), .wl_bank_o(wl_bank), .wl_row_o(wl_row), .wl_fmt_o(wl_fmt),
      .push_o(push), .push_half_o(push_half), .block_o(block), .loaded_o(loaded),
      .blocks_i(blocks), .row_last_i(row_last), .drained_i(drained), .busy_o(front_busy)
  );

  matmul_scale u_scale (
      .clk_i, .rst_ni, .push_i(push), .push_half_i(push_half), .block_i(block),
      .req_o(mem_req_o[mem_pkg::PORT_MM_S]), .rsp_i(mem_rsp_i[mem_pkg::PORT_MM_S]),
      .ws_valid_o(ws_valid), .ws_bank_o(ws_bank), .ws_fmt_o(ws_fmt), .ws_data_o(ws_data), .ws_loaded_o(ws_loaded),
      .as_valid_o(as_valid), .as_row_o(as_row), .as_pop_i(as_pop)
  );

  matmul_stream u_stream (
      .clk_i, .rst_ni, .push_i(push), .block_i(block), .loaded_i(loaded), .ws_loaded_i(ws_loaded),
      .bank_ready_i(bank_ready), .blocks_o(blocks),
      .req_o(mem_req_o[mem_pkg::PORT_MM_A]), .rsp_i(mem_rsp_i[mem_pkg::PORT_MM_A]),
      .as_valid_i(as_valid), .as_row_i(as_row), .as_pop_o(as_pop),
      .row_valid_o(row_valid), .row_last_o(row_last), .row_close_o(row_close), .row_wbank_o(row_wbank), .row_fmt_o(row_fmt),
      .row_data_o(row_data), .row_scale_fmt_o(row_scale_fmt), .row_scale_o(row_scale), .row_acc_bank_o(row_acc_bank),
      .row_idx_o(row_idx), .row_first_o(row_first),
      .stall_weights_o(stall_weights), .stall_operand_o(stall_operand), .stall_scale_o(stall_scale),
      .stall_acc_o(stall_acc), .mac_useful_o(mac_useful)
  );

  matmul_drain u_drain (
      .clk_i, .rst_ni, .push_i(push), .block_i(block), .row_close_i(row_close), .row_bank_i(row_acc_bank),
      .req_o(mem_req_o[mem_pkg::PORT_MM_C]), .rsp_i(mem_rsp_i[mem_pkg::PORT_MM_C]),
      .acc_busy_i(acc_busy), .rd_bank_o(rd_bank), .rd_idx_o(rd_idx), .rd_data_i(rd_data),
      .ini_valid_o(ini_valid), .ini_bank_o(ini_bank), .ini_idx_o(ini_idx), .ini_part_o(ini_part),
      .bank_ready_o(bank_ready), .drained_o(drained), .drain_row_o(drain_row), .busy_o(drain_busy)
  );

  matmul_array u_array (
      .clk_i, .rst_ni,
      .wl_valid_i(wl_valid), .wl_bank_i(wl_bank), .wl_row_i(wl_row), .wl_fmt_i(wl_fmt),
      .wl_data_i(mem_rsp_i[mem_pkg::PORT_MM_W].rdata),
      .ws_valid_i(ws_valid), .ws_bank_i(ws_bank), .ws_fmt_i(ws_fmt), .ws_data_i(ws_data),
      .row_valid_i(row_valid), .row_wbank_i(row_wbank), .row_fmt_i(row_fmt), .row_data_i(row_data),
      .row_scale_fmt_i(row_scale_fmt), .row_scale_i(row_scale), .row_acc_bank_i(row_acc_bank), .row_idx_i(row_idx),
      .row_first_i(row_first),
      .busy_o(array_busy), .acc_busy_o(acc_busy),
      .rd_bank_i(rd_bank), .rd_idx_i(rd_idx), .rd_data_o(rd_data),
      .ini_valid_i(ini_valid), .ini_bank_i(ini_bank), .ini_idx_i(ini_idx), .ini_part_i(ini_part),
      .ini_data_i(mem_rsp_i[mem_pkg::PORT_MM_C].rdata),
      .zero_operands_o(zero_operands), .a_toggles_o(a_toggles), .w_toggles_o(w_toggles), .acc_toggles_o(acc_toggles),
      .gated_o(gated)
  );

  always_comb begin
    poisoned = 1'b0;
    for (int i = 0; i < 4; i++) poisoned |= mem_rsp_i[i].rvalid && mem_rsp_i[i].rerr;
    nothing = blocks == 2'd0;
    events_o = '0;
    events_o.busy = row_valid;
    events_o.stall_weights = stall_weights;
    events_o.stall_operand = stall_operand;
    events_o.stall_scale = stall_scale;
    events_o.stall_acc = stall_acc;
    events_o.stall_sem = nothing && !drain_busy && wait_valid_o && !wait_gnt_i;
    events_o.idle = nothing && !events_o.stall_sem;
    events_o.mac_issued = row_valid ? 16'(32 * COLS) : 16'd0;
    events_o.mac_useful = mac_useful;
    events_o.zero_operands = zero_operands;
    events_o.a_toggles = a_toggles;
    events_o.w_toggles = w_toggles;
    events_o.acc_toggles = acc_toggles;
    events_o.weight_rows = wl_valid;
    events_o.scale_rows = mem_req_o[mem_pkg::PORT_MM_S].valid && mem_rsp_i[mem_pkg::PORT_MM_S].gnt;
    events_o.drain_rows = drain_row;
    events_o.gated = gated;
  end

  assign busy_o = front_busy || blocks != 2'd0 || drain_busy || array_busy;
  assign error_o = error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) error_q <= 1'b0;
    else if (poisoned) error_q <= 1'b1;
  end

  `CHK(OneOfBusyStallIdle, 32'($countones({events_o.busy, events_o.stall_weights, events_o.stall_operand,
                           events_o.stall_scale, events_o.stall_acc, events_o.stall_sem, events_o.idle})) == 32'd1)
endmodule
