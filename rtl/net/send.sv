// Send engine of a tile: SEND, MULTICAST, REDUCE, WAIT, SIGNAL. Rows are read from SRAM, get their header on the way into a
// short queue and leave as packets of up to 8 flits. Latency: a row read in cycle t is offered to the network interface in
// t + 2. Throughput: one row a cycle, without a gap between instructions. A SIGNAL fires once all flits before it have left
// the tile. A packet may begin before all its rows are read: SRAM grants come without the network's help. Twin:
// csim/net/send.
`include "chk.svh"
module send
  import noc_pkg::*;
(
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  coord_t                   x_i,  // own tile, constant
    input  coord_t                   y_i,
    // instructions, in order
    input  logic                     instr_valid_i,
    input  isa_pkg::instr_t          instr_i,
    output logic                     instr_ready_o,
    // SRAM: PORT_SEND
    output mem_pkg::mem_req_t        mem_req_o,
    input  mem_pkg::mem_rsp_t        mem_rsp_i,
    // semaphores: wait holds until granted, signal is always taken
    output logic                     wait_valid_o,
    output logic [4:0]               wait_sem_o,
    output logic [7:0]               wait_count_o,
    input  logic                     wait_gnt_i,
    output logic                     signal_valid_o,
    output logic [4:0]               signal_sem_o,
    output logic [7:0]               signal_count_o,
    // to the network interface: whole packets, flit by flit; left_i: one of them is on the link in this cycle
    output logic                     flit_valid_o,
    output flit_t                    flit_o,
    input  logic                     flit_ready_i,
    input  logic                     left_i,
    // anything queued or in flight; a read was poisoned or an instruction is not this engine's (sticky)
    output logic                     busy_o,
    output logic                     error_o,
    output events_pkg::send_events_t events_o
);
  localparam int Depth = 4;  // one leaving, one arriving, one asked for; a power of two

  isa_pkg::instr_t cur;
  logic work, done, quiet, front_busy, signals, passed, own;
  logic reads, gnt, row_last, taken, poisoned, pend_q, error_q, unused;
  logic [15:0] row_q, last_row;
  flit_t issue_flit, pend_flit_q, push_flit;
  flit_t fifo_q[Depth];
  logic [1:0] rd_q, wr;
  logic [2:0] count_q, owed_q;  // owed: in the network interface

  engine_front u_front (
      .clk_i, .rst_ni, .instr_valid_i, .instr_i, .instr_ready_o,
      .wait_valid_o, .wait_sem_o, .wait_count_o, .wait_gnt_i, .signal_valid_o, .signal_sem_o, .signal_count_o,
      .work_valid_o(work), .work_o(cur), .done_i(done), .quiet_i(quiet),
      .busy_o(front_busy), .signals_o(signals), .passed_o(passed)
  );

  // ---- issue: one row read a cycle
  assign own      = cur.op == isa_pkg::OP_SEND || cur.op == isa_pkg::OP_MULTICAST || cur.op == isa_pkg::OP_REDUCE;
  assign last_row = cur.rows - 16'd1;
  assign row_last = row_q == last_row;
  assign reads    = work && own && cur.rows != '0 && count_q + 3'(pend_q) < 3'(Depth);
  assign gnt      = reads && mem_rsp_i.gnt;
  assign done     = (gnt && row_last) || !own || cur.rows == '0;

  always_comb begin
    mem_req_o = '0;
    if (reads) begin
      mem_req_o.valid = 1'b1;
      mem_req_o.addr = cur.addr_a + row_q;
    end
    issue_flit = '0;
    if (gnt) begin
      issue_flit.head = row_q[2:0] == '0;
      issue_flit.tail = row_last || row_q[2:0] == '1;
      issue_flit.len_m1 = row_q[15:3] == last_row[15:3] ? last_row[2:0] : 3'd7;
      issue_flit.kind = cur.op == isa_pkg::OP_REDUCE ? REDUCE : WRITE;
      issue_flit.to = TO_TILE;
      issue_flit.rect = '{x0: cur.rect_x0, y0: cur.rect_y0, x1: cur.rect_x1, y1: cur.rect_y1};
      if (cur.op == isa_pkg::OP_SEND) begin
        issue_flit.rect.x1 = cur.rect_x0;
        issue_flit.rect.y1 = cur.rect_y0;
      end
      if (cur.op == isa_pkg::OP_REDUCE) issue_flit.root = '{x: cur.root_x, y: cur.root_y};
      issue_flit.src = '{x: x_i, y: y_i};
      issue_flit.tag = cur.tag;
      issue_flit.last = row_last;
      issue_flit.addr = {16'd0, cur.addr_c + row_q};
    end
  end

  // ---- queue
  assign wr       = rd_q + count_q[1:0];
  assign taken    = flit_valid_o && flit_ready_i;
  assign poisoned = mem_rsp_i.rvalid && mem_rsp_i.rerr;

  always_comb begin
    push_flit = pend_flit_q;
    if (pend_q) push_flit.data = mem_rsp_i.rdata;  // in the cycle after the grant
    flit_valid_o = count_q != '0;
    flit_o = '0;
    if (flit_valid_o) flit_o = fifo_q[rd_q];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_q <= '0;
      pend_q <= 1'b0;
      rd_q <= '0;
      count_q <= '0;
      owed_q <= '0;
      error_q <= 1'b0;
    end else begin
      if (gnt) row_q <= row_last ? '0 : row_q + 16'd1;
      pend_q <= gnt;
      if (taken) rd_q <= rd_q + 2'd1;
      count_q <= count_q + 3'(pend_q) - 3'(taken);
      owed_q <= owed_q + 3'(taken) - 3'(left_i);
      if (poisoned || (work && !own)) error_q <= 1'b1;
    end
    if (gnt) pend_flit_q <= issue_flit;
    if (pend_q) fifo_q[wr] <= push_flit;
  end

  // ---- what the cycle was
  assign quiet   = !pend_q && count_q == '0 && owed_q == '0;
  assign busy_o  = front_busy || !quiet;
  assign error_o = error_q;
  assign unused  = ^cur;

  always_comb begin
    events_o = '0;
    if (taken || passed || (work && done && !gnt)) events_o.busy = 1'b1;
    else if (count_q != '0) events_o.stall_net = 1'b1;
    else if (pend_q) events_o.stall_bank = 1'b1;
    else if (wait_valid_o) events_o.stall_sem = 1'b1;
    else if (reads) events_o.stall_bank = 1'b1;
    else if (signals || owed_q != '0) events_o.stall_net = 1'b1;
    else events_o.idle = 1'b1;
  end

  `CHK(OneOfBusyStallIdle, 32'($countones({events_o.busy, events_o.stall_bank, events_o.stall_net, events_o.stall_sem,
                                           events_o.idle})) == 32'd1)
  `CHK(DataComeInTime, !pend_q || mem_rsp_i.rvalid)
  `CHK(LeftIsOwed, !left_i || owed_q != '0)
endmodule
