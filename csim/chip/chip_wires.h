// The wires of a chip: the mesh's links between tiles and to the HBM ports, for the twin and for the RTL's shim; the same
// as in rtl/chip/chip.sv.
#ifndef CHIP_CHIP_WIRES_H
#define CHIP_CHIP_WIRES_H
#include "chip/chip.h"
#include "tile/tile.h"

static inline node_t chip_node(int t) {
    return (node_t){(uint8_t)(t % CFG_TILES_X), (uint8_t)(t / CFG_TILES_X)};
}
// Outputs of the chip from those of its tiles.
void chip_wires_out(const tile_out tiles[CHIP_TILES], chip_out *out);
// Inputs of tile t from the tiles' outputs and the chip's inputs. A flit is written only where it is valid.
void chip_wires_in(const tile_out tiles[CHIP_TILES], const chip_in *in, int t, tile_in *to);
#endif
