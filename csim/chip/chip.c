#include "chip/chip.h"

#include <stdlib.h>

#include "chip/chip_wires.h"

struct chip {
    tile tiles[CHIP_TILES];
    tile_out out[CHIP_TILES]; // of this cycle, filled by chip_peek
};

chip *chip_new(void) {
    chip *s = calloc(1, sizeof *s);
    for (int t = 0; s && t < CHIP_TILES; t++)
        if (!tile_init(&s->tiles[t], chip_node(t))) {
            chip_free(s);
            return NULL;
        }
    return s;
}

void chip_free(chip *s) {
    for (int t = 0; s && t < CHIP_TILES; t++) tile_free(&s->tiles[t]);
    free(s);
}

void chip_load(chip *s, int tile, int addr, const row_t *instr) {
    instr_t unpacked = isa_unpack(instr);
    tile_seq_load(&s->tiles[tile].seq, addr, &unpacked);
}

void chip_inject(chip *s, int tile, int addr, const sram_flip *flip) {
    sram_inject(&s->tiles[tile].mem, (uint16_t)addr, flip);
}

void chip_peek(chip *s, chip_out *out) {
    for (int t = 0; t < CHIP_TILES; t++) tile_peek(&s->tiles[t], &s->out[t]);
    chip_wires_out(s->out, out);
}

void chip_step(chip *s, const chip_in *in) {
    for (int t = 0; t < CHIP_TILES; t++) {
        tile_in to;
        chip_wires_in(s->out, in, t, &to);
        tile_step(&s->tiles[t], &to);
    }
}

void chip_counters(const chip *s, int tile, uint64_t counters[NUM_EVENTS]) {
    for (int e = 0; e < NUM_EVENTS; e++) counters[e] = s->tiles[tile].count.snap[e];
}

chip_wait chip_waits(const chip *s, int tile, int engine) {
    tile_sem_op wait = s->out[tile].wait[engine];
    return (chip_wait){wait.valid, wait.sem, wait.count};
}
