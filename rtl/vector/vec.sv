// Vector engine of a tile: the operations of isa_pkg::OP_VADD .. OP_VQUANT on rows of eight float32, WAIT, SIGNAL. An
// instruction is taken when the one before it has written its last row, so it sees all that was written. A step fired in
// cycle t enters the lanes in t + 2 and has its result in t + 5, which is asked to be written in t + 6. Throughput: one
// step a cycle while banks are free; a group of VSUM or VLARGEST takes 21 cycles more to join its partial results. Twin:
// csim/vector/vec.
`include "chk.svh"
module vec
  import vec_pkg::*;
(
    input  logic                       clk_i,
    input  logic                       rst_ni,
    // instructions, in order
    input  logic                       instr_valid_i,
    input  isa_pkg::instr_t            instr_i,
    output logic                       instr_ready_o,
    // SRAM: PORT_VEC_A, PORT_VEC_B, PORT_VEC_C, PORT_VEC_W
    output mem_pkg::mem_req_t [3:0]    mem_req_o,
    // the write port's data are not looked at
    // verilator lint_off UNUSEDSIGNAL
    input  mem_pkg::mem_rsp_t [3:0]    mem_rsp_i,
    // verilator lint_on UNUSEDSIGNAL
    // semaphores: wait holds until granted, signal is always taken
    output logic                       wait_valid_o,
    output logic [4:0]                 wait_sem_o,
    output logic [7:0]                 wait_count_o,
    input  logic                       wait_gnt_i,
    output logic                       signal_valid_o,
    output logic [4:0]                 signal_sem_o,
    output logic [7:0]                 signal_count_o,
    // anything queued or in flight; a read was poisoned or an instruction is not one of this engine (sticky)
    output logic                       busy_o,
    output logic                       error_o,
    output events_pkg::vec_events_t events_o
);
  localparam int Depth = 8;  // of the write queue: a row's way from its step to its grant, and one
  localparam int Rd = 3;     // read ports
  localparam int Wr = 3;     // index of the write port

  typedef struct packed {
    logic [15:0] addr;
    lanes_t      row;
  } write_t;

  isa_pkg::instr_t work_instr;
  isa_pkg::vec_instr_t work, instr_q;
  logic work_valid, done, quiet, front_busy, signals, passed, nothing, load, legal, empty;
  logic running_q, error_q, unused;
  facts_t work_facts, facts_q;

  engine_front u_front (
      .clk_i, .rst_ni, .instr_valid_i, .instr_i, .instr_ready_o,
      .wait_valid_o, .wait_sem_o, .wait_count_o, .wait_gnt_i, .signal_valid_o, .signal_sem_o, .signal_count_o,
      .work_valid_o(work_valid), .work_o(work_instr), .done_i(done), .quiet_i(quiet),
      .busy_o(front_busy), .signals_o(signals), .passed_o(passed)
  );

  // ---- taking an instruction
  assign work       = work_instr;
  assign work_facts = facts(work.op);
  assign legal      = work_facts.own && shape_fits(work_facts.kind, work) &&
                      (work_facts.kind != KIND_QUANT || has_blocks(work.arg));
  assign empty      = work.outer == '0 || work.lines == '0 || work.segs == '0 || work.rows == '0;
  assign nothing    = work_valid && quiet && (!legal || empty);
  assign load       = work_valid && quiet && legal && !empty;
  assign done       = nothing || load;

  // ---- steps
  logic [2:0][15:0] addr;
  logic first, group_last, last, scale_due, fire, room, held_q, join_release;
  logic [4:0] byte_idx;
  logic [Rd-1:0] need, gnt, got_q;
  logic [1:0] part_q;
  logic [3:0] reserved_q, reserve;
  logic write_gnt;
  write_t fifo_q[Depth];  // the write queue
  logic [2:0] rd_q;
  logic [3:0] count_q;

  vec_walk u_walk (
      .clk_i, .load_i(load), .instr_i(load ? work : instr_q), .quant_i(facts_q.kind == KIND_QUANT), .step_i(fire),
      .addr_o(addr), .first_o(first), .group_last_o(group_last), .last_o(last), .scale_due_o(scale_due),
      .byte_o(byte_idx)
  );

  assign room    = reserved_q <= 4'(Depth - 2);
  assign need[0] = instr_q.a.wide || first;
  assign need[1] = facts_q.uses_b && (instr_q.b.wide || first);
  assign need[2] = facts_q.uses_c && (instr_q.c.wide || first);
  assign fire    = running_q && room && !held_q && (need & ~(got_q | gnt)) == '0;

  always_comb begin
    mem_req_o = '0;
    for (int x = 0; x < Rd; x++) begin
      mem_req_o[x].valid = running_q && room && !held_q && need[x] && !got_q[x];
      if (mem_req_o[x].valid) mem_req_o[x].addr = addr[x];
    end
    if (count_q != '0) mem_req_o[Wr] = '{valid: 1'b1, we: 1'b1, addr: fifo_q[rd_q].addr, wdata: fifo_q[rd_q].row};
  end
  always_comb begin
    for (int x = 0; x < Rd; x++) gnt[x] = mem_req_o[x].valid && mem_rsp_i[x].gnt;
    write_gnt = mem_req_o[Wr].valid && mem_rsp_i[Wr].gnt;
    reserve = '0;
    if (fire && (facts_q.kind == KIND_ROWS || group_last))
      reserve = facts_q.kind == KIND_QUANT && scale_due ? 4'd2 : 4'd1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q  <= 1'b0;
      got_q      <= '0;
      part_q     <= '0;
      held_q     <= 1'b0;
      reserved_q <= '0;
    end else begin
      running_q  <= load || (running_q && !(fire && last));
      got_q      <= fire ? '0 : got_q | gnt;
      if (fire) part_q <= group_last ? '0 : part_q + 2'd1;
      held_q     <= (fire && group_last && facts_q.kind == KIND_REDUCE) || (held_q && !join_release);
      reserved_q <= reserved_q + reserve - 4'(write_gnt);
    end
    if (load) begin
      instr_q <= work;
      facts_q <= work_facts;
    end
  end

  // ---- operands: a step's are here two cycles behind it
  step_t fired_d;
  step_t [4:0] step_q;          // of the step fired 1 .. 5 cycles ago
  logic [3:0] step_valid_q;  // the last one's is the lanes' valid
  lanes_t [Rd-1:0] operand_q;
  lanes_t partial, join_a, join_b, lane_a, lane_b;
  logic join_valid, enter, poisoned;
  step_t join_step;

  always_comb begin
    fired_d = '0;
    fired_d.first = first;
    fired_d.last = group_last;
    fired_d.part = part_q;
    fired_d.addr = addr[2];
    fired_d.scale_addr = addr[1];
    fired_d.scale_due = scale_due;
    fired_d.byte_idx = byte_idx;
    poisoned = 1'b0;
    for (int x = 0; x < Rd; x++) poisoned |= mem_rsp_i[x].rvalid && mem_rsp_i[x].rerr;
  end

  assign enter = step_valid_q[1] || join_valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_valid_q <= '0;
      error_q      <= 1'b0;
    end else begin
      step_valid_q <= {step_valid_q[2], enter, step_valid_q[0], fire};
      if (poisoned || (nothing && !legal)) error_q <= 1'b1;
    end
    for (int x = 0; x < Rd; x++) if (mem_rsp_i[x].rvalid) operand_q[x] <= mem_rsp_i[x].rdata;
    if (fire) step_q[0] <= fired_d;
    if (step_valid_q[0]) step_q[1] <= step_q[0];
    if (enter) step_q[2] <= join_valid ? join_step : step_q[1];
    if (step_valid_q[2]) step_q[3] <= step_q[2];
    if (step_valid_q[3]) step_q[4] <= step_q[3];
  end

  // ---- lanes
  lanes_t result;
  logic [LANES-1:0] lane_valid;
  logic result_valid;
  step_t at;  // the result's step

  always_comb begin
    lane_a = operand_q[0];
    lane_b = operand_q[1];
    if (facts_q.kind == KIND_REDUCE) lane_b = partial;
    if (instr_q.op == isa_pkg::OP_VCOPY) lane_a = swap(operand_q[0], instr_q.arg[2:0]);
    if (join_valid) begin
      lane_a = join_a;
      lane_b = join_b;
    end
  end
  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    vec_lane u_lane (
        .clk_i, .rst_ni, .valid_i(enter), .op_i(facts_q.lane), .a_i(lane_a[i]), .b_i(lane_b[i]),
        .c_i(operand_q[2][i]), .valid_o(lane_valid[i]), .result_o(result[i])
    );
  end
  assign result_valid = lane_valid[0];
  assign at           = step_q[4];

  vec_join u_join (
      .clk_i, .rst_ni, .largest_i(facts_q.lane == LANE_MAX),
      .clear_i(step_valid_q[0] && step_q[0].first && facts_q.kind == KIND_REDUCE),
      .part_i(step_q[1].part), .partial_o(partial), .result_i(result_valid && facts_q.kind == KIND_REDUCE),
      .step_i(at), .lanes_i(result), .join_valid_o(join_valid), .join_o(join_step), .join_a_o(join_a),
      .join_b_o(join_b), .release_o(join_release)
  );

  // ---- results that several steps make
  lanes_t [2:0] kept_q;  // the group's rows before this one
  logic [15:0] sum_addr_q;
  logic [LANES-1:0][15:0] low, high;
  logic block_valid, codes_valid, scale_push_q;
  step_t [1:0] block_q;
  logic [3:0][LANES-1:0][31:0] block;
  logic [num_pkg::BLOCK-1:0][7:0] codes;
  logic [7:0] scale;
  logic [31:0][7:0] scales_d, scales_q;
  logic [255:0] code_row;
  logic [15:0] scale_addr_q;

  assign block       = {result, kept_q};
  assign block_valid = result_valid && facts_q.kind == KIND_QUANT && at.last;

  mx_quantize u_quantize (
      .clk_i, .rst_ni, .valid_i(block_valid),
      .fmt_i(isa_pkg::fmt_t'(instr_q.arg[2:0])), .rule_i(num_pkg::rule_t'(instr_q.arg[4:3])), .x_i(block),
      .valid_o(codes_valid), .codes_o(codes), .scale_o(scale)
  );

  always_comb begin
    for (int i = 0; i < LANES; i++) begin
      low[i]  = to_bf16(kept_q[0][i]);
      high[i] = to_bf16(result[i]);
    end
    code_row = codes;
    if (instr_q.arg[2:0] == isa_pkg::FMT_E2M1) begin
      code_row = '0;
      for (int i = 0; i < num_pkg::BLOCK; i++) code_row[4*i+:4] = codes[i][3:0];
    end
    scales_d = scales_q;
    scales_d[block_q[1].byte_idx] = scale;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) scale_push_q <= 1'b0;
    else scale_push_q <= codes_valid && block_q[1].scale_due;
    if (result_valid && facts_q.kind[1] && !at.last) kept_q[at.part] <= result;
    if (result_valid && facts_q.kind == KIND_REDUCE && at.last) sum_addr_q <= at.addr;
    if (block_valid) block_q[0] <= at;
    block_q[1] <= block_q[0];
    if (load || scale_push_q) scales_q <= '0;
    else if (codes_valid) scales_q <= scales_d;
    if (codes_valid) scale_addr_q <= block_q[1].scale_addr;
  end

  // ---- write queue
  write_t push_row;
  logic push;
  logic [2:0] wr;

  always_comb begin
    push_row = '{addr: at.addr, row: result};
    push = 1'b0;
    unique case (facts_q.kind)
      KIND_ROWS: push = result_valid;
      KIND_REDUCE: begin
        push = result_valid && at.final_join;
        push_row.addr = sum_addr_q;
      end
      KIND_BF16: begin
        push = result_valid && at.last;
        push_row.row = {high, low};
      end
      default: begin
        push = codes_valid || scale_push_q;
        push_row = '{addr: block_q[1].addr, row: code_row};
        if (scale_push_q) push_row = '{addr: scale_addr_q, row: scales_q};
      end
    endcase
  end
  assign wr = rd_q + count_q[2:0];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_q    <= '0;
      count_q <= '0;
    end else begin
      if (write_gnt) rd_q <= rd_q + 3'd1;
      count_q <= count_q + 4'(push) - 4'(write_gnt);
    end
    if (push) fifo_q[wr] <= push_row;
  end

  // ---- what the cycle was
  lanes_t last_result_q;
  logic [8:0] toggles;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) last_result_q <= '0;
    else if (result_valid) last_result_q <= result;
  end
  always_comb begin
    toggles = '0;
    if (result_valid) toggles = 9'($countones(result ^ last_result_q));
  end

  assign quiet   = !running_q && reserved_q == '0;
  assign busy_o  = front_busy || !quiet;
  assign error_o = error_q;
  assign unused  = signals || work_instr.reserved != '0 || instr_q.reserved != '0 || lane_valid != '0 || facts_q.own;

  always_comb begin
    events_o = '0;
    if (fire || load || passed || nothing) events_o.busy = 1'b1;
    else if (running_q && held_q) events_o.stall_reduce = 1'b1;
    else if (running_q) events_o.stall_bank = 1'b1;
    else if (reserved_q != '0) events_o.stall_drain = 1'b1;
    else if (wait_valid_o) events_o.stall_sem = 1'b1;
    else events_o.idle = 1'b1;
    events_o.lane_ops = enter ? 4'(LANES) : '0;
    events_o.result_toggles = toggles;
    events_o.rows_written = write_gnt;
    events_o.blocks = block_valid;
  end

  `CHK(OneOfBusyStallIdle, $onehot({events_o.busy, events_o.stall_bank, events_o.stall_reduce, events_o.stall_drain,
                                    events_o.stall_sem, events_o.idle}))
  `CHK(QueueHasRoom, !push || count_q != 4'(Depth))
  `CHK(OneEntersTheLanes, !(step_valid_q[1] && join_valid))
  `CHK(ResultsAreReserved, 32'(count_q) <= 32'(reserved_q))
endmodule
