// Router: five ports, DATA_VCS data channels and one for reductions, NOC_DEPTH flits each, XY, virtual cut-through.
// Outputs are functions of the state. A flit written into a buffer at the end of cycle t can be in the next router's
// buffer at the end of t + 1: one cycle a hop. Throughput: one flit a cycle and output; any buffer may feed any output.
// A head claims a free downstream channel with credits for its whole packet; body flits follow; the tail frees it.
// Multicast branches have read pointers of their own; a flit is freed when all its branches have sent it.
// Streams of a reduction that meet here pass the reducer: one addition of 8 float32 lanes a cycle, in the order of the
// ports (local, north, east, south, west), the sum leaving as a requester of its own.
// Twin: csim/noc/router.
`include "chk.svh"
module router
  import noc_pkg::*;
  import router_pkg::*;
#(
    localparam int Buffers = PORTS * NUM_VCS,
    localparam int Requesters = Buffers + 1,
    localparam int IdxBits = $clog2(Requesters),
    localparam int SlotBits = $clog2(DEPTH),
    localparam int CountBits = $clog2(DEPTH + 1)
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    input  node_t                       here_i,    // constant
    // links: a flit is taken in the cycle of its valid; credits say that it fits
    input  link_t   [PORTS-1:0]         link_i,
    output credit_t [PORTS-1:0]         credit_o,
    output link_t   [PORTS-1:0]         link_o,
    input  credit_t [PORTS-1:0]         credit_i,
    output logic                        busy_o,    // a flit is buffered or in the reducer
    output events_pkg::router_events_t  events_o
);
  // ---- state
  flit_t                mem_q    [Buffers*DEPTH];
  logic [SlotBits-1:0]  rd_q     [Buffers], rd_d     [Buffers];
  logic [CountBits-1:0] count_q  [Buffers], count_d  [Buffers];
  logic [PORTS-1:0]     done_q   [Buffers], done_d   [Buffers];
  logic [PORTS-1:0]     locked_q [Buffers], locked_d [Buffers];
  logic [CountBits-1:0] sent_q   [Buffers*PORTS], sent_d[Buffers*PORTS];
  logic [VC_BITS-1:0]   ovc_q    [Buffers*PORTS], ovc_d[Buffers*PORTS];
  logic [CountBits-1:0] credits_q[PORTS*NUM_VCS], credits_d[PORTS*NUM_VCS];
  logic [NUM_VCS-1:0]   claimed_q[PORTS], claimed_d[PORTS];
  logic [IdxBits-1:0]   last_q   [PORTS], last_d   [PORTS];
  flit_t                last_flit_q[PORTS];
  logic [PORTS-1:0]     rest_q, rest_d, bound_q, bound_d;
  logic                 ready_q, ready_d, rlocked_q, rlocked_d;
  flit_t                acc_q, acc_d;

  // ---- fronts
  logic [Buffers-1:0]   filled, merged;
  flit_t                front [Buffers];
  logic [PORTS-1:0]     route_of[Buffers];
  logic [PORTS-1:0]     expect_of[Buffers];

  always_comb begin
    for (int b = 0; b < Buffers; b++) begin
      filled[b] = count_q[b] != 0;
      front[b] = '0;
      route_of[b] = '0;
      expect_of[b] = '0;
      merged[b] = 1'b0;
      if (filled[b]) begin
        front[b] = mem_q[b*DEPTH+32'(rd_q[b])];
        route_of[b] = route(front[b].kind, front[b].to, front[b].rect, front[b].root, b / NUM_VCS, here_i) & ~done_q[b];
        if (front[b].kind == REDUCE) begin
          expect_of[b] = expected(front[b].rect, front[b].root, here_i);
          merged[b] = several(expect_of[b]);
        end
      end
    end
    busy_o = (|filled) || ready_q || rest_q != 0;
  end

  // ---- requests and the winner of each output
  function automatic logic [VC_BITS:0] choose(logic [NUM_VCS-1:0] claimed, logic [NUM_VCS*CountBits-1:0] credits,
                                              logic reduce, logic [2:0] len_m1);
    logic [CountBits-1:0] best;
    choose = '0;
    best = '0;
    for (int v = 0; v < NUM_VCS; v++) begin
      if ((v == VC_REDUCE) == reduce && !claimed[v] && credits[v*CountBits+:CountBits] > CountBits'(len_m1) &&
          (!choose[VC_BITS] || credits[v*CountBits+:CountBits] > best)) begin
        choose = {1'b1, VC_BITS'(v)};
        best = credits[v*CountBits+:CountBits];
      end
    end
  endfunction

  logic [PORTS-1:0][NUM_VCS*CountBits-1:0] credit_words;
  logic [Requesters-1:0] asked  [PORTS];
  logic [VC_BITS-1:0]    want_vc[Requesters*PORTS];
  logic [Buffers-1:0]    stalled;
  logic [PORTS-1:0]      reducer_out;
  logic [PORTS-1:0]      sends;
  logic [IdxBits-1:0]    winner [PORTS];
  logic [VC_BITS:0]      chosen;

  always_comb begin
    stalled = '0;
    chosen = '0;
    reducer_out = '0;
    want_vc = '{default: '0};
    winner = '{default: '0};
    asked = '{default: '0};
    sends = '0;
    credit_words = '0;
    for (int o = 0; o < PORTS; o++) begin
      for (int v = 0; v < NUM_VCS; v++) credit_words[o][v*CountBits+:CountBits] = credits_q[o*NUM_VCS+v];
    end
    for (int b = 0; b < Buffers; b++) begin
      if (filled[b] && !merged[b]) begin
        for (int o = 0; o < PORTS; o++) begin
          if (route_of[b][o] && sent_q[b*PORTS+o] < count_q[b]) begin
            chosen = locked_q[b][o] ? {1'b1, ovc_q[b*PORTS+o]} :
                     choose(claimed_q[o], credit_words[o], front[b].kind == REDUCE, front[b].len_m1);
            if (chosen[VC_BITS]) asked[o][b] = 1'b1;
            else stalled[b] = 1'b1;
            want_vc[b*PORTS+o] = chosen[VC_BITS-1:0];
          end
        end
      end
    end
    if (ready_q) begin
      reducer_out = route(REDUCE, TO_TILE, acc_q.rect, acc_q.root, LOCAL, here_i);
      for (int o = 0; o < PORTS; o++) begin
        if (reducer_out[o]) begin
          chosen = choose(claimed_q[o], credit_words[o], 1'b1, acc_q.len_m1);
          asked[o][Buffers] = rlocked_q || chosen[VC_BITS];
          want_vc[Buffers*PORTS+o] = VC_BITS'(VC_REDUCE);
        end
      end
    end
    for (int o = 0; o < PORTS; o++) begin
      sends[o] = asked[o] != 0;
      if (sends[o]) begin
        for (int r = Requesters - 1; r >= 0; r--) if (asked[o][r]) winner[o] = IdxBits'(r);
        for (int r = Requesters - 1; r >= 0; r--) if (asked[o][r] && r > 32'(last_q[o])) winner[o] = IdxBits'(r);
      end
    end
  end

  // ---- the reducer: which ports it takes from
  logic [PORTS-1:0] take, take_low, rest_low;
  logic             leaves, all;

  always_comb begin
    rest_low = lowest(rest_q);
    take = '0;
    all = 1'b0;
    leaves = 1'b0;
    for (int o = 0; o < PORTS; o++) leaves |= reducer_out[o] && sends[o] && 32'(winner[o]) == Buffers;
    if (rest_q != 0) begin
      for (int p = 0; p < PORTS; p++) take[p] = rest_low[p] && filled[p*NUM_VCS+VC_REDUCE];
    end else if (|merged && (!ready_q || leaves)) begin
      for (int p = PORTS - 1; p >= 0; p--) begin
        all = merged[p*NUM_VCS+VC_REDUCE] && expect_of[p*NUM_VCS+VC_REDUCE][p] &&
              (bound_q != 0 ? bound_q == expect_of[p*NUM_VCS+VC_REDUCE] && bound_q[p] : front[p*NUM_VCS+VC_REDUCE].head);
        for (int r = 0; r < PORTS; r++)
          if (expect_of[p*NUM_VCS+VC_REDUCE][r])
            all = all && filled[r*NUM_VCS+VC_REDUCE] && expect_of[r*NUM_VCS+VC_REDUCE] == expect_of[p*NUM_VCS+VC_REDUCE] &&
                  front[r*NUM_VCS+VC_REDUCE].head == front[p*NUM_VCS+VC_REDUCE].head &&
                  front[r*NUM_VCS+VC_REDUCE].root == front[p*NUM_VCS+VC_REDUCE].root;
        if (all) take = first_two(expect_of[p*NUM_VCS+VC_REDUCE]);
      end
    end
  end

  assign take_low = lowest(take);

  function automatic logic [PORTS-1:0] first_two(logic [PORTS-1:0] mask);
    return lowest(mask) | lowest(mask & ~lowest(mask));
  endfunction

  // ---- outputs
  logic [Buffers-1:0] pop;
  flit_t              out_flit[PORTS];

  always_comb begin
    for (int o = 0; o < PORTS; o++) begin
      out_flit[o] = '0;
      link_o[o] = '0;
      if (sends[o]) begin
        if (32'(winner[o]) == Buffers) out_flit[o] = acc_q;
        else
          out_flit[o] = mem_q[32'(winner[o])*DEPTH +
                              (32'(rd_q[winner[o]]) + 32'(sent_q[32'(winner[o])*PORTS+o])) % DEPTH];
        link_o[o] = '{valid: 1'b1, vc: want_vc[32'(winner[o])*PORTS+o], flit: out_flit[o]};
      end
    end
    for (int b = 0; b < Buffers; b++) begin
      pop[b] = filled[b];
      if (merged[b]) pop[b] = (b % NUM_VCS) == VC_REDUCE && take[b/NUM_VCS];
      else if (filled[b])
        for (int o = 0; o < PORTS; o++)
          if (route_of[b][o] && sent_q[b*PORTS+o] == 0 && !(sends[o] && 32'(winner[o]) == b)) pop[b] = 1'b0;
    end
    for (int p = 0; p < PORTS; p++) credit_o[p] = pop[p*NUM_VCS+:NUM_VCS];
  end

  // ---- next state
  logic active;
  logic [PORTS-1:0][31:0] into;  // the buffer that an arriving flit goes to
  always_comb begin
    active = busy_o || !rst_ni;
    for (int p = 0; p < PORTS; p++) begin
      active |= link_i[p].valid || credit_i[p] != 0;
      into[p] = p * NUM_VCS + 32'(link_i[p].vc);
    end
    rd_d = rd_q;
    count_d = count_q;
    done_d = done_q;
    locked_d = locked_q;
    sent_d = sent_q;
    ovc_d = ovc_q;
    credits_d = credits_q;
    claimed_d = claimed_q;
    last_d = last_q;
    rest_d = rest_q;
    bound_d = bound_q;
    ready_d = ready_q;
    rlocked_d = rlocked_q;
    acc_d = acc_q;
    if (active) begin
      for (int o = 0; o < PORTS; o++) begin
        if (sends[o]) begin
          last_d[o] = winner[o];
          for (int v = 0; v < NUM_VCS; v++) begin
            if (32'(link_o[o].vc) == v) begin
              credits_d[o*NUM_VCS+v] = credits_d[o*NUM_VCS+v] - CountBits'(1);
              claimed_d[o][v] = !out_flit[o].tail;
            end
          end
          if (32'(winner[o]) == Buffers) begin
            rlocked_d = !out_flit[o].tail;
            ready_d = 1'b0;
          end else begin
            sent_d[32'(winner[o])*PORTS+o] = sent_q[32'(winner[o])*PORTS+o] + CountBits'(1);
            ovc_d[32'(winner[o])*PORTS+o] = link_o[o].vc;
            if (out_flit[o].tail) done_d[winner[o]][o] = 1'b1;
            locked_d[winner[o]][o] = !out_flit[o].tail;
          end
        end
      end
      if (take != 0) begin
        if (rest_q != 0) begin
          rest_d = rest_q & ~take;
        end else begin
          for (int p = PORTS - 1; p >= 0; p--) begin
            if (take[p]) begin
              acc_d = front[p*NUM_VCS+VC_REDUCE];
              bound_d = expect_of[p*NUM_VCS+VC_REDUCE];
            end
          end
          rest_d = bound_d & ~take;
        end
        for (int p = 0; p < PORTS; p++)
          if (take[p] && (rest_q != 0 || !take_low[p]))
            for (int i = 0; i < 8; i++)
              acc_d.data[32*i+:32] = num_pkg::fp32_add(acc_d.data[32*i+:32], front[p*NUM_VCS+VC_REDUCE].data[32*i+:32]);
        ready_d = rest_d == 0;
        if (ready_d && acc_d.tail) bound_d = '0;
      end
      for (int b = 0; b < Buffers; b++) begin
        if (pop[b]) begin
          rd_d[b] = SlotBits'((32'(rd_q[b]) + 1) % DEPTH);
          count_d[b] = count_d[b] - CountBits'(1);
          if (front[b].tail) begin
            done_d[b] = '0;
            locked_d[b] = '0;
          end
          for (int o = 0; o < PORTS; o++) begin
            if (front[b].tail) sent_d[b*PORTS+o] = '0;
            else if (sent_d[b*PORTS+o] != 0) sent_d[b*PORTS+o] = sent_d[b*PORTS+o] - CountBits'(1);
          end
        end
      end
      for (int p = 0; p < PORTS; p++) begin
        for (int v = 0; v < NUM_VCS; v++) begin
          credits_d[p*NUM_VCS+v] = credits_d[p*NUM_VCS+v] + CountBits'(credit_i[p][v]);
          if (link_i[p].valid && 32'(link_i[p].vc) == v) count_d[p*NUM_VCS+v] = count_d[p*NUM_VCS+v] + CountBits'(1);
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rd_q <= '{default: '0};
      count_q <= '{default: '0};
      done_q <= '{default: '0};
      locked_q <= '{default: '0};
      sent_q <= '{default: '0};
      ovc_q <= '{default: '0};
      credits_q <= '{default: CountBits'(DEPTH)};
      claimed_q <= '{default: '0};
      last_q <= '{default: IdxBits'(Requesters - 1)};
      last_flit_q <= '{default: flit_t'('0)};
      rest_q <= '0;
      bound_q <= '0;
      ready_q <= 1'b0;
      rlocked_q <= 1'b0;
    end else if (active) begin
      rd_q <= rd_d;
      count_q <= count_d;
      done_q <= done_d;
      locked_q <= locked_d;
      sent_q <= sent_d;
      ovc_q <= ovc_d;
      credits_q <= credits_d;
      claimed_q <= claimed_d;
      last_q <= last_d;
      rest_q <= rest_d;
      bound_q <= bound_d;
      ready_q <= ready_d;
      rlocked_q <= rlocked_d;
      for (int o = 0; o < PORTS; o++) if (sends[o]) last_flit_q[o] <= out_flit[o];
    end
    if (take != 0) acc_q <= acc_d;
    for (int p = 0; p < PORTS; p++)
      if (link_i[p].valid)
        mem_q[into[p]*DEPTH+(32'(rd_q[into[p]])+32'(count_q[into[p]]))%DEPTH] <= link_i[p].flit;
  end

  always_comb begin
    events_o = '0;
    events_o.busy = |sends;
    events_o.stall = busy_o && !events_o.busy;
    events_o.idle = !busy_o;
    events_o.flits_local = sends[LOCAL];
    events_o.flits_north = sends[NORTH];
    events_o.flits_east = sends[EAST];
    events_o.flits_south = sends[SOUTH];
    events_o.flits_west = sends[WEST];
    for (int o = 0; o < PORTS; o++)
      if (sends[o]) events_o.link_toggles += 12'($countones(out_flit[o] ^ last_flit_q[o]));
    events_o.credit_stalls = 4'($countones(stalled));
    for (int p = 0; p < PORTS; p++) events_o.buffer_writes += 3'(link_i[p].valid);
    events_o.reduce_adds = take != 0 ? 4'd8 : 4'd0;
    events_o.gated = !active;
  end

  for (genvar p = 0; p < PORTS; p++) begin : gen_chk
    for (genvar v = 0; v < NUM_VCS; v++) begin : gen_vc
      `CHK(BufferNeverOverflows, count_q[p*NUM_VCS+v] <= CountBits'(DEPTH) &&
           !(link_i[p].valid && 32'(link_i[p].vc) == v && count_q[p*NUM_VCS+v] == CountBits'(DEPTH)))
      `CHK(CreditsNeverExceedDepth, credits_d[p*NUM_VCS+v] <= CountBits'(DEPTH))
    end
  end
endmodule
