// Mesh of X x Y routers, all wired; local ports and the west and east edges brought out, nothing north and south.
// Node n = y * X + x. Outputs are functions of the state, as the routers'. Twin: csim/noc/mesh.
module mesh
  import noc_pkg::*;
#(
    parameter int X = cfg_pkg::TILES_X,
    parameter int Y = cfg_pkg::TILES_Y,
    localparam int Nodes = X * Y
) (
    input  logic                                   clk_i,
    input  logic                                   rst_ni,
    input  link_t                      [Nodes-1:0] local_link_i,
    output credit_t                    [Nodes-1:0] local_credit_o,
    output link_t                      [Nodes-1:0] local_link_o,
    input  credit_t                    [Nodes-1:0] local_credit_i,
    input  link_t                      [Y-1:0]     west_link_i,
    output credit_t                    [Y-1:0]     west_credit_o,
    output link_t                      [Y-1:0]     west_link_o,
    input  credit_t                    [Y-1:0]     west_credit_i,
    input  link_t                      [Y-1:0]     east_link_i,
    output credit_t                    [Y-1:0]     east_credit_o,
    output link_t                      [Y-1:0]     east_link_o,
    input  credit_t                    [Y-1:0]     east_credit_i,
    output logic                       [Nodes-1:0] busy_o,
    output events_pkg::router_events_t [Nodes-1:0] events_o
);
  link_t   [PORTS-1:0] in_link   [Nodes], out_link  [Nodes];
  credit_t [PORTS-1:0] in_credit [Nodes], out_credit[Nodes];

  for (genvar y = 0; y < Y; y++) begin : gen_row
    for (genvar x = 0; x < X; x++) begin : gen_node
      localparam int T = y * X + x;
      assign in_link[T][LOCAL]   = local_link_i[T];
      assign in_credit[T][LOCAL] = local_credit_i[T];
      assign local_link_o[T]     = out_link[T][LOCAL];
      assign local_credit_o[T]   = out_credit[T][LOCAL];

      if (y + 1 < Y) begin : gen_north
        assign in_link[T][NORTH]   = out_link[T+X][SOUTH];
        assign in_credit[T][NORTH] = out_credit[T+X][SOUTH];
      end else begin : gen_north_end
        assign in_link[T][NORTH]   = '0;
        assign in_credit[T][NORTH] = '0;
      end
      if (y > 0) begin : gen_south
        assign in_link[T][SOUTH]   = out_link[T-X][NORTH];
        assign in_credit[T][SOUTH] = out_credit[T-X][NORTH];
      end else begin : gen_south_end
        assign in_link[T][SOUTH]   = '0;
        assign in_credit[T][SOUTH] = '0;
      end
      if (x + 1 < X) begin : gen_east
        assign in_link[T][EAST]   = out_link[T+1][WEST];
        assign in_credit[T][EAST] = out_credit[T+1][WEST];
      end else begin : gen_east_end
        assign in_link[T][EAST]   = east_link_i[y];
        assign in_credit[T][EAST] = east_credit_i[y];
        assign east_link_o[y]     = out_link[T][EAST];
        assign east_credit_o[y]   = out_credit[T][EAST];
      end
      if (x > 0) begin : gen_west
        assign in_link[T][WEST]   = out_link[T-1][EAST];
        assign in_credit[T][WEST] = out_credit[T-1][EAST];
      end else begin : gen_west_end
        assign in_link[T][WEST]   = west_link_i[y];
        assign in_credit[T][WEST] = west_credit_i[y];
        assign west_link_o[y]     = out_link[T][WEST];
        assign west_credit_o[y]   = out_credit[T][WEST];
      end

      router u_router (
          .clk_i,
          .rst_ni,
          .here_i  ('{x: COORD_BITS'(x), y: COORD_BITS'(y)}),
          .link_i  (in_link[T]),
          .credit_o(out_credit[T]),
          .link_o  (out_link[T]),
          .credit_i(in_credit[T]),
          .busy_o  (busy_o[T]),
          .events_o(events_o[T])
      );
    end
  end
endmodule
