// Network interface between the tile's engines and the router's LOCAL port. Into the network: send and move take turns by
// whole packets; a packet starts once a channel of its class has credits for all of it (most credits, ties the lowest).
// Out of it: a buffer of NOC_DEPTH flits per channel, which credits protect; channels take turns flit by flit. Latency: one
// cycle each way. Throughput: one flit a cycle each way. Every output is a function of the state. Twin: csim/net/ni.
`include "chk.svh"
module ni
  import noc_pkg::*;
#(
    localparam int CountBits = $clog2(DEPTH + 1),
    localparam int SlotBits = $clog2(DEPTH),
    localparam int ChBits = $clog2(NUM_VCS)
) (
    input  logic    clk_i,
    input  logic    rst_ni,
    // from the engines
    input  logic    send_valid_i,
    input  flit_t   send_flit_i,
    output logic    send_ready_o,
    output logic    send_left_o,   // a flit of send is on the link in this cycle
    input  logic    move_valid_i,
    input  flit_t   move_flit_i,
    output logic    move_ready_o,
    // to the router's LOCAL input
    output link_t   link_o,
    input  credit_t credit_i,
    // from the router's LOCAL output
    input  link_t   link_i,
    output credit_t credit_o,
    // to recv
    output logic    flit_valid_o,
    output flit_t   flit_o,
    input  logic    flit_ready_i,
    output logic    busy_o         // a flit is here
);
  // ---- into the network: two flits of each engine, [0] send, [1] move
  flit_t                inj_q[4];
  logic [1:0]           inj_rd_q, inj_take, inj_filled, able;
  logic [1:0]           inj_count_q[2];
  flit_t                front[2];
  logic [VC_BITS:0]     choice[2];
  logic                 locked_q, src_q, last_q, sends, win;
  logic [VC_BITS-1:0]   vc_q, win_vc;
  logic [CountBits-1:0] credits_q[NUM_VCS], credits_d[NUM_VCS], best[2];

  assign send_ready_o = !inj_count_q[0][1];
  assign move_ready_o = !inj_count_q[1][1];
  assign inj_take     = {move_valid_i && move_ready_o, send_valid_i && send_ready_o};

  always_comb begin
    for (int s = 0; s < 2; s++) begin
      inj_filled[s] = inj_count_q[s] != '0;
      front[s] = '0;
      choice[s] = '0;
      best[s] = '0;
      if (inj_filled[s]) front[s] = inj_q[{1'(s), inj_rd_q[s]}];
      if (inj_filled[s] && !locked_q) begin
        for (int v = NUM_VCS - 1; v >= 0; v--)
          if ((v == VC_REDUCE) == (front[s].kind == REDUCE) && credits_q[v] > CountBits'(front[s].len_m1) &&
              credits_q[v] >= best[s]) begin
            choice[s] = {1'b1, VC_BITS'(v)};
            best[s] = credits_q[v];
          end
      end
      able[s] = choice[s][VC_BITS];
    end
    win    = locked_q ? src_q : able == 2'b11 ? !last_q : able[1];
    sends  = locked_q ? inj_filled[src_q] : able != '0;
    win_vc = locked_q ? vc_q : choice[win][VC_BITS-1:0];
    link_o = '0;
    if (sends) link_o = '{valid: 1'b1, vc: win_vc, flit: front[win]};
    send_left_o = sends && !win;
    for (int v = 0; v < NUM_VCS; v++)
      credits_d[v] = credits_q[v] + CountBits'(credit_i[v]) - CountBits'(sends && 32'(win_vc) == v);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inj_rd_q <= '0;
      inj_count_q <= '{default: '0};
      locked_q <= 1'b0;
      last_q <= 1'b1;
      credits_q <= '{default: CountBits'(DEPTH)};
    end else begin
      for (int s = 0; s < 2; s++) begin
        if (sends && win == 1'(s)) inj_rd_q[s] <= !inj_rd_q[s];
        inj_count_q[s] <= inj_count_q[s] + 2'(inj_take[s]) - 2'(sends && win == 1'(s));
      end
      if (sends) begin
        locked_q <= !front[win].tail;
        last_q <= win;
      end
      credits_q <= credits_d;
    end
    if (sends) begin
      src_q <= win;
      vc_q <= win_vc;
    end
    if (inj_take[0]) inj_q[{1'b0, inj_rd_q[0] ^ inj_count_q[0][0]}] <= send_flit_i;
    if (inj_take[1]) inj_q[{1'b1, inj_rd_q[1] ^ inj_count_q[1][0]}] <= move_flit_i;
  end

  // ---- out of the network
  flit_t                ej_q      [NUM_VCS*DEPTH];
  logic [SlotBits-1:0]  ej_rd_q   [NUM_VCS];
  logic [CountBits-1:0] ej_count_q[NUM_VCS];
  logic [NUM_VCS-1:0]   filled, arrives, pops;
  logic [VC_BITS-1:0]   ej_vc, ej_last_q, ej_vc_q;
  logic                 hold_q, take;
  credit_t              credit_q;
  logic [31:0]          into;

  always_comb begin
    ej_vc = '0;
    for (int v = 0; v < NUM_VCS; v++) filled[v] = ej_count_q[v] != '0;
    for (int v = NUM_VCS - 1; v >= 0; v--) if (filled[v]) ej_vc = VC_BITS'(v);
    for (int v = NUM_VCS - 1; v >= 0; v--) if (filled[v] && v > 32'(ej_last_q)) ej_vc = VC_BITS'(v);
    if (hold_q) ej_vc = ej_vc_q;  // an offered flit stays
    flit_valid_o = |filled;
    flit_o = '0;
    if (flit_valid_o) flit_o = ej_q[32'(ej_vc)*DEPTH+32'(ej_rd_q[ej_vc[ChBits-1:0]])];
    take = flit_valid_o && flit_ready_i;
    into = 32'(link_i.vc) * DEPTH;
    for (int v = 0; v < NUM_VCS; v++) begin
      arrives[v] = link_i.valid && 32'(link_i.vc) == v;
      pops[v] = take && 32'(ej_vc) == v;
      if (arrives[v]) into += (32'(ej_rd_q[v]) + 32'(ej_count_q[v])) % DEPTH;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ej_rd_q <= '{default: '0};
      ej_count_q <= '{default: '0};
      ej_last_q <= VC_BITS'(NUM_VCS - 1);
      hold_q <= 1'b0;
      credit_q <= '0;
    end else begin
      for (int v = 0; v < NUM_VCS; v++) begin
        if (pops[v]) ej_rd_q[v] <= 32'(ej_rd_q[v]) == DEPTH - 1 ? '0 : ej_rd_q[v] + 1'b1;
        if (pops[v] != arrives[v]) ej_count_q[v] <= ej_count_q[v] + CountBits'(arrives[v]) - CountBits'(pops[v]);
      end
      if (take) ej_last_q <= ej_vc;
      hold_q <= flit_valid_o && !flit_ready_i;
      credit_q <= pops;
    end
    ej_vc_q <= ej_vc;
    if (link_i.valid) ej_q[into] <= link_i.flit;
  end

  assign credit_o = credit_q;
  assign busy_o   = flit_valid_o || inj_filled != '0;

  // offers stay until they are taken; credits and buffers agree with the router's
  logic [1:0] waits_q;
  logic       room, known;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) waits_q <= '0;
    else waits_q <= {move_valid_i && !move_ready_o, send_valid_i && !send_ready_o};
  end
  always_comb begin
    known = 1'b1;
    room = 1'b1;
    for (int v = 0; v < NUM_VCS; v++) begin
      if (credits_d[v] > CountBits'(DEPTH)) known = 1'b0;
      if (arrives[v] && ej_count_q[v] == CountBits'(DEPTH)) room = 1'b0;
    end
  end
  `CHK(OffersHold, (waits_q & ~{move_valid_i, send_valid_i}) == '0)
  `CHK(CreditsNeverExceedDepth, known)
  `CHK(ArrivalsFit, room)
  `CHK(ChannelExists, !link_i.valid || 32'(link_i.vc) < NUM_VCS)
endmodule
