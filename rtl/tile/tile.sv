// Tile: sequencer, queues, five engines, SRAM, semaphores, network interface, router and counters; wiring and no logic of
// its own but the gathering of done and error. Every instruction takes its engine's time; see rtl/tile/README.md.
// Twin: csim/tile/tile.
`include "chk.svh"
module tile
  import noc_pkg::*;
#(
    localparam int Engines = isa_pkg::NUM_ENGINES,
    localparam int ImemBits = $clog2(cfg_pkg::IMEM_ROWS)
) (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,
    input  node_t                                     here_i,         // constant
    // host: writes instructions while idle; start and snapshot are pulses
    input  logic                                      imem_we_i,
    input  logic             [ImemBits-1:0]           imem_addr_i,
    input  isa_pkg::instr_t                           imem_wdata_i,
    input  logic                                      start_i,
    input  logic                                      snapshot_i,
    // fault injection, as the ports of sram
    input  logic                                      inject_valid_i,
    input  logic             [mem_pkg::ADDR_BITS-1:0] inject_addr_i,
    input  logic             [287:0]                  inject_flip_i,
    output logic                                      done_o,         // the program has ended and every unit is idle
    output logic                                      error_o,        // sticky: of an engine, a semaphore, a full counter
    output logic             [events_pkg::NUM_EVENTS-1:0][47:0] snap_o, // counters as of the last snapshot
    // what each engine waits for in this cycle, for the watchdog
    output logic             [Engines-1:0]            wait_valid_o,
    output logic             [Engines-1:0][4:0]       wait_sem_o,
    output logic             [Engines-1:0][7:0]       wait_count_o,
    // power of this tile over the last window, so that the waves show it; no logic reads it
    // verilator lint_off UNUSEDSIGNAL
    input  logic             [31:0]                   power_mw_i,
    // verilator lint_on UNUSEDSIGNAL
    // neighbour links with credits; index = port of noc_pkg less one
    input  link_t            [3:0]                    link_i,
    output credit_t          [3:0]                    credit_o,
    output link_t            [3:0]                    link_o,
    input  credit_t          [3:0]                    credit_i
);
  localparam int Mm = 0;
  localparam int Mv = 1;
  localparam int Tx = 2;
  localparam int Rx = 3;
  localparam int Vx = 4;

  // ---- sequencer and queues
  logic            [Engines-1:0] seq_valid, seq_ready, instr_valid, instr_ready;
  isa_pkg::instr_t               seq_instr;
  isa_pkg::instr_t [Engines-1:0] instr;
  logic                          running, seq_error;

  events_pkg::tile_events_t      ev;

  tile_seq u_seq (
      .clk_i,
      .rst_ni,
      .imem_we_i,
      .imem_addr_i,
      .imem_wdata_i,
      .start_i,
      .running_o    (running),
      .error_o      (seq_error),
      .instr_valid_o(seq_valid),
      .instr_o      (seq_instr),
      .instr_ready_i(seq_ready),
      .events_o     (ev.seq)
  );
  for (genvar e = 0; e < Engines; e++) begin : gen_queue
    tile_queue u_queue (
        .clk_i,
        .rst_ni,
        .in_valid_i (seq_valid[e]),
        .in_instr_i (seq_instr),
        .in_ready_o (seq_ready[e]),
        .out_valid_o(instr_valid[e]),
        .out_instr_o(instr[e]),
        .out_ready_i(instr_ready[e])
    );
  end

  // ---- semaphores
  logic [Engines-1:0]      wait_valid, wait_gnt, signal_valid;
  logic [Engines-1:0][4:0] wait_sem, signal_sem;
  logic [Engines-1:0][7:0] wait_count, signal_count;
  logic                    sems_error;

  tile_sems u_sems (
      .clk_i,
      .rst_ni,
      .wait_valid_i  (wait_valid),
      .wait_sem_i    (wait_sem),
      .wait_count_i  (wait_count),
      .wait_gnt_o    (wait_gnt),
      .signal_valid_i(signal_valid),
      .signal_sem_i  (signal_sem),
      .signal_count_i(signal_count),
      .error_o       (sems_error)
  );

  // ---- memory
  mem_pkg::mem_req_t [mem_pkg::NUM_PORTS-1:0] mem_req;
  mem_pkg::mem_rsp_t [mem_pkg::NUM_PORTS-1:0] mem_rsp;

  sram u_sram (
      .clk_i,
      .rst_ni,
      .req_i   (mem_req),
      .rsp_o   (mem_rsp),
      .inject_valid_i,
      .inject_addr_i,
      .inject_flip_i,
      .events_o(ev.sram)
  );

  // ---- engines
  logic  [Engines-1:0]               busy, error;
  logic                              move_valid, move_ready, send_valid, send_ready, send_left;
  logic                              flit_valid, flit_ready, load_row_valid, ack_valid;
  logic  [TAG_BITS-1:0]              load_row_slot, ack_slot;
  flit_t                             move_flit, send_flit, flit;

  matmul u_matmul (
      .clk_i,
      .rst_ni,
      .instr_valid_i (instr_valid[Mm]),
      .instr_i       (instr[Mm]),
      .instr_ready_o (instr_ready[Mm]),
      .mem_req_o     (mem_req[mem_pkg::PORT_MM_C:mem_pkg::PORT_MM_A]),
      .mem_rsp_i     (mem_rsp[mem_pkg::PORT_MM_C:mem_pkg::PORT_MM_A]),
      .wait_valid_o  (wait_valid[Mm]),
      .wait_sem_o    (wait_sem[Mm]),
      .wait_count_o  (wait_count[Mm]),
      .wait_gnt_i    (wait_gnt[Mm]),
      .signal_valid_o(signal_valid[Mm]),
      .signal_sem_o  (signal_sem[Mm]),
      .signal_count_o(signal_count[Mm]),
      .busy_o        (busy[Mm]),
      .error_o       (error[Mm]),
      .events_o      (ev.matmul)
  );
  move u_move (
      .clk_i,
      .rst_ni,
      .x_i             (here_i.x),
      .y_i             (here_i.y),
      .instr_valid_i   (instr_valid[Mv]),
      .instr_i         (instr[Mv]),
      .instr_ready_o   (instr_ready[Mv]),
      .mem_req_o       (mem_req[mem_pkg::PORT_MOVE_W:mem_pkg::PORT_MOVE_R]),
      .mem_rsp_i       (mem_rsp[mem_pkg::PORT_MOVE_W:mem_pkg::PORT_MOVE_R]),
      .wait_valid_o    (wait_valid[Mv]),
      .wait_sem_o      (wait_sem[Mv]),
      .wait_count_o    (wait_count[Mv]),
      .wait_gnt_i      (wait_gnt[Mv]),
      .signal_valid_o  (signal_valid[Mv]),
      .signal_sem_o    (signal_sem[Mv]),
      .signal_count_o  (signal_count[Mv]),
      .flit_valid_o    (move_valid),
      .flit_o          (move_flit),
      .flit_ready_i    (move_ready),
      .load_row_valid_i(load_row_valid),
      .load_row_slot_i (load_row_slot),
      .ack_valid_i     (ack_valid),
      .ack_slot_i      (ack_slot),
      .busy_o          (busy[Mv]),
      .error_o         (error[Mv]),
      .events_o        (ev.move)
  );
  send u_send (
      .clk_i,
      .rst_ni,
      .x_i           (here_i.x),
      .y_i           (here_i.y),
      .instr_valid_i (instr_valid[Tx]),
      .instr_i       (instr[Tx]),
      .instr_ready_o (instr_ready[Tx]),
      .mem_req_o     (mem_req[mem_pkg::PORT_SEND]),
      .mem_rsp_i     (mem_rsp[mem_pkg::PORT_SEND]),
      .wait_valid_o  (wait_valid[Tx]),
      .wait_sem_o    (wait_sem[Tx]),
      .wait_count_o  (wait_count[Tx]),
      .wait_gnt_i    (wait_gnt[Tx]),
      .signal_valid_o(signal_valid[Tx]),
      .signal_sem_o  (signal_sem[Tx]),
      .signal_count_o(signal_count[Tx]),
      .flit_valid_o  (send_valid),
      .flit_o        (send_flit),
      .flit_ready_i  (send_ready),
      .left_i        (send_left),
      .busy_o        (busy[Tx]),
      .error_o       (error[Tx]),
      .events_o      (ev.send)
  );
  recv u_recv (
      .clk_i,
      .rst_ni,
      .instr_valid_i   (instr_valid[Rx]),
      .instr_i         (instr[Rx]),
      .instr_ready_o   (instr_ready[Rx]),
      .mem_req_o       (mem_req[mem_pkg::PORT_RECV]),
      .mem_rsp_i       (mem_rsp[mem_pkg::PORT_RECV]),
      .wait_valid_o    (wait_valid[Rx]),
      .wait_sem_o      (wait_sem[Rx]),
      .wait_count_o    (wait_count[Rx]),
      .wait_gnt_i      (wait_gnt[Rx]),
      .signal_valid_o  (signal_valid[Rx]),
      .signal_sem_o    (signal_sem[Rx]),
      .signal_count_o  (signal_count[Rx]),
      .flit_valid_i    (flit_valid),
      .flit_i          (flit),
      .flit_ready_o    (flit_ready),
      .load_row_valid_o(load_row_valid),
      .load_row_slot_o (load_row_slot),
      .ack_valid_o     (ack_valid),
      .ack_slot_o      (ack_slot),
      .busy_o          (busy[Rx]),
      .error_o         (error[Rx]),
      .events_o        (ev.recv)
  );

  vec u_vec (
      .clk_i,
      .rst_ni,
      .instr_valid_i (instr_valid[Vx]),
      .instr_i       (instr[Vx]),
      .instr_ready_o (instr_ready[Vx]),
      .mem_req_o     (mem_req[mem_pkg::PORT_VEC_W:mem_pkg::PORT_VEC_A]),
      .mem_rsp_i     (mem_rsp[mem_pkg::PORT_VEC_W:mem_pkg::PORT_VEC_A]),
      .wait_valid_o  (wait_valid[Vx]),
      .wait_sem_o    (wait_sem[Vx]),
      .wait_count_o  (wait_count[Vx]),
      .wait_gnt_i    (wait_gnt[Vx]),
      .signal_valid_o(signal_valid[Vx]),
      .signal_sem_o  (signal_sem[Vx]),
      .signal_count_o(signal_count[Vx]),
      .busy_o        (busy[Vx]),
      .error_o       (error[Vx]),
      .events_o      (ev.vec)
  );

  // ---- network
  link_t   inject_link, eject_link;
  credit_t inject_credit, eject_credit;
  logic    ni_busy, router_busy;

  ni u_ni (
      .clk_i,
      .rst_ni,
      .send_valid_i(send_valid),
      .send_flit_i (send_flit),
      .send_ready_o(send_ready),
      .send_left_o (send_left),
      .move_valid_i(move_valid),
      .move_flit_i (move_flit),
      .move_ready_o(move_ready),
      .link_o      (inject_link),
      .credit_i    (inject_credit),
      .link_i      (eject_link),
      .credit_o    (eject_credit),
      .flit_valid_o(flit_valid),
      .flit_o      (flit),
      .flit_ready_i(flit_ready),
      .busy_o      (ni_busy)
  );
  router u_router (
      .clk_i,
      .rst_ni,
      .here_i,
      .link_i  ({link_i, inject_link}),
      .credit_o({credit_o, inject_credit}),
      .link_o  ({link_o, eject_link}),
      .credit_i({credit_i, eject_credit}),
      .busy_o  (router_busy),
      .events_o(ev.router)
  );

  // ---- activity
  logic [events_pkg::NUM_EVENTS-1:0] full;

  counters u_counters (
      .clk_i,
      .rst_ni,
      .events_i     (ev),
      .snapshot_i,
      .clear_i      (1'b0),
      .snap_o,
      .snap_sticky_o(full)
  );

  assign done_o       = !running && instr_valid == '0 && busy == '0 && !ni_busy && !router_busy;
  assign error_o      = seq_error || sems_error || error != '0 || full != '0;
  assign wait_valid_o = wait_valid & ~wait_gnt;
  assign wait_sem_o   = wait_sem;
  assign wait_count_o = wait_count;

  `CHK(OneEngineIsOffered, $onehot0(seq_valid))
  `CHK(MatmulIsBusyStalledOrIdle, $onehot({ev.matmul.busy, ev.matmul.stall_weights, ev.matmul.stall_operand,
                                           ev.matmul.stall_scale, ev.matmul.stall_acc, ev.matmul.stall_sem, ev.matmul.idle}))
endmodule
