// Stands in for rtl/tile/tile.sv in the test of the chip's wires: drives who it is on every link, and shows in snap_o what
// it is given.
module tile
  import noc_pkg::*;
#(
    localparam int Engines = isa_pkg::NUM_ENGINES,
    localparam int ImemBits = $clog2(cfg_pkg::IMEM_ROWS)
) (
    input  logic                                      clk_i,
    input  logic                                      rst_ni,
    input  node_t                                     here_i,
    input  logic                                      imem_we_i,
    input  logic             [ImemBits-1:0]           imem_addr_i,
    input  isa_pkg::instr_t                           imem_wdata_i,
    input  logic                                      start_i,
    input  logic                                      snapshot_i,
    input  logic                                      inject_valid_i,
    input  logic             [mem_pkg::ADDR_BITS-1:0] inject_addr_i,
    input  logic             [287:0]                  inject_flip_i,
    output logic                                      done_o,
    output logic                                      error_o,
    output logic             [events_pkg::NUM_EVENTS-1:0][47:0] snap_o,
    output logic             [Engines-1:0]            wait_valid_o,
    output logic             [Engines-1:0][4:0]       wait_sem_o,
    output logic             [Engines-1:0][7:0]       wait_count_o,
    input  logic             [31:0]                   power_mw_i,
    input  link_t            [3:0]                    link_i,
    output credit_t          [3:0]                    credit_o,
    output link_t            [3:0]                    link_o,
    input  credit_t          [3:0]                    credit_i
);
  always_comb begin
    done_o = !start_i;
    error_o = inject_valid_i;
    wait_valid_o = Engines'(here_i.x);
    wait_sem_o = '0;
    wait_count_o = '0;
    snap_o = '0;
    link_o = '0;
    credit_o = '0;
    for (int p = 0; p < 4; p++) begin
      link_o[p].valid = 1'b1;
      link_o[p].flit.data[31:0] = {8'd1, 3'd0, here_i.x, 3'd0, here_i.y, 8'(p)};
      credit_o[p] = NUM_VCS'(32'(here_i.x) + 2 * 32'(here_i.y) + 3 * p + 1);
      snap_o[p] = {15'd0, link_i[p].valid, link_i[p].flit.data[31:0]};
      snap_o[4+p] = 48'(credit_i[p]);
    end
    snap_o[8] = {15'd0, imem_we_i, power_mw_i};
    snap_o[9] = {47'd0, inject_valid_i};
  end
endmodule
