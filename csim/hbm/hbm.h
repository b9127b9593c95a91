// The HBM ports of a chip and the memory behind them, each port an address space of 256-bit rows. One model for both
// backends: it stands at the edge links of the mesh. Requests of a port are served in order of arrival; the first flit
// leaves CFG_HBM_LATENCY cycles after its request arrived at the earliest, then one a cycle.
#ifndef HBM_HBM_H
#define HBM_HBM_H
#include <stdbool.h>
#include <stdint.h>

#include "cfg.h"
#include "common/flit.h"

enum { HBM_PORTS = 2 * CFG_TILES_Y, HBM_TEXT = 160 };
enum { HBM_QUEUE = CFG_TILES_X * CFG_TILES_Y * CFG_NUM_SLOTS }; // what all tiles can have outstanding at one port
enum { HBM_MAX_ROWS = 1 << 26 };                                // 2 GiB a port

// A request waiting or being served: a read of rows, or the acknowledgement of a STORE.
typedef struct {
    bool ack;
    uint8_t slot;
    node_t to;
    uint32_t addr, rows;
    uint16_t sram_row;
    uint64_t ready; // cycle from which it may be served
} hbm_request;

// A STORE under way. Its packets may overtake each other in the mesh: it is complete when as many have come as the last
// one's number says.
typedef struct {
    uint16_t packets, want; // come so far; in all, 0 while the last one has not come
} hbm_store;

typedef struct {
    row_t *rows;
    uint32_t num_rows, capacity;
    hbm_request queue[HBM_QUEUE];
    uint32_t head, count;
    uint32_t sent;                // rows of the head request already sent
    uint8_t left, vc;             // flits left of the packet being sent, and its channel
    uint8_t credits[NOC_NUM_VCS]; // towards the router
    bool out_valid;               // the flit driven in this cycle
    link_t out;
    hbm_store stores[CFG_TILES_X * CFG_TILES_Y][CFG_NUM_SLOTS];
    credit_t returned;                      // credits given back in this cycle
    uint64_t rows_read, rows_written, busy; // busy: cycles in which a flit left
} hbm_port;

typedef struct {
    hbm_port ports[HBM_PORTS];
    uint64_t cycle;
    bool error; // sticky; text says what came first
    char text[HBM_TEXT];
} hbm;

// Empty memory, state after reset.
void hbm_init(hbm *s);
void hbm_free(hbm *s);
// The state after reset, memory kept.
void hbm_reset(hbm *s);

// Rows first..first + count - 1 of a port for reading and writing by the host, new ones zero; NULL where the port does
// not exist, the range exceeds HBM_MAX_ROWS, or there is no memory. Valid until the next call for this port.
row_t *hbm_rows(hbm *s, int port, uint32_t first, uint32_t count);

// Outputs of this cycle: the flit into the mesh and the credits for flits received.
void hbm_peek(const hbm *s, int port, link_t *link, credit_t *credit);
// One clock edge of every port: link[p] from the mesh, credit[p] for flits sent.
void hbm_step(hbm *s, const link_t link[HBM_PORTS], const credit_t credit[HBM_PORTS]);
// No request is waiting or being served.
bool hbm_idle(const hbm *s);
#endif
