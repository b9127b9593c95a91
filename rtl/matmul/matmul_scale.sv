// Scales of the matmul engine, read through port S: the weight scales of a block, gathered 8 columns a cycle and sent to
// the array at once; the activation scales, one SRAM row per 32 rows of m, into a queue of two. A row read last is kept:
// where the next block's scales lie in it, it is not read again within the same instruction. Twin:
// csim/matmul/matmul.c, scale_*.
`include "chk.svh"
module matmul_scale (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    // blocks, see matmul_front
    input  logic                              push_i,
    input  logic                              push_half_i,
    input  matmul_pkg::block_t [1:0]          block_i,
    // port S
    output mem_pkg::mem_req_t                 req_o,
    input  mem_pkg::mem_rsp_t                 rsp_i,
    // weight scales to the array; ws_loaded_o: half is complete
    output logic                              ws_valid_o,
    output logic                              ws_bank_o,
    output isa_pkg::scale_t                   ws_fmt_o,
    output logic [cfg_pkg::COLS-1:0][15:0]    ws_data_o,
    output logic [1:0]                        ws_loaded_o,
    // activation scales: the oldest row of 32, taken with as_pop_i
    output logic                              as_valid_o,
    output logic [255:0]                      as_row_o,
    input  logic                              as_pop_i
);
  localparam int GROUPS = cfg_pkg::COLS / 8;
  localparam int GroupBits = $clog2(GROUPS + 1);

  // weight scales
  logic [1:0] ws_n_q;
  logic ws_half_q, ws_send_q, ws_send_half_q, row_valid_q, row_tag_q, ws_work, ws_hit, ws_none, ws_pass, ws_need, ws_take;
  logic [GroupBits-1:0] ws_group_q;
  isa_pkg::scale_t ws_send_fmt_q;
  logic [1:0] ws_loaded_q, sub;
  logic [15:0] row_addr_q, ws_need_addr, group_sum;
  logic [255:0] row_q;
  logic [GROUPS-1:0][7:0][15:0] word_q;
  logic [7:0][15:0] word_d;
  matmul_pkg::block_t wsb, asb;
  // activation scales
  logic [1:0] as_n_q, as_cnt_q;
  logic as_half_q, as_rd_q, as_work, as_room, as_none, as_reuse, as_need, as_copy, as_pass, as_last, as_wr, as_prev;
  logic [10:0] as_group_q;
  logic [1:0][255:0] as_row_q;
  // the read in flight, and the choice that an ungranted request holds
  logic pend_ws_q, pend_as_q, hold_q, hold_as_q, choose_as, gnt;
  logic unused;

  assign wsb = block_i[ws_half_q];
  assign asb = block_i[as_half_q];

  always_comb begin
    ws_work = ws_n_q != 2'd0;
    ws_none = wsb.scale_w == isa_pkg::SCALE_NONE;
    group_sum = 16'(wsb.ws_sub) + 16'(ws_group_q);
    ws_need_addr = wsb.ws_addr + (wsb.scale_w == isa_pkg::SCALE_BF16 ? group_sum >> 1 : group_sum >> 2);
    sub = wsb.scale_w == isa_pkg::SCALE_BF16 ? {1'b0, group_sum[0]} : group_sum[1:0];
    ws_hit = row_valid_q && !pend_ws_q && row_tag_q == wsb.tag && row_addr_q == ws_need_addr;
    ws_take = ws_work && !ws_none && ws_hit;
    ws_pass = ws_work && (ws_none || (ws_hit && ws_group_q == GroupBits'(GROUPS - 1)));
    ws_need = ws_work && !ws_none && !ws_hit && !pend_ws_q;
    word_d = '0;
    if (ws_take) begin
      for (int i = 0; i < 8; i++) begin
        if (wsb.scale_w == isa_pkg::SCALE_BF16) word_d[i] = row_q[128*sub[0]+16*i+:16];
        else word_d[i] = {8'd0, row_q[64*sub+8*i+:8]};
      end
    end

    as_work = as_n_q != 2'd0;
    as_none = asb.scale_a == isa_pkg::SCALE_NONE;
    as_room = as_cnt_q + 2'(pend_as_q) < 2'd2 + 2'(as_pop_i);
    as_reuse = asb.first && asb.last && !asb.fresh && asb.m <= 16'd32;
    as_last = as_group_q == 11'((asb.m - 16'd1) >> 5);
    as_need = as_work && !as_none && !as_reuse && as_room;
    as_copy = as_work && !as_none && as_reuse && as_room && !pend_as_q;
    choose_as = hold_q ? hold_as_q : !ws_need;
    req_o = '0;
    req_o.valid = ws_need || as_need;
    req_o.addr = choose_as ? asb.as_base + 16'(as_group_q) : ws_need_addr;
  end

  // apart from the request, which it answers
  assign gnt = req_o.valid && rsp_i.gnt;
  assign as_pass = as_work && (as_none || as_copy || (gnt && choose_as && as_last));

  assign ws_valid_o = ws_send_q;
  assign ws_bank_o = ws_send_half_q;
  assign ws_fmt_o = ws_send_fmt_q;
  assign ws_data_o = ws_send_fmt_q == isa_pkg::SCALE_NONE ? '0 : word_q;
  assign ws_loaded_o = ws_loaded_q;
  assign as_valid_o = as_cnt_q != 2'd0;
  assign as_wr = as_rd_q ^ as_cnt_q[0];
  assign as_prev = !as_wr;
  assign as_row_o = as_row_q[as_rd_q];
  assign unused = ^{rsp_i.rerr, asb, wsb};  // errors go to the top; each walker uses some fields

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ws_n_q <= '0;
      ws_half_q <= 1'b0;
      ws_group_q <= '0;
      ws_send_q <= 1'b0;
      ws_loaded_q <= '0;
      row_valid_q <= 1'b0;
      as_n_q <= '0;
      as_half_q <= 1'b0;
      as_group_q <= '0;
      as_cnt_q <= '0;
      as_rd_q <= 1'b0;
      pend_ws_q <= 1'b0;
      pend_as_q <= 1'b0;
      hold_q <= 1'b0;
    end else begin
      ws_n_q <= ws_n_q + 2'(push_i) - 2'(ws_pass);
      ws_half_q <= ws_half_q ^ ws_pass;
      if (ws_pass) ws_group_q <= '0;
      else if (ws_take) ws_group_q <= ws_group_q + 1'b1;
      ws_send_q <= ws_pass;
      if (ws_send_q) ws_loaded_q[ws_send_half_q] <= 1'b1;
      if (push_i) ws_loaded_q[push_half_i] <= 1'b0;
      if (pend_ws_q && rsp_i.rvalid) row_valid_q <= 1'b1;
      else if (ws_work && ws_none) row_valid_q <= 1'b0;
      as_n_q <= as_n_q + 2'(push_i) - 2'(as_pass);
      as_half_q <= as_half_q ^ as_pass;
      if (as_pass) as_group_q <= '0;
      else if (gnt && choose_as) as_group_q <= as_group_q + 11'd1;
      as_cnt_q <= as_cnt_q + 2'((pend_as_q && rsp_i.rvalid) || as_copy) - 2'(as_pop_i);
      if (as_pop_i) as_rd_q <= !as_rd_q;
      pend_ws_q <= gnt && !choose_as;
      pend_as_q <= gnt && choose_as;
      hold_q <= req_o.valid && !rsp_i.gnt;
    end
    hold_as_q <= choose_as;
    if (ws_take) word_q[ws_group_q] <= word_d;
    if (ws_pass) begin
      ws_send_half_q <= ws_half_q;
      ws_send_fmt_q <= wsb.scale_w;
    end
    if (gnt && !choose_as) begin
      row_addr_q <= ws_need_addr;
      row_tag_q <= wsb.tag;
    end
    if (pend_ws_q && rsp_i.rvalid) row_q <= rsp_i.rdata;
    if (pend_as_q && rsp_i.rvalid) as_row_q[as_wr] <= rsp_i.rdata;
    else if (as_copy) as_row_q[as_wr] <= as_row_q[as_prev];
  end

  `CHK(ScaleReadIsAnswered, !(pend_ws_q || pend_as_q) || rsp_i.rvalid)
  `CHK(ScaleQueueHolds, as_cnt_q <= 2'd2 && !(as_pop_i && as_cnt_q == 2'd0))
endmodule
