// Move engine of a tile: COPY, LOAD, STORE, WAIT, SIGNAL. Rows read from SRAM and LOAD requests pass, in order, through a
// short queue to the write port or to the network. Latency: a row read in cycle t leaves at the earliest in t + 2.
// Throughput: COPY (different banks), STORE: one row a cycle; LOAD: one request a cycle while slots are free. A LOAD or STORE
// holds a slot until its last row is written or its acknowledgement is here; a SIGNAL waits for all slots. What a LOAD
// brings may be used only behind a SIGNAL; COPY and STORE see what earlier COPYs wrote. Twin: csim/move/move.
`include "chk.svh"
module move
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
    // SRAM: [0] PORT_MOVE_R reads, [1] PORT_MOVE_W writes
    output mem_pkg::mem_req_t [1:0]  mem_req_o,
    input  mem_pkg::mem_rsp_t [1:0]  mem_rsp_i,
    // semaphores: wait holds until granted, signal is always taken
    output logic                     wait_valid_o,
    output logic [4:0]               wait_sem_o,
    output logic [7:0]               wait_count_o,
    input  logic                     wait_gnt_i,
    output logic                     signal_valid_o,
    output logic [4:0]               signal_sem_o,
    output logic [7:0]               signal_count_o,
    // to the network interface: whole packets, flit by flit
    output logic                     flit_valid_o,
    output flit_t                    flit_o,
    input  logic                     flit_ready_i,
    // from recv: a LOAD_DATA row of the slot has been written; the STORE of the slot is acknowledged
    input  logic                     load_row_valid_i,
    input  logic [TAG_BITS-1:0]      load_row_slot_i,
    input  logic                     ack_valid_i,
    input  logic [TAG_BITS-1:0]      ack_slot_i,
    // anything queued or in flight; a read was poisoned or an instruction is not this engine's (sticky)
    output logic                     busy_o,
    output logic                     error_o,
    output events_pkg::move_events_t events_o
);
  localparam int Slots = cfg_pkg::NUM_SLOTS;
  localparam int Depth = 4;  // one leaving, one arriving, one asked for; a power of two

  typedef struct packed {
    logic  copy;  // to SRAM row flit.addr, not to the network
    flit_t flit;
  } entry_t;

  isa_pkg::instr_t cur;
  logic work, done, quiet, front_busy, signals, passed, is_copy, is_load, is_store, own;
  logic room, reads, gnt, issue, row_last, moved, written, left, push, pop, poisoned;
  logic [15:0] row_q, last_row;
  entry_t issue_entry, pend_entry_q, push_entry, head;
  logic pend_q, pend_load_q, error_q;
  entry_t fifo_q[Depth];
  logic [1:0] rd_q, wr;
  logic [2:0] count_q, copies_q;
  // transactions: slot_q is the free slot kept for the next one
  logic slot_valid_q, slot_take, next_valid;
  logic [TAG_BITS-1:0] slot_q, next_slot;
  logic [Slots-1:0] busy_q, store_q, busy_d;
  logic [15:0] left_q[Slots];
  logic row_here, ack_here, unused;

  engine_front u_front (
      .clk_i, .rst_ni, .instr_valid_i, .instr_i, .instr_ready_o,
      .wait_valid_o, .wait_sem_o, .wait_count_o, .wait_gnt_i, .signal_valid_o, .signal_sem_o, .signal_count_o,
      .work_valid_o(work), .work_o(cur), .done_i(done), .quiet_i(quiet),
      .busy_o(front_busy), .signals_o(signals), .passed_o(passed)
  );

  // ---- issue: one row read or one request a cycle
  assign is_copy  = work && cur.op == isa_pkg::OP_COPY;
  assign is_load  = work && cur.op == isa_pkg::OP_LOAD;
  assign is_store = work && cur.op == isa_pkg::OP_STORE;
  assign own      = is_copy || is_load || is_store;
  assign room     = count_q + 3'(pend_q) < 3'(Depth);
  assign last_row = cur.rows - 16'd1;
  assign row_last = is_load || row_q == last_row;

  always_comb begin
    // a COPY or STORE begins once earlier copies are in SRAM
    reads = room && cur.rows != '0 && (row_q != '0 || copies_q == '0) && (is_copy || (is_store && slot_valid_q));
  end

  always_comb begin
    gnt   = reads && mem_rsp_i[0].gnt;
    issue = gnt || (is_load && room && slot_valid_q && cur.rows != '0);
    done  = (issue && row_last) || !own || cur.rows == '0;
    slot_take = issue && row_last && !is_copy;
    issue_entry = '0;
    if (issue) begin
      issue_entry.copy = is_copy;
      issue_entry.flit.head = is_load || row_q[2:0] == '0;
      issue_entry.flit.tail = row_last || row_q[2:0] == '1;
      if (is_store) issue_entry.flit.len_m1 = row_q[15:3] == last_row[15:3] ? last_row[2:0] : 3'd7;
      issue_entry.flit.kind = is_load ? LOAD_REQ : STORE_DATA;
      issue_entry.flit.to = cur.to;
      issue_entry.flit.rect.x0 = cur.to == TO_EAST ? COORD_BITS'(cfg_pkg::TILES_X - 1) : '0;
      issue_entry.flit.rect.x1 = issue_entry.flit.rect.x0;
      issue_entry.flit.rect.y0 = cur.rect_y0;
      issue_entry.flit.rect.y1 = cur.rect_y0;
      if (is_store) issue_entry.flit.root = row_q[12:3];
      issue_entry.flit.src = '{x: x_i, y: y_i};
      issue_entry.flit.tag = slot_q;
      issue_entry.flit.last = row_last;
      issue_entry.flit.addr = is_copy ? {16'd0, cur.addr_c + row_q} : is_load ? cur.hbm_addr : cur.hbm_addr + 32'(row_q);
      if (is_load) issue_entry.flit.data[31:0] = {cur.addr_c, cur.rows};
    end
    mem_req_o = '0;
    if (reads) begin
      mem_req_o[0].valid = 1'b1;
      mem_req_o[0].addr = cur.addr_a + row_q;
    end
    if (written) begin
      mem_req_o[1].valid = 1'b1;
      mem_req_o[1].we = 1'b1;
      mem_req_o[1].addr = head.flit.addr[15:0];
      mem_req_o[1].wdata = head.flit.data;
    end
  end

  // ---- queue
  assign wr       = rd_q + count_q[1:0];
  assign head     = fifo_q[rd_q];
  assign push     = pend_q;  // read data come in the cycle after the grant
  assign poisoned = mem_rsp_i[0].rvalid && mem_rsp_i[0].rerr;
  assign written  = count_q != '0 && head.copy;
  assign left     = flit_valid_o && flit_ready_i;
  assign moved    = written && mem_rsp_i[1].gnt;
  assign pop      = moved || left;

  always_comb begin
    push_entry = pend_entry_q;
    if (push && !pend_load_q) push_entry.flit.data = mem_rsp_i[0].rdata;
    flit_valid_o = count_q != '0 && !head.copy;
    flit_o = '0;
    if (flit_valid_o) flit_o = head.flit;
  end

  // ---- slots
  always_comb begin
    row_here = 1'b0;
    ack_here = 1'b0;
    busy_d = busy_q;
    next_valid = 1'b0;
    next_slot = slot_q;
    for (int i = Slots - 1; i >= 0; i--) begin
      if (load_row_valid_i && 32'(load_row_slot_i) == i && busy_q[i] && !store_q[i]) begin
        row_here = 1'b1;
        if (left_q[i] == 16'd1) busy_d[i] = 1'b0;
      end
      if (ack_valid_i && 32'(ack_slot_i) == i && busy_q[i] && store_q[i]) begin
        ack_here = 1'b1;
        busy_d[i] = 1'b0;
      end
      if (slot_take && 32'(slot_q) == i) busy_d[i] = 1'b1;
      else if (!busy_q[i]) begin
        next_valid = 1'b1;
        next_slot = TAG_BITS'(i);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_q <= '0;
      pend_q <= 1'b0;
      rd_q <= '0;
      count_q <= '0;
      copies_q <= '0;
      slot_valid_q <= 1'b1;
      slot_q <= '0;
      busy_q <= '0;
      error_q <= 1'b0;
    end else begin
      if (issue) row_q <= row_last ? '0 : row_q + 16'd1;
      pend_q <= issue;
      if (pop) rd_q <= rd_q + 2'd1;
      count_q <= count_q + 3'(push) - 3'(pop);
      copies_q <= copies_q + 3'(issue && is_copy) - 3'(moved);
      if (slot_take || !slot_valid_q) begin
        slot_valid_q <= next_valid;
        slot_q <= next_slot;
      end
      busy_q <= busy_d;
      if (poisoned || (work && !own)) error_q <= 1'b1;
    end
    if (issue) begin
      pend_entry_q <= issue_entry;
      pend_load_q <= is_load;
    end
    if (push) fifo_q[wr] <= push_entry;
    for (int i = 0; i < Slots; i++) begin
      if (slot_take && 32'(slot_q) == i) begin
        store_q[i] <= is_store;
        left_q[i] <= cur.rows;
      end else if (row_here && 32'(load_row_slot_i) == i) left_q[i] <= left_q[i] - 16'd1;
    end
  end

  // ---- what the cycle was
  assign quiet   = !pend_q && count_q == '0 && busy_q == '0;
  assign busy_o  = front_busy || !quiet;
  assign error_o = error_q;
  assign unused  = ^{cur, mem_rsp_i[1].rvalid, mem_rsp_i[1].rerr, mem_rsp_i[1].rdata};

  always_comb begin
    events_o = '0;
    if (pop || passed || (work && done && !issue)) events_o.busy = 1'b1;
    else if (count_q != '0) begin
      events_o.stall_bank = head.copy;
      events_o.stall_net = !head.copy;
    end else if (pend_q) begin
      events_o.stall_bank = !pend_load_q;
      events_o.stall_net = pend_load_q;
    end else if (wait_valid_o) events_o.stall_sem = 1'b1;
    else if (reads) events_o.stall_bank = 1'b1;
    else if (issue) events_o.stall_net = 1'b1;
    else if (signals || work || busy_q != '0) events_o.stall_slot = 1'b1;
    else events_o.idle = 1'b1;
    events_o.rows_loaded = load_row_valid_i;
    events_o.rows_stored = left && head.flit.kind == STORE_DATA;
    events_o.rows_copied = moved;
  end

  `CHK(OneOfBusyStallIdle, $countones({events_o.busy, events_o.stall_bank, events_o.stall_net, events_o.stall_slot,
                                       events_o.stall_sem, events_o.idle}) == 1)
  `CHK(LoadRowHasSlot, !load_row_valid_i || row_here)
  `CHK(AckHasSlot, !ack_valid_i || ack_here)
  `CHK(DataComeInTime, !pend_q || pend_load_q || mem_rsp_i[0].rvalid)
endmodule
