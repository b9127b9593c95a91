// CHK(name, cond): cond must hold at every clock edge outside reset; a failure names itself and counts as an error of the
// run. Use at the end of a file, in a module with clk_i and rst_ni. The only `ifdef of the tree lives here.
`ifndef CHK_SVH
`define CHK_SVH
`ifdef SYNTHESIS
`define CHK(name, cond)
`else
`define CHK(name, cond) \
  always_ff @(posedge clk_i) if (rst_ni) name: assert (cond) else $error("CHK %s failed in %m", `"name`");
`endif
`endif
