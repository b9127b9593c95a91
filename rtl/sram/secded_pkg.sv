// SECDED of a 64-bit word by a Hsiao code of 72 bits: odd columns, so single errors have an odd syndrome that names the
// bit and double errors an even one. Check bit j is the parity of data & MASKS[j]. Twin: csim/sram/secded.h.
package secded_pkg;
  parameter logic [7:0][63:0] MASKS = '{
    64'h00FFFFF800000000,
    64'hC0FC0007FFF00000,
    64'h3E83E007C00FFC00,
    64'hBD421E043C0F03F0,
    64'h7B2111C22388E38E,
    64'hF710893112649A6D,
    64'hEF0844A88952555B,
    64'hDF04225844B12CB7
  };

  typedef struct packed {
    logic        single;  // corrected
    logic        bad;     // not correctable
    logic [63:0] data;
  } word_t;

  function automatic logic [7:0] encode(logic [63:0] data);
    for (int j = 0; j < 8; j++) encode[j] = ^(data & MASKS[j]);
  endfunction

  function automatic word_t decode(logic [71:0] code);
    logic [7:0] syndrome;
    logic [63:0] hit;
    syndrome = code[71:64] ^ encode(code[63:0]);
    decode = '{single: 1'b0, bad: 1'b0, data: code[63:0]};
    if (syndrome != 0) begin
      hit = '1;
      for (int j = 0; j < 8; j++) hit &= syndrome[j] ? MASKS[j] : ~MASKS[j];
      decode.data = code[63:0] ^ hit;
      decode.single = hit != 0 || $countones(syndrome) == 1;
      decode.bad = !decode.single;
    end
  endfunction
endpackage
