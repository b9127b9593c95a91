// Flits of the network. Every flit carries the whole header beside its 256 data bits, so a packet of n flits moves n
// SRAM rows and there is no header flit. Twin: csim/common/flit.h.
// a package serves many modules, each uses a part
// verilator lint_off UNUSEDPARAM
package noc_pkg;
  parameter int DATA_BITS = 256;
  parameter int COORD_BITS = 5;
  parameter int ADDR_BITS = 32;
  parameter int TAG_BITS = 5;
  parameter int MAX_FLITS = 8;
  parameter int DATA_VCS = cfg_pkg::NOC_VCS;
  parameter int NUM_VCS = DATA_VCS + 1;
  parameter int VC_REDUCE = DATA_VCS;  // reductions have the last channel to themselves
  parameter int VC_BITS = 3;
  parameter int DEPTH = cfg_pkg::NOC_DEPTH;

  // Router ports. North is y + 1, east is x + 1.
  parameter int LOCAL = 0;
  parameter int NORTH = 1;
  parameter int EAST = 2;
  parameter int SOUTH = 3;
  parameter int WEST = 4;
  parameter int PORTS = 5;

  typedef logic [COORD_BITS-1:0] coord_t;

  typedef struct packed {
    coord_t x;
    coord_t y;
  } node_t;

  // Tiles x0..x1, y0..y1, both ends included; empty where x0 > x1 or y0 > y1. A unicast is a rectangle of one.
  typedef struct packed {
    coord_t x0;
    coord_t y0;
    coord_t x1;
    coord_t y1;
  } rect_t;

  typedef enum logic [2:0] {
    WRITE      = 3'd0,  // data row for SRAM row addr of every tile in rect; counts arrival tag
    LOAD_REQ   = 3'd1,  // to an HBM port: addr = HBM row, data[15:0] = rows, data[31:16] = SRAM row, tag = slot
    LOAD_DATA  = 3'd2,  // from an HBM port: data row for SRAM row addr; tag = slot
    STORE_DATA = 3'd3,  // to an HBM port: data row for HBM row addr; tag = slot; last marks its last row;
                        // root = number of the packet in the STORE, modulo 1024: packets may overtake each other
    STORE_ACK  = 3'd4,  // from an HBM port: the STORE of slot tag is done
    REDUCE     = 3'd5   // as WRITE, data = 8 float32 summed over the tiles in rect, delivered to root
  } kind_t;

  typedef enum logic [1:0] {
    TO_TILE = 2'd0,  // rect (or root, for REDUCE) names tiles
    TO_WEST = 2'd1,  // the HBM port west of tile (0, rect.y0)
    TO_EAST = 2'd2   // the HBM port east of tile (TILES_X - 1, rect.y0); rect.x0 = rect.x1 = that tile's x in both cases
  } edge_t;

  typedef struct packed {
    logic                 head;
    logic                 tail;
    logic [2:0]           len_m1;  // flits of the packet less one, the same in each of its flits
    kind_t                kind;
    edge_t                to;
    rect_t                rect;
    node_t                root;
    node_t                src;
    logic [TAG_BITS-1:0]  tag;
    logic                 last;
    logic [ADDR_BITS-1:0] addr;    // of this flit's row
    logic [DATA_BITS-1:0] data;
  } flit_t;

  // A link, forward. A flit is taken in the cycle in which valid is high; credits make sure that it fits.
  typedef struct packed {
    logic               valid;
    logic [VC_BITS-1:0] vc;
    flit_t              flit;
  } link_t;

  // A link, backward: one bit per virtual channel, one flit of its buffer freed in this cycle.
  typedef logic [NUM_VCS-1:0] credit_t;
endpackage
// verilator lint_on UNUSEDPARAM
