// Row streamer of the matmul engine: reads the activation rows of each block ahead through port A into a queue of four SRAM
// rows, and issues one row a cycle to the array (BF16: two SRAM rows, so one in two cycles) once weights, scales and an
// accumulator bank are there. Says for every cycle why no row entered. Twin: csim/matmul/matmul.c, stream_*.
`include "chk.svh"
module matmul_stream (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // blocks, see matmul_front; what of each half and bank is ready
    input  logic                      push_i,
    input  matmul_pkg::block_t [1:0]  block_i,
    input  logic [1:0]                loaded_i,
    input  logic [1:0]                ws_loaded_i,
    input  logic [1:0]                bank_ready_i,
    output logic [1:0]                blocks_o,
    // port A
    output mem_pkg::mem_req_t         req_o,
    input  mem_pkg::mem_rsp_t         rsp_i,
    // activation scales
    input  logic                      as_valid_i,
    input  logic [255:0]              as_row_i,
    output logic                      as_pop_o,
    // one row into the array; row_last_o: the block's last; row_close_o: the column tile's last
    output logic                      row_valid_o,
    output logic                      row_last_o,
    output logic                      row_close_o,
    output logic                      row_wbank_o,
    output isa_pkg::fmt_t             row_fmt_o,
    output logic [511:0]              row_data_o,
    output isa_pkg::scale_t           row_scale_fmt_o,
    output logic [7:0]                row_scale_o,
    output logic                      row_acc_bank_o,
    output logic [$clog2(cfg_pkg::ROWS)-1:0] row_idx_o,
    output logic                      row_first_o,
    // events of this cycle; none of them: nothing is due
    output logic                      stall_weights_o,
    output logic                      stall_operand_o,
    output logic                      stall_scale_o,
    output logic                      stall_acc_o,
    output logic [15:0]               mac_useful_o
);
  localparam int RowBits = $clog2(cfg_pkg::ROWS);

  logic [1:0] fetch_n_q, issue_n_q;
  logic fetch_half_q, issue_half_q, pend_q, gnt, fetch_pass, due, wide, have_scale, have_row, have_bank;
  logic [15:0] fetch_row_q, fetch_last, m_q;
  logic [2:0] cnt_q;
  logic [1:0] rd_q, rd_next, wr;
  logic [3:0][255:0] fifo_q;
  matmul_pkg::block_t fb, ib;
  logic unused;

  assign fb = block_i[fetch_half_q];
  assign ib = block_i[issue_half_q];

  always_comb begin
    req_o = '0;
    req_o.valid = fetch_n_q != 2'd0 && cnt_q + 3'(pend_q) < 3'd4;
    req_o.addr = fb.a_base + fetch_row_q;
    fetch_last = (fb.fmt_a == isa_pkg::FMT_BF16 ? fb.m << 1 : fb.m) - 16'd1;
  end
  assign gnt = req_o.valid && rsp_i.gnt;
  assign fetch_pass = gnt && fetch_row_q == fetch_last;

  always_comb begin
    due = issue_n_q != 2'd0;
    wide = ib.fmt_a == isa_pkg::FMT_BF16;
    have_scale = ws_loaded_i[issue_half_q] && (ib.scale_a == isa_pkg::SCALE_NONE || as_valid_i);
    have_row = wide ? cnt_q >= 3'd2 : cnt_q != 3'd0;
    have_bank = bank_ready_i[ib.bank];
    stall_weights_o = due && !loaded_i[issue_half_q];
    stall_scale_o = due && loaded_i[issue_half_q] && !have_scale;
    stall_operand_o = due && loaded_i[issue_half_q] && have_scale && !have_row;
    stall_acc_o = due && loaded_i[issue_half_q] && have_scale && have_row && !have_bank;
    row_valid_o = due && loaded_i[issue_half_q] && have_scale && have_row && have_bank;
    row_last_o = row_valid_o && m_q == ib.m - 16'd1;
    row_close_o = row_last_o && ib.last;
    row_wbank_o = issue_half_q;
    row_fmt_o = ib.fmt_a;
    row_data_o = '0;
    row_scale_o = '0;
    mac_useful_o = '0;
    if (row_valid_o) begin
      row_data_o[255:0] = fifo_q[rd_q];
      if (wide) row_data_o[511:256] = fifo_q[rd_next];
      if (ib.scale_a != isa_pkg::SCALE_NONE) row_scale_o = as_row_i[8*m_q[4:0]+:8];
      mac_useful_o = 16'(ib.ncol) * 16'(ib.kval);
    end
    row_scale_fmt_o = ib.scale_a;
    row_acc_bank_o = ib.bank;
    row_idx_o = m_q[RowBits-1:0];
    row_first_o = ib.first && !ib.init;
    as_pop_o = row_valid_o && ib.scale_a != isa_pkg::SCALE_NONE && (row_last_o || m_q[4:0] == 5'd31);
  end

  assign blocks_o = issue_n_q;
  assign rd_next = rd_q + 2'd1;
  assign wr = rd_q + cnt_q[1:0];
  assign unused = ^{rsp_i.rerr, ib, fb};  // errors go to the top; each walker uses some fields

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fetch_n_q <= '0;
      fetch_half_q <= 1'b0;
      fetch_row_q <= '0;
      issue_n_q <= '0;
      issue_half_q <= 1'b0;
      pend_q <= 1'b0;
      cnt_q <= '0;
      rd_q <= '0;
      m_q <= '0;
    end else begin
      fetch_n_q <= fetch_n_q + 2'(push_i) - 2'(fetch_pass);
      fetch_half_q <= fetch_half_q ^ fetch_pass;
      if (gnt) fetch_row_q <= fetch_pass ? '0 : fetch_row_q + 16'd1;
      issue_n_q <= issue_n_q + 2'(push_i) - 2'(row_last_o);
      issue_half_q <= issue_half_q ^ row_last_o;
      pend_q <= gnt;
      cnt_q <= cnt_q + 3'(pend_q && rsp_i.rvalid) - (row_valid_o ? (wide ? 3'd2 : 3'd1) : 3'd0);
      if (row_valid_o) begin
        rd_q <= rd_q + (wide ? 2'd2 : 2'd1);
        m_q <= row_last_o ? '0 : m_q + 16'd1;
      end
    end
    if (pend_q && rsp_i.rvalid) fifo_q[wr] <= rsp_i.rdata;
  end

  `CHK(RowQueueHolds, cnt_q <= 3'd4)
  `CHK(BlocksInRange, issue_n_q <= 2'd2 && fetch_n_q <= issue_n_q)
  `CHK(RowReadIsAnswered, !pend_q || rsp_i.rvalid)
endmodule
