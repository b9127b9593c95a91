// Front of the matmul engine: takes instructions in order, cuts a MATMUL into blocks (column tiles outermost, k
// innermost), loads their weights into the two halves of the weight registers, one row a cycle, and hands each block on
// when its load begins. A block's first read goes out in the cycle in which the last row of the block before the last
// one enters the array, so that a block costs max(rows, load) cycles and no more. WAIT holds the front; a SIGNAL moves into a
// queue and leaves once all column tiles begun before it are in SRAM. Twin: csim/matmul/matmul.c, front_*.
`include "chk.svh"
module matmul_front (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    // instructions, in order
    input  logic                             instr_valid_i,
    input  isa_pkg::instr_t                  instr_i,
    output logic                             instr_ready_o,
    // semaphores
    output logic                             wait_valid_o,
    output logic [4:0]                       wait_sem_o,
    output logic [7:0]                       wait_count_o,
    input  logic                             wait_gnt_i,
    output logic                             signal_valid_o,
    output logic [4:0]                       signal_sem_o,
    output logic [7:0]                       signal_count_o,
    // weights: port W in, the array's load port out
    output mem_pkg::mem_req_t                req_o,
    input  mem_pkg::mem_rsp_t                rsp_i,
    output logic                             wl_valid_o,
    output logic                             wl_bank_o,
    output logic [$clog2(2*cfg_pkg::COLS)-1:0] wl_row_o,
    output isa_pkg::fmt_t                    wl_fmt_o,
    // blocks: push_o says that half push_half_o holds a new one from the next cycle on
    output logic                             push_o,
    output logic                             push_half_o,
    output matmul_pkg::block_t [1:0]         block_o,
    output logic [1:0]                       loaded_o,
    // from the others: blocks not yet streamed, the last row of one enters now, column tiles in SRAM so far
    input  logic [1:0]                       blocks_i,
    input  logic                             row_last_i,
    input  logic [7:0]                       drained_i,
    output logic                             busy_o
);
  localparam int COLS = cfg_pkg::COLS;
  localparam int GROUPS = COLS / 8;
  localparam int RowBits = $clog2(2 * COLS);
  localparam int Signals = 4;

  typedef struct packed {
    logic [4:0] sem;
    logic [7:0] count;
    logic [7:0] after;
  } signal_t;

  logic cur_valid_q, nxt_valid_q, cur_free, accept, advance, is_mm, is_wait, is_signal, can_start, gnt, row_end, instr_end;
  isa_pkg::instr_t cur_q, nxt_q, cur_load;
  logic load;
  logic [15:0] n_rem_q, k_rem_q, a_ptr_q, as_ptr_q, w_ptr_q, ws_addr_q, c_ptr_q;
  logic [1:0] ws_sub_q;
  logic fresh_q, tag_q, bank_q, open_q, push_half_q, k_last, n_last;
  logic [RowBits-1:0] w_row_q, load_rows_m1;
  matmul_pkg::block_t [1:0] block_q;
  matmul_pkg::block_t block_d;
  logic [1:0] loaded_q;
  logic pend_q, pend_half_q, pend_last_q;
  logic [RowBits-1:0] pend_row_q;
  isa_pkg::fmt_t pend_fmt_q;
  signal_t [Signals-1:0] sig_q;
  logic [2:0] sig_n_q;
  logic [1:0] sig_rd_q, sig_wr;
  logic [7:0] issued_q, sig_lag;
  logic sig_push;
  logic [15:0] ws_sum;
  logic unused;

  assign is_mm = cur_valid_q && cur_q.op == isa_pkg::OP_MATMUL;
  assign is_wait = cur_valid_q && cur_q.op == isa_pkg::OP_WAIT;
  assign is_signal = cur_valid_q && cur_q.op == isa_pkg::OP_SIGNAL;
  assign can_start = blocks_i < 2'd2 || row_last_i;
  assign push_o = is_mm && !open_q && can_start;
  assign push_half_o = push_half_q;
  assign k_last = k_rem_q <= 16'd32;
  assign n_last = n_rem_q <= 16'(COLS);
  assign gnt = req_o.valid && rsp_i.gnt;
  assign row_end = gnt && w_row_q == load_rows_m1;
  assign instr_end = row_end && k_last && n_last;
  assign sig_push = is_signal && sig_n_q < 3'(Signals);
  assign advance = is_mm ? instr_end : is_wait ? wait_gnt_i : is_signal ? sig_push : cur_valid_q;
  assign instr_ready_o = !nxt_valid_q;
  assign accept = instr_valid_i && instr_ready_o;
  assign cur_free = !cur_valid_q || advance;
  assign load = cur_free && (nxt_valid_q || accept);
  assign cur_load = nxt_valid_q ? nxt_q : instr_i;

  always_comb begin
    unique case (cur_q.fmt_w)
      isa_pkg::FMT_E2M1, isa_pkg::FMT_INT4: load_rows_m1 = RowBits'(COLS / 2 - 1);
      isa_pkg::FMT_BF16: load_rows_m1 = RowBits'(2 * COLS - 1);
      default: load_rows_m1 = RowBits'(COLS - 1);
    endcase
    req_o = '0;
    req_o.valid = is_mm && (open_q || can_start);
    req_o.addr = w_ptr_q;
    ws_sum = 16'(ws_sub_q) + 16'(GROUPS);
    block_d = block_q[0];
    if (push_o) begin
      block_d.a_base = a_ptr_q;
      block_d.as_base = as_ptr_q;
      block_d.ws_addr = ws_addr_q;
      block_d.ws_sub = ws_sub_q;
      block_d.c_base = c_ptr_q;
      block_d.m = cur_q.m;
      block_d.fmt_a = cur_q.fmt_a;
      block_d.scale_a = cur_q.scale_a;
      block_d.scale_w = cur_q.scale_w;
      block_d.init = cur_q.init;
      block_d.first = k_rem_q == cur_q.k;
      block_d.last = k_last;
      block_d.fresh = fresh_q;
      block_d.tag = tag_q;
      block_d.bank = bank_q;
      block_d.ncol = n_last ? n_rem_q[7:0] : 8'(COLS);
      block_d.kval = k_last ? k_rem_q[5:0] : 6'd32;
    end
  end

  assign wait_valid_o = is_wait;
  assign wait_sem_o = cur_q.sem;
  assign wait_count_o = cur_q.count;
  assign sig_wr = sig_rd_q + sig_n_q[1:0];
  assign sig_lag = drained_i - sig_q[sig_rd_q].after;
  assign signal_valid_o = sig_n_q != 3'd0 && !sig_lag[7];
  assign signal_sem_o = sig_q[sig_rd_q].sem;
  assign signal_count_o = sig_q[sig_rd_q].count;
  assign wl_valid_o = pend_q && rsp_i.rvalid;
  assign wl_bank_o = pend_half_q;
  assign wl_row_o = pend_row_q;
  assign wl_fmt_o = pend_fmt_q;
  assign block_o = block_q;
  assign loaded_o = loaded_q;
  assign busy_o = cur_valid_q || nxt_valid_q || sig_n_q != 3'd0;
  assign unused = ^{rsp_i.rerr, rsp_i.rdata, cur_q, sig_lag[6:0]};  // data go to the array, errors to the top

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cur_valid_q <= 1'b0;
      nxt_valid_q <= 1'b0;
      open_q <= 1'b0;
      push_half_q <= 1'b0;
      tag_q <= 1'b0;
      bank_q <= 1'b0;
      loaded_q <= '0;
      pend_q <= 1'b0;
      sig_n_q <= '0;
      sig_rd_q <= '0;
      issued_q <= '0;
    end else begin
      if (cur_free) cur_valid_q <= load;
      nxt_valid_q <= (nxt_valid_q && !cur_free) || (accept && !cur_free);
      if (push_o) begin
        push_half_q <= !push_half_q;
        loaded_q[push_half_q] <= 1'b0;
        if (block_d.first) issued_q <= issued_q + 8'd1;
      end
      if (is_mm) open_q <= (open_q || can_start) && !row_end;
      if (row_end && k_last) bank_q <= !bank_q;
      if (instr_end) tag_q <= !tag_q;
      pend_q <= gnt;
      if (wl_valid_o && pend_last_q) loaded_q[pend_half_q] <= 1'b1;
      sig_n_q <= sig_n_q + 3'(sig_push) - 3'(signal_valid_o);
      if (signal_valid_o) sig_rd_q <= sig_rd_q + 2'd1;
    end
    if (accept) nxt_q <= instr_i;
    if (push_o) block_q[push_half_q] <= block_d;
    if (sig_push) sig_q[sig_wr] <= '{sem: cur_q.sem, count: cur_q.count, after: issued_q};
    if (gnt) begin
      pend_half_q <= open_q ? !push_half_q : push_half_q;
      pend_last_q <= row_end;
      pend_row_q <= w_row_q;
      pend_fmt_q <= cur_q.fmt_w;
      w_row_q <= row_end ? '0 : w_row_q + 1'b1;
      w_ptr_q <= w_ptr_q + 16'd1;
    end
    if (row_end) begin
      fresh_q <= 1'b0;
      k_rem_q <= k_last ? cur_q.k : k_rem_q - 16'd32;
      a_ptr_q <= k_last ? cur_q.addr_a : a_ptr_q + (cur_q.fmt_a == isa_pkg::FMT_BF16 ? cur_q.m << 1 : cur_q.m);
      as_ptr_q <= k_last ? cur_q.addr_as : as_ptr_q + ((cur_q.m + 16'd31) >> 5);
      ws_addr_q <= ws_addr_q + (cur_q.scale_w == isa_pkg::SCALE_BF16 ? ws_sum >> 1 : ws_sum >> 2);
      ws_sub_q <= cur_q.scale_w == isa_pkg::SCALE_BF16 ? {1'b0, ws_sum[0]} : ws_sum[1:0];
      if (k_last) begin
        n_rem_q <= n_rem_q - 16'(COLS);
        c_ptr_q <= c_ptr_q + 16'(cur_q.m * 16'(GROUPS));
      end
    end
    if (load) begin
      cur_q <= cur_load;
      n_rem_q <= cur_load.n;
      k_rem_q <= cur_load.k;
      a_ptr_q <= cur_load.addr_a;
      as_ptr_q <= cur_load.addr_as;
      w_ptr_q <= cur_load.addr_w;
      ws_addr_q <= cur_load.addr_ws;
      ws_sub_q <= '0;
      c_ptr_q <= cur_load.addr_c;
      w_row_q <= '0;
      fresh_q <= 1'b1;
    end
  end

  `CHK(MIsInRange, !is_mm || (cur_q.m >= 16'd1 && cur_q.m <= 16'(cfg_pkg::ROWS)))
  `CHK(ReadIsAnswered, !pend_q || rsp_i.rvalid)
endmodule
