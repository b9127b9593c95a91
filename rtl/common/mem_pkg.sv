// The SRAM port of every engine. A request holds until granted; the grant answers in the same cycle, read data comes in
// the cycle after the grant and must be taken. Twin: csim/common/mem.h.
// a package serves many modules, each uses a part
// verilator lint_off UNUSEDPARAM
package mem_pkg;
  parameter int ROW_BITS = 256;
  parameter int ADDR_BITS = 16;  // row address in a tile: bank = addr / BANK_ROWS

  typedef struct packed {
    logic                 valid;
    logic                 we;
    logic [ADDR_BITS-1:0] addr;
    logic [ROW_BITS-1:0]  wdata;  // whole rows only
  } mem_req_t;

  typedef struct packed {
    logic                gnt;    // this cycle's request is taken
    logic                rvalid; // rdata answers the read granted in the cycle before
    logic                rerr;   // rdata had a double error: poisoned, all ones
    logic [ROW_BITS-1:0] rdata;
  } mem_rsp_t;

  // Requesters of a tile's banks, in the order of the crossbar's ports.
  parameter int PORT_MM_A = 0;    // matmul: activations
  parameter int PORT_MM_W = 1;    // matmul: weights
  parameter int PORT_MM_S = 2;    // matmul: scales
  parameter int PORT_MM_C = 3;    // matmul: initial values and results
  parameter int PORT_MOVE_R = 4;  // move: COPY and STORE source
  parameter int PORT_MOVE_W = 5;  // move: COPY destination
  parameter int PORT_SEND = 6;    // send: source
  parameter int PORT_RECV = 7;    // receive: arriving rows
  parameter int PORT_VEC_A = 8;   // vector: operands
  parameter int PORT_VEC_B = 9;
  parameter int PORT_VEC_C = 10;  // vector: the result as it was, for VFMA and VSELECT
  parameter int PORT_VEC_W = 11;  // vector: results
  parameter int NUM_PORTS = 12;
endpackage
// verilator lint_on UNUSEDPARAM
