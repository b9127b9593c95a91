// SRAM bank: Rows rows of 256 bits, one access a cycle, byte strobes, SECDED per 64 bits. Read data come in the cycle after
// the request was taken. A write of whole words takes one cycle; one that strobes part of a word reads, merges and
// writes: ready_o is low for one cycle more. A single error is corrected and counted; a double one gives a row of ones
// and rerr_o, and if it is met in a merge the word stays poisoned. Twin: csim/sram/sram_bank.
`include "chk.svh"
module sram_bank #(
    parameter int Rows = cfg_pkg::BANK_ROWS,
    localparam int RowBits = $clog2(Rows)
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    // requests
    input  logic               req_valid_i,
    output logic               req_ready_o,
    input  logic               req_we_i,
    input  logic [RowBits-1:0] req_row_i,
    input  logic [31:0]        req_strb_i,
    input  logic [255:0]       req_wdata_i,
    // read data; rerr_o: a double error, rdata_o is all ones
    output logic               rvalid_o,
    output logic               rerr_o,
    output logic [255:0]       rdata_o,
    // fault injection: flips these bits of the codewords written in this cycle, 72 a word, check bits on top
    input  logic [287:0]       inject_i,
    // events: 64-bit words corrected and found uncorrectable, bits changed
    output logic [2:0]         corrected_o,
    output logic [2:0]         uncorrectable_o,
    output logic [8:0]         read_toggles_o,
    output logic [8:0]         write_toggles_o
);
  logic [287:0]       mem_q [Rows];
  logic [287:0]       code_q;              // the row read
  logic               read_q, merge_q;     // code_q answers a read; is being merged
  logic [RowBits-1:0] row_q;
  logic [31:0]        strb_q;
  logic [255:0]       wdata_q, last_r_q, last_w_q;
  logic               take, partial, write;
  logic [3:0]         word_en;
  logic [255:0]       wdata, plain;
  logic [287:0]       wcode, stored;
  logic [RowBits-1:0] wrow;
  logic [31:0]        wstrb;
  secded_pkg::word_t [3:0] word;
  logic [3:0]         bad;

  // what was read
  always_comb begin
    word = '0;
    bad = '0;
    plain = '0;
    corrected_o = '0;
    uncorrectable_o = '0;
    if (read_q || merge_q) begin
      for (int i = 0; i < 4; i++) begin
        word[i] = secded_pkg::decode(code_q[72*i+:72]);
        plain[64*i+:64] = word[i].data;
        bad[i] = word[i].bad;
        corrected_o += 3'(word[i].single);
        uncorrectable_o += 3'(word[i].bad);
      end
    end
    rvalid_o = read_q;
    rerr_o = read_q && bad != 0;
    rdata_o = rerr_o ? '1 : plain;
    read_toggles_o = '0;
    if (read_q) read_toggles_o = 9'($countones(rdata_o ^ last_r_q));
    req_ready_o = !merge_q;
  end

  // what is written: whole words at once, or the merged row
  always_comb begin
    take = req_valid_i && !merge_q;
    partial = 1'b0;
    for (int i = 0; i < 4; i++) partial |= req_strb_i[8*i+:8] != 8'h00 && req_strb_i[8*i+:8] != 8'hFF;
    write = merge_q || (take && req_we_i && !partial);
    wrow = merge_q ? row_q : req_row_i;
    wstrb = merge_q ? strb_q : req_strb_i;
    wdata = merge_q ? wdata_q : req_wdata_i;
    wcode = '0;
    stored = '0;
    word_en = '0;
    if (write) begin
      for (int i = 0; i < 4; i++) begin
        word_en[i] = wstrb[8*i+:8] != 0;
        for (int k = 0; k < 8; k++)
          wcode[72*i+8*k+:8] = wstrb[8*i+k] ? wdata[64*i+8*k+:8] : plain[64*i+8*k+:8];
        wcode[72*i+64+:8] = secded_pkg::encode(wcode[72*i+:64]);
        if (merge_q && bad[i] && wstrb[8*i+:8] != 8'hFF) wcode[72*i+64+:2] = ~wcode[72*i+64+:2];
      end
      stored = wcode ^ inject_i;
    end
    write_toggles_o = '0;
    if (take && req_we_i) write_toggles_o = 9'($countones(req_wdata_i ^ last_w_q));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q   <= 1'b0;
      merge_q  <= 1'b0;
      last_r_q <= '0;
      last_w_q <= '0;
    end else begin
      read_q  <= take && !req_we_i;
      merge_q <= take && req_we_i && partial;
      if (read_q) last_r_q <= rdata_o;
      if (take && req_we_i) last_w_q <= req_wdata_i;
    end
    if (take && (!req_we_i || partial)) code_q <= mem_q[req_row_i];
    if (take && req_we_i && partial) begin
      row_q   <= req_row_i;
      strb_q  <= req_strb_i;
      wdata_q <= req_wdata_i;
    end
    for (int i = 0; i < 4; i++) if (write && word_en[i]) mem_q[wrow][72*i+:72] <= stored[72*i+:72];
  end

  `CHK(RowIsInRange, !req_valid_i || 32'(req_row_i) < Rows)
endmodule
