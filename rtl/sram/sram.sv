// SRAM of a tile: NUM_PORTS requesters, a crossbar, Banks banks with SECDED. Whole rows only. The grant answers a request in
// its cycle, read data come in the next; each bank serves one access a cycle. A single error of a word is corrected and
// counted; a double one gives a row of ones with rerr. Contents after reset are random. Twin: csim/sram/sram.
`include "chk.svh"
module sram #(
    parameter int Banks = cfg_pkg::BANKS,
    parameter int BankRows = cfg_pkg::BANK_ROWS
) (
    input  logic                                       clk_i,
    input  logic                                       rst_ni,
    // requesters; gnt is a function of req_i, the rest of the state
    input  mem_pkg::mem_req_t [mem_pkg::NUM_PORTS-1:0] req_i,
    output mem_pkg::mem_rsp_t [mem_pkg::NUM_PORTS-1:0] rsp_o,
    // fault injection: from the next cycle on armed for one write of row inject_addr_i, whose codewords (72 a word, check
    // bits on top) are stored with these bits flipped; a new fault takes the place of one that still waits
    input  logic                                       inject_valid_i,
    input  logic              [mem_pkg::ADDR_BITS-1:0] inject_addr_i,
    input  logic              [287:0]                  inject_flip_i,
    // events of this cycle; those of read data count in the cycle of the data
    output events_pkg::sram_events_t                   events_o
);
  import mem_pkg::*;
  localparam int RowBits = $clog2(BankRows);
  localparam int BankBits = $clog2(Banks);

  logic [Banks-1:0]               valid, we, ready, rvalid, rerr, hit;
  logic [Banks-1:0][RowBits-1:0]  row;
  logic [Banks-1:0][ROW_BITS-1:0] wdata, rdata;
  logic [Banks-1:0][287:0]        flip;
  logic [Banks-1:0][2:0]          corrected, uncorrectable;
  logic [Banks-1:0][8:0]          read_toggles, write_toggles;
  logic                           armed_q;
  logic [BankBits+RowBits-1:0]    inject_addr_q;
  logic [287:0]                   inject_flip_q;

  sram_xbar #(
      .Banks   (Banks),
      .BankRows(BankRows)
  ) u_xbar (
      .clk_i,
      .rst_ni,
      .req_i,
      .rsp_o,
      .bank_valid_o(valid),
      .bank_we_o   (we),
      .bank_row_o  (row),
      .bank_wdata_o(wdata),
      .bank_rerr_i (rerr),
      .bank_rdata_i(rdata)
  );

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    sram_bank #(
        .Rows(BankRows)
    ) u_bank (
        .clk_i,
        .rst_ni,
        .req_valid_i    (valid[b]),
        .req_ready_o    (ready[b]),
        .req_we_i       (we[b]),
        .req_row_i      (row[b]),
        .req_strb_i     ('1),
        .req_wdata_i    (wdata[b]),
        .rvalid_o       (rvalid[b]),
        .rerr_o         (rerr[b]),
        .rdata_o        (rdata[b]),
        .inject_i       (flip[b]),
        .corrected_o    (corrected[b]),
        .uncorrectable_o(uncorrectable[b]),
        .read_toggles_o (read_toggles[b]),
        .write_toggles_o(write_toggles[b])
    );
  end

  // the fault that waits meets its row
  always_comb begin
    hit  = '0;
    flip = '0;
    if (armed_q) begin
      for (int b = 0; b < Banks; b++) begin
        hit[b] = valid[b] && we[b] && {BankBits'(b), row[b]} == inject_addr_q;
        if (hit[b]) flip[b] = inject_flip_q;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) armed_q <= 1'b0;
    else armed_q <= inject_valid_i || (armed_q && hit == '0);
    if (inject_valid_i) begin
      inject_addr_q <= inject_addr_i[BankBits+RowBits-1:0];
      inject_flip_q <= inject_flip_i;
    end
  end

  always_comb begin
    events_o = '0;
    for (int b = 0; b < Banks; b++) begin
      if (valid[b]) begin
        events_o.reads         += 4'(!we[b]);
        events_o.writes        += 4'(we[b]);
        events_o.write_toggles += 12'(write_toggles[b]);
      end else begin
        events_o.gated += $bits(events_o.gated)'(1);
      end
      if (rvalid[b]) begin
        events_o.read_toggles  += 12'(read_toggles[b]);
        events_o.corrected     += 6'(corrected[b]);
        events_o.uncorrectable += 6'(uncorrectable[b]);
      end
    end
    for (int p = 0; p < NUM_PORTS; p++) events_o.conflicts += 4'(req_i[p].valid && !rsp_o[p].gnt);
  end

  `CHK(InjectInRange, !inject_valid_i || 32'(inject_addr_i) < Banks * BankRows)
  `CHK(BanksTakeWholeRowsAtOnce, ready == '1)
endmodule
