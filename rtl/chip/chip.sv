// Chip: TILES_X x TILES_Y tiles in a mesh of neighbour links; tile t = y * TILES_X + x. HBM ports sit on the west links
// of column 0 (port y) and on the east links of the last column (port TILES_Y + y). No logic of its own but the host's
// address decoder and the gathering of done and error. Twin: csim/chip/chip.
`include "chk.svh"
module chip #(
    parameter int TilesX = cfg_pkg::TILES_X,
    parameter int TilesY = cfg_pkg::TILES_Y,
    localparam int Tiles = TilesX * TilesY,
    localparam int HbmPorts = 2 * TilesY,
    localparam int ImemBits = $clog2(cfg_pkg::IMEM_ROWS)
) (
    input  logic                                              clk_i,
    input  logic                                              rst_ni,
    // host: writes instruction memories while idle; pulses start and snapshot reach every tile
    input  logic                                              imem_we_i,
    input  noc_pkg::node_t                                    imem_tile_i,
    input  logic             [ImemBits-1:0]                   imem_addr_i,
    input  isa_pkg::instr_t                                   imem_wdata_i,
    input  logic                                              start_i,
    input  logic                                              snapshot_i,
    // fault injection into the SRAM of a tile, as the ports of sram
    input  logic                                              inject_valid_i,
    input  noc_pkg::node_t                                    inject_tile_i,
    input  logic             [mem_pkg::ADDR_BITS-1:0]         inject_addr_i,
    input  logic             [287:0]                          inject_flip_i,
    output logic                                              done_o,         // all ended, all idle
    output logic                                              error_o,        // sticky
    output logic [Tiles-1:0][events_pkg::NUM_EVENTS-1:0][47:0] snap_o,        // counters as of the last snapshot
    // what the engines wait for in this cycle, for the watchdog
    output logic [Tiles-1:0][isa_pkg::NUM_ENGINES-1:0]        wait_valid_o,
    output logic [Tiles-1:0][isa_pkg::NUM_ENGINES-1:0][4:0]   wait_sem_o,
    output logic [Tiles-1:0][isa_pkg::NUM_ENGINES-1:0][7:0]   wait_count_o,
    // HBM ports: links with credits, as between routers
    input  noc_pkg::link_t   [HbmPorts-1:0]                   hbm_link_i,
    output noc_pkg::credit_t [HbmPorts-1:0]                   hbm_credit_o,
    output noc_pkg::link_t   [HbmPorts-1:0]                   hbm_link_o,
    input  noc_pkg::credit_t [HbmPorts-1:0]                   hbm_credit_i,
    // power of each tile over the last window, for the waves
    input  logic             [Tiles-1:0][31:0]                power_mw_i
);
  import noc_pkg::*;

  // ports of a tile's neighbour links: noc_pkg's port less one
  localparam int N = NORTH - 1;
  localparam int E = EAST - 1;
  localparam int S = SOUTH - 1;
  localparam int W = WEST - 1;

  link_t   [Tiles-1:0][3:0] out_link, in_link;
  credit_t [Tiles-1:0][3:0] out_credit, in_credit;
  logic    [Tiles-1:0]      done, error;

  for (genvar y = 0; y < TilesY; y++) begin : gen_row
    for (genvar x = 0; x < TilesX; x++) begin : gen_col
      localparam int T = y * TilesX + x;

      if (y + 1 < TilesY) begin : gen_north
        assign in_link[T][N]   = out_link[T+TilesX][S];
        assign in_credit[T][N] = out_credit[T+TilesX][S];
      end else begin : gen_no_north
        assign in_link[T][N]   = '0;
        assign in_credit[T][N] = '0;
      end
      if (y > 0) begin : gen_south
        assign in_link[T][S]   = out_link[T-TilesX][N];
        assign in_credit[T][S] = out_credit[T-TilesX][N];
      end else begin : gen_no_south
        assign in_link[T][S]   = '0;
        assign in_credit[T][S] = '0;
      end
      if (x + 1 < TilesX) begin : gen_east
        assign in_link[T][E]   = out_link[T+1][W];
        assign in_credit[T][E] = out_credit[T+1][W];
      end else begin : gen_hbm_east
        assign in_link[T][E]          = hbm_link_i[TilesY+y];
        assign in_credit[T][E]        = hbm_credit_i[TilesY+y];
        assign hbm_link_o[TilesY+y]   = out_link[T][E];
        assign hbm_credit_o[TilesY+y] = out_credit[T][E];
      end
      if (x > 0) begin : gen_west
        assign in_link[T][W]   = out_link[T-1][E];
        assign in_credit[T][W] = out_credit[T-1][E];
      end else begin : gen_hbm_west
        assign in_link[T][W]   = hbm_link_i[y];
        assign in_credit[T][W] = hbm_credit_i[y];
        assign hbm_link_o[y]   = out_link[T][W];
        assign hbm_credit_o[y] = out_credit[T][W];
      end

      tile u_tile (
          .clk_i,
          .rst_ni,
          .here_i      ({COORD_BITS'(x), COORD_BITS'(y)}),
          .imem_we_i   (imem_we_i && int'(imem_tile_i.x) == x && int'(imem_tile_i.y) == y),
          .imem_addr_i,
          .imem_wdata_i,
          .start_i,
          .snapshot_i,
          .inject_valid_i(inject_valid_i && int'(inject_tile_i.x) == x && int'(inject_tile_i.y) == y),
          .inject_addr_i,
          .inject_flip_i,
          .done_o      (done[T]),
          .error_o     (error[T]),
          .snap_o      (snap_o[T]),
          .wait_valid_o(wait_valid_o[T]),
          .wait_sem_o  (wait_sem_o[T]),
          .wait_count_o(wait_count_o[T]),
          .power_mw_i  (power_mw_i[T]),
          .link_i      (in_link[T]),
          .credit_o    (out_credit[T]),
          .link_o      (out_link[T]),
          .credit_i    (in_credit[T])
      );
    end
  end

  assign done_o  = &done;
  assign error_o = |error;

  `CHK(HostNamesATile, !imem_we_i || (int'(imem_tile_i.x) < TilesX && int'(imem_tile_i.y) < TilesY))
endmodule
