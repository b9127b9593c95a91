#include "chip/chip_dut.h"

#include <stdlib.h>

#include "chip/chip_wires.h"
#include "tile/tile_dut.h"

struct chip_dut {
    tile_dut *tiles;
    tile_out out[CHIP_TILES]; // of this cycle, filled by chip_dut_peek
};

chip_dut *chip_dut_new(const dut_options *options) {
    chip_dut *d = calloc(1, sizeof *d);
    node_t here[CHIP_TILES];
    for (int t = 0; t < CHIP_TILES; t++) here[t] = chip_node(t);
    if (d) d->tiles = tile_dut_new(options, here, CHIP_TILES);
    return d;
}

void chip_dut_free(chip_dut *d) {
    if (d) tile_dut_free(d->tiles);
    free(d);
}

void chip_dut_load(chip_dut *d, int tile, int addr, const row_t *instr) {
    tile_dut_load(d->tiles, tile, addr, instr);
}

void chip_dut_inject(chip_dut *d, int tile, int addr, const sram_flip *flip) {
    tile_dut_inject(d->tiles, tile, addr, flip);
}

void chip_dut_peek(chip_dut *d, chip_out *out) {
    tile_dut_peek(d->tiles, d->out);
    chip_wires_out(d->out, out);
}

void chip_dut_step(chip_dut *d, const chip_in *in) {
    tile_in to[CHIP_TILES];
    for (int t = 0; t < CHIP_TILES; t++) chip_wires_in(d->out, in, t, &to[t]);
    tile_dut_step(d->tiles, to);
}

void chip_dut_counters(const chip_dut *d, int tile, uint64_t counters[NUM_EVENTS]) {
    tile_dut_counters(d->tiles, tile, counters);
}

chip_wait chip_dut_waits(const chip_dut *d, int tile, int engine) {
    tile_sem_op wait = d->out[tile].wait[engine];
    return (chip_wait){wait.valid, wait.sem, wait.count};
}

void chip_dut_power(chip_dut *d, int tile, uint32_t milliwatt) {
    tile_dut_power(d->tiles, tile, milliwatt);
}

int chip_dut_errors(const chip_dut *d) {
    return tile_dut_errors(d->tiles);
}
