// Crossbar between a tile's requesters and its SRAM banks: bank = addr / BankRows, round-robin per bank. A request holds
// until granted; the grant comes in the same cycle, read data in the cycle after. Each bank serves one request a cycle; each
// requester is served within NUM_PORTS grants of its bank. Twin: csim/sram/sram.
`include "chk.svh"
module sram_xbar #(
    parameter int Banks = cfg_pkg::BANKS,
    parameter int BankRows = cfg_pkg::BANK_ROWS,
    localparam int RowBits = $clog2(BankRows)
) (
    input  logic                                    clk_i,
    input  logic                                    rst_ni,
    // requesters
    input  mem_pkg::mem_req_t [mem_pkg::NUM_PORTS-1:0] req_i,
    output mem_pkg::mem_rsp_t [mem_pkg::NUM_PORTS-1:0] rsp_o,
    // banks: always ready, read data in the next cycle
    output logic [Banks-1:0]                        bank_valid_o,
    output logic [Banks-1:0]                        bank_we_o,
    output logic [Banks-1:0][RowBits-1:0]           bank_row_o,
    output logic [Banks-1:0][mem_pkg::ROW_BITS-1:0] bank_wdata_o,
    input  logic [Banks-1:0]                        bank_rerr_i,
    input  logic [Banks-1:0][mem_pkg::ROW_BITS-1:0] bank_rdata_i
);
  import mem_pkg::*;
  localparam int BankBits = $clog2(Banks);
  localparam int PortBits = $clog2(NUM_PORTS);

  logic [NUM_PORTS-1:0]                gnt, rvalid_d, rvalid_q, we;
  logic [NUM_PORTS-1:0][BankBits-1:0]  bank, bank_q;
  logic [NUM_PORTS-1:0][RowBits-1:0]   row;
  logic [NUM_PORTS-1:0][ROW_BITS-1:0]  wdata;
  logic [Banks-1:0][NUM_PORTS-1:0]     want;
  logic [Banks-1:0][PortBits-1:0]      port;

  // whom each request wants
  always_comb begin
    want  = '0;
    bank  = '0;
    row   = '0;
    we    = '0;
    wdata = '0;
    for (int p = 0; p < NUM_PORTS; p++) begin
      if (req_i[p].valid) begin
        bank[p] = req_i[p].addr[RowBits+:BankBits];
        row[p]  = req_i[p].addr[RowBits-1:0];
        we[p]   = req_i[p].we;
        want[bank[p]][p] = 1'b1;
        if (req_i[p].we) wdata[p] = req_i[p].wdata;
      end
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    rr_arbiter #(
        .N(NUM_PORTS)
    ) u_arbiter (
        .clk_i,
        .rst_ni,
        .req_i  (want[b]),
        .valid_o(bank_valid_o[b]),
        .idx_o  (port[b]),
        .take_i (1'b1)
    );
  end

  // what each bank gets
  always_comb begin
    bank_we_o    = '0;
    bank_row_o   = '0;
    bank_wdata_o = '0;
    gnt          = '0;
    for (int b = 0; b < Banks; b++) begin
      if (bank_valid_o[b]) begin
        gnt[port[b]]  = 1'b1;
        bank_we_o[b]  = we[port[b]];
        bank_row_o[b] = row[port[b]];
        if (we[port[b]]) bank_wdata_o[b] = wdata[port[b]];
      end
    end
  end

  // what each requester gets
  always_comb begin
    rvalid_d = gnt & ~we;
    rsp_o    = '0;
    for (int p = 0; p < NUM_PORTS; p++) begin
      rsp_o[p].gnt = gnt[p];
      if (rvalid_q[p]) begin
        rsp_o[p].rvalid = 1'b1;
        rsp_o[p].rerr   = bank_rerr_i[bank_q[p]];
        rsp_o[p].rdata  = bank_rdata_i[bank_q[p]];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rvalid_q <= '0;
    else rvalid_q <= rvalid_d;
    for (int p = 0; p < NUM_PORTS; p++) if (rvalid_d[p]) bank_q[p] <= bank[p];
  end

  // requests hold until granted, and name a row that exists
  logic [NUM_PORTS-1:0]                  waits_q, we_q, holds, in_range;
  logic [NUM_PORTS-1:0][ADDR_BITS-1:0]   addr_q;
  always_ff @(posedge clk_i) begin
    for (int p = 0; p < NUM_PORTS; p++) begin
      waits_q[p] <= rst_ni && req_i[p].valid && !gnt[p];
      if (req_i[p].valid && !gnt[p]) begin
        we_q[p]   <= req_i[p].we;
        addr_q[p] <= req_i[p].addr;
      end
    end
  end
  always_comb begin
    holds    = '1;
    in_range = '1;
    for (int p = 0; p < NUM_PORTS; p++) begin
      if (waits_q[p]) holds[p] = req_i[p].valid && req_i[p].we == we_q[p] && req_i[p].addr == addr_q[p];
      if (req_i[p].valid) in_range[p] = 32'(req_i[p].addr) < Banks * BankRows;
    end
  end
  `CHK(RequestHolds, &holds)
  `CHK(AddrInRange, &in_range)
endmodule
