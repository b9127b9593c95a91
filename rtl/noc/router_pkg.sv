// Routing of the mesh as pure functions of a flit's header and the node. Twin: csim/noc/router_route.c.
package router_pkg;
  import noc_pkg::*;

  localparam logic [PORTS-1:0] L = 5'b00001;
  localparam logic [PORTS-1:0] N = 5'b00010;
  localparam logic [PORTS-1:0] E = 5'b00100;
  localparam logic [PORTS-1:0] S = 5'b01000;
  localparam logic [PORTS-1:0] W = 5'b10000;

  // Output towards a tile, X first.
  function automatic logic [PORTS-1:0] towards(node_t here, coord_t x, coord_t y);
    if (here.x != x) return here.x < x ? E : W;
    if (here.y != y) return here.y < y ? N : S;
    return L;
  endfunction

  // The XY tree to a rectangle, for what came in through a port: along the row, then the columns.
  function automatic logic [PORTS-1:0] tree(rect_t r, int port, node_t here);
    tree = '0;
    if (r.x0 <= r.x1 && r.y0 <= r.y1) begin
      if ((port == LOCAL || port == WEST) && r.x1 > here.x) tree |= E;
      if ((port == LOCAL || port == EAST) && r.x0 < here.x) tree |= W;
      if (here.x >= r.x0 && here.x <= r.x1) begin
        if (port != NORTH && r.y1 > here.y) tree |= N;
        if (port != SOUTH && r.y0 < here.y) tree |= S;
        if (here.y >= r.y0 && here.y <= r.y1) tree |= L;
      end
    end
  endfunction

  // Outputs of a flit; none drops it.
  function automatic logic [PORTS-1:0] route(kind_t kind, edge_t to, rect_t rect, node_t root, int port, node_t here);
    if (kind == REDUCE) return towards(here, root.x, root.y);
    if (to == TO_TILE) return tree(rect, port, here);
    route = towards(here, rect.x0, rect.y0);
    if (route == L) route = to == TO_WEST ? W : E;
  endfunction

  // Ports whose streams meet at this node for a REDUCE.
  function automatic logic [PORTS-1:0] expected(rect_t rect, node_t root, node_t here);
    expected = '0;
    if (here.y >= rect.y0 && here.y <= rect.y1) begin
      if (here.x >= rect.x0 && here.x <= rect.x1) expected |= L;
      if (rect.x0 < here.x && here.x <= root.x) expected |= W;
      if (rect.x1 > here.x && here.x >= root.x) expected |= E;
    end
    if (here.x == root.x) begin
      if (rect.y0 < here.y && here.y <= root.y) expected |= S;
      if (rect.y1 > here.y && here.y >= root.y) expected |= N;
    end
  endfunction

  function automatic logic several(logic [PORTS-1:0] mask);
    return (mask & (mask - 5'd1)) != 0;
  endfunction

  function automatic logic [PORTS-1:0] lowest(logic [PORTS-1:0] mask);
    return mask & (~mask + 5'd1);
  endfunction
endpackage
