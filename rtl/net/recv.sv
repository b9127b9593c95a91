// Receive engine of a tile, and the writer of what arrives. Each WRITE, REDUCE and LOAD_DATA flit is written at its own
// address as soon as its bank grants, whatever the program does, so the network always drains. Latency: a flit taken in
// cycle t asks for its bank in t + 1; its arrival counts, and a LOAD is told of its row, in the cycle after the grant.
// Throughput: one row a cycle. RECEIVE takes rows off its tag's counter, one instruction a cycle. Twin: csim/net/recv.
`include "chk.svh"
module recv
  import noc_pkg::*;
(
    input  logic                     clk_i,
    input  logic                     rst_ni,
    // instructions, in order
    input  logic                     instr_valid_i,
    input  isa_pkg::instr_t          instr_i,
    output logic                     instr_ready_o,
    // SRAM: PORT_RECV
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
    // from the network interface
    input  logic                     flit_valid_i,
    input  flit_t                    flit_i,
    output logic                     flit_ready_o,
    // to move: a LOAD_DATA row of the slot has been written; the STORE of the slot is acknowledged
    output logic                     load_row_valid_o,
    output logic [TAG_BITS-1:0]      load_row_slot_o,
    output logic                     ack_valid_o,
    output logic [TAG_BITS-1:0]      ack_slot_o,
    // anything queued or in flight; sticky: a counter is full, a tag or a kind of flit does not exist here, an instruction
    // is not this engine's
    output logic                     busy_o,
    output logic                     error_o,
    output events_pkg::recv_events_t events_o
);
  localparam int Tags = cfg_pkg::NUM_TAGS;

  typedef struct packed {
    kind_t                kind;
    logic [TAG_BITS-1:0]  tag;
    logic [15:0]          addr;
    logic [DATA_BITS-1:0] data;
  } entry_t;

  isa_pkg::instr_t cur;
  logic work, done, own, front_busy, signals, passed;
  entry_t fifo_q[2], head;
  logic rd_q, take, pop, is_row, counts, written, bad_tag, bad_kind, overflow, error_q, load_row_q, unused;
  logic [1:0] count_q;
  logic [TAG_BITS-1:0] load_slot_q;
  logic [15:0] arrivals_q[Tags];
  logic [15:0] arrived;       // of cur.tag
  logic        full, consume;

  engine_front u_front (
      .clk_i, .rst_ni, .instr_valid_i, .instr_i, .instr_ready_o,
      .wait_valid_o, .wait_sem_o, .wait_count_o, .wait_gnt_i, .signal_valid_o, .signal_sem_o, .signal_count_o,
      .work_valid_o(work), .work_o(cur), .done_i(done), .quiet_i(1'b1),
      .busy_o(front_busy), .signals_o(signals), .passed_o(passed)
  );

  // ---- what arrives
  assign flit_ready_o = !count_q[1];
  assign take         = flit_valid_i && flit_ready_o;
  assign head         = fifo_q[rd_q];
  assign is_row       = count_q != '0 && (head.kind == WRITE || head.kind == REDUCE || head.kind == LOAD_DATA);
  assign written      = is_row && mem_rsp_i.gnt;
  assign pop          = count_q != '0 && (!is_row || mem_rsp_i.gnt);
  assign ack_valid_o  = count_q != '0 && head.kind == STORE_ACK;
  assign ack_slot_o   = head.tag;
  assign bad_kind     = count_q != '0 && !is_row && !ack_valid_o;
  assign counts       = written && head.kind != LOAD_DATA && 32'(head.tag) < Tags;
  assign bad_tag      = (written && head.kind != LOAD_DATA && 32'(head.tag) >= Tags) ||
                        (work && own && 32'(cur.tag) >= Tags);

  always_comb begin
    mem_req_o = '0;
    if (is_row) mem_req_o = '{valid: 1'b1, we: 1'b1, addr: head.addr, wdata: head.data};
  end

  // ---- RECEIVE
  assign own = cur.op == isa_pkg::OP_RECEIVE;
  always_comb begin
    arrived = '0;
    full = 1'b0;
    for (int i = 0; i < Tags; i++) begin
      if (32'(cur.tag) == i) arrived = arrivals_q[i];
      if (32'(head.tag) == i) full = arrivals_q[i] == '1;
    end
    consume = work && own && 32'(cur.tag) < Tags && arrived >= cur.rows;
    done = consume || !own || 32'(cur.tag) >= Tags;
    overflow = counts && full && !(consume && cur.tag == head.tag && cur.rows != '0);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_q <= 1'b0;
      count_q <= '0;
      load_row_q <= 1'b0;
      error_q <= 1'b0;
      for (int i = 0; i < Tags; i++) arrivals_q[i] <= '0;
    end else begin
      if (pop) rd_q <= !rd_q;
      count_q <= count_q + 2'(take) - 2'(pop);
      load_row_q <= written && head.kind == LOAD_DATA;
      if (overflow || bad_tag || bad_kind || (work && !own)) error_q <= 1'b1;
      if (counts || consume) begin
        for (int i = 0; i < Tags; i++) begin
          arrivals_q[i] <= arrivals_q[i] + 16'(counts && !overflow && 32'(head.tag) == i) -
                           (consume && 32'(cur.tag) == i ? cur.rows : 16'd0);
        end
      end
    end
    if (take) fifo_q[rd_q ^ count_q[0]] <= '{kind: flit_i.kind, tag: flit_i.tag, addr: flit_i.addr[15:0], data: flit_i.data};
    if (written) load_slot_q <= head.tag;
  end

  // ---- what the cycle was
  assign load_row_valid_o = load_row_q;
  assign load_row_slot_o  = load_slot_q;
  assign busy_o           = front_busy || count_q != '0 || load_row_q;
  assign error_o          = error_q;
  assign unused           = ^{cur, flit_i, mem_rsp_i.rvalid, mem_rsp_i.rerr, mem_rsp_i.rdata, signals};

  always_comb begin
    events_o = '0;
    events_o.busy = passed || (work && done);
    events_o.stall_tag = work && !done;
    events_o.stall_sem = wait_valid_o && !wait_gnt_i;
    events_o.idle = !(events_o.busy || events_o.stall_tag || events_o.stall_sem);
    events_o.rows = written;
    events_o.write_stalls = is_row && !mem_rsp_i.gnt;
  end

  // an offered flit stays until it is taken
  logic waits_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waits_q <= 1'b0;
    else waits_q <= flit_valid_i && !flit_ready_o;
  end
  `CHK(FlitHolds, !waits_q || flit_valid_i)
  `CHK(OneOfBusyStallIdle, 32'($countones({events_o.busy, events_o.stall_tag, events_o.stall_sem, events_o.idle})) == 32'd1)
endmodule
