// Accumulator banks of the matmul engine and port C: a bank is given to each column tile in turn, filled with initial
// values where the instruction says so, closed by the tile's last row, drained to SRAM once the array's pipeline has
// left it, and free again. One SRAM row a cycle; draining goes first. Initial values are read only when all results of
// earlier instructions are in SRAM. Twin: csim/matmul/matmul.c, drain_*.
`include "chk.svh"
module matmul_drain (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // blocks, see matmul_front; the last row of a column tile enters the array
    input  logic                      push_i,
    input  matmul_pkg::block_t [1:0]  block_i,
    input  logic                      row_close_i,
    input  logic                      row_bank_i,
    // port C
    output mem_pkg::mem_req_t         req_o,
    input  mem_pkg::mem_rsp_t         rsp_i,
    // accumulators of the array
    input  logic [1:0]                acc_busy_i,
    output logic                      rd_bank_o,
    output logic [$clog2(cfg_pkg::ROWS)-1:0] rd_idx_o,
    input  logic [cfg_pkg::COLS-1:0][31:0] rd_data_i,
    output logic                      ini_valid_o,
    output logic                      ini_bank_o,
    output logic [$clog2(cfg_pkg::ROWS)-1:0] ini_idx_o,
    output logic [(cfg_pkg::COLS > 8 ? $clog2(cfg_pkg::COLS/8) : 1)-1:0] ini_part_o,
    // banks that may accumulate; column tiles in SRAM so far, modulo 256; a result row is written
    output logic [1:0]                bank_ready_o,
    output logic [7:0]                drained_o,
    output logic                      drain_row_o,
    output logic                      busy_o
);
  localparam int GROUPS = cfg_pkg::COLS / 8;
  localparam int PartBits = GROUPS > 1 ? $clog2(GROUPS) : 1;
  localparam int RowBits = $clog2(cfg_pkg::ROWS);

  typedef enum logic [1:0] {FREE, INIT, READY, CLOSED} bank_state_t;
  typedef enum logic [1:0] {C_IDLE, C_DRAIN, C_INIT} c_mode_t;

  bank_state_t [1:0] state_d, state_q;
  c_mode_t mode_d, mode_q;
  logic [1:0] tag_q, blocked_d, blocked_q, alloc_n_q;
  logic [1:0][15:0] base_q, m_q;
  logic alloc_half_q, drain_bank_q, c_bank_d, c_bank_q, asked_q, pend_q, pend_end_q;
  logic [15:0] row_q, ptr_q;
  logic [PartBits-1:0] part_q, pend_part_q;
  logic [RowBits-1:0] pend_row_q;
  logic alloc_work, alloc_pass, alloc, gnt, part_end, job_end, drain_end, init_end, drain_start;
  logic [7:0] drained_q;
  logic [GROUPS-1:0][255:0] rd_parts;
  matmul_pkg::block_t ab;
  logic unused;

  assign ab = block_i[alloc_half_q];
  assign rd_parts = rd_data_i;

  always_comb begin
    req_o = '0;
    req_o.valid = mode_q == C_DRAIN || (mode_q == C_INIT && !asked_q);
    req_o.we = mode_q == C_DRAIN;
    req_o.addr = ptr_q;
    if (mode_q == C_DRAIN) req_o.wdata = rd_parts[part_q];
  end

  always_comb begin
    gnt = req_o.valid && rsp_i.gnt;
    part_end = part_q == PartBits'(GROUPS - 1);
    job_end = gnt && part_end && row_q == m_q[c_bank_q] - 16'd1;
    drain_end = job_end && mode_q == C_DRAIN;
    init_end = pend_q && rsp_i.rvalid && pend_end_q;
    drain_start = state_q[drain_bank_q] == CLOSED && !acc_busy_i[drain_bank_q];

    mode_d = mode_q;
    c_bank_d = c_bank_q;
    if (mode_q == C_IDLE) begin
      c_bank_d = drain_bank_q;
      if (drain_start) begin
        mode_d = C_DRAIN;
      end else if (state_q[drain_bank_q] == INIT && !blocked_q[drain_bank_q]) begin
        mode_d = C_INIT;
      end else if (state_q[!drain_bank_q] == INIT && !blocked_q[!drain_bank_q]) begin
        mode_d = C_INIT;
        c_bank_d = !drain_bank_q;
      end
    end else if (drain_end || init_end) begin
      mode_d = C_IDLE;
    end
  end

  always_comb begin
    alloc_work = alloc_n_q != 2'd0;
    alloc = alloc_work && ab.first && state_q[ab.bank] == FREE;
    alloc_pass = alloc_work && (alloc || !ab.first);
    state_d = state_q;
    blocked_d = blocked_q;
    if (row_close_i) state_d[row_bank_i] = CLOSED;
    if (init_end) state_d[c_bank_q] = READY;
    if (drain_end) begin
      state_d[c_bank_q] = FREE;
      blocked_d[!c_bank_q] = 1'b0;
    end
    if (alloc) begin
      state_d[ab.bank] = ab.init ? INIT : READY;
      blocked_d[ab.bank] = state_q[!ab.bank] != FREE && tag_q[!ab.bank] != ab.tag && !drain_end;
    end
  end

  assign rd_bank_o = c_bank_q;
  assign rd_idx_o = row_q[RowBits-1:0];
  assign ini_valid_o = pend_q && rsp_i.rvalid;
  assign ini_bank_o = c_bank_q;
  assign ini_idx_o = pend_row_q;
  assign ini_part_o = pend_part_q;
  assign bank_ready_o = {state_q[1] == READY, state_q[0] == READY};
  assign drained_o = drained_q;
  assign drain_row_o = gnt && mode_q == C_DRAIN;
  assign busy_o = state_q[0] != FREE || state_q[1] != FREE;
  assign unused = ^{rsp_i.rerr, rsp_i.rdata, ab};  // data go to the array, errors to the top

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= {FREE, FREE};
      mode_q <= C_IDLE;
      blocked_q <= '0;
      alloc_n_q <= '0;
      alloc_half_q <= 1'b0;
      drain_bank_q <= 1'b0;
      c_bank_q <= 1'b0;
      pend_q <= 1'b0;
      drained_q <= '0;
    end else begin
      state_q <= state_d;
      mode_q <= mode_d;
      blocked_q <= blocked_d;
      c_bank_q <= c_bank_d;
      alloc_n_q <= alloc_n_q + 2'(push_i) - 2'(alloc_pass);
      alloc_half_q <= alloc_half_q ^ alloc_pass;
      if (drain_end) drain_bank_q <= !drain_bank_q;
      if (drain_end) drained_q <= drained_q + 8'd1;
      pend_q <= gnt && mode_q == C_INIT;
    end
    if (alloc) begin
      tag_q[ab.bank] <= ab.tag;
      base_q[ab.bank] <= ab.c_base;
      m_q[ab.bank] <= ab.m;
    end
    if (mode_q == C_IDLE) begin
      row_q <= '0;
      part_q <= '0;
      ptr_q <= base_q[c_bank_d];
      asked_q <= 1'b0;
    end else if (gnt) begin
      part_q <= part_end ? '0 : part_q + 1'b1;
      if (part_end) row_q <= row_q + 16'd1;
      ptr_q <= ptr_q + 16'd1;
      if (job_end) asked_q <= 1'b1;
      pend_end_q <= job_end;
      pend_row_q <= row_q[RowBits-1:0];
      pend_part_q <= part_q;
    end
  end

  `CHK(ClosedBankWasReady, !row_close_i || state_q[row_bank_i] == READY)
  `CHK(InitReadIsAnswered, !pend_q || rsp_i.rvalid)
endmodule
