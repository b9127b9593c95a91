// The wires of rtl/chip/chip.sv are those of csim/chip/chip_wires, on which the tiles are simulated: every link, credit and
// host port, with stand-ins for the tiles.
#include "chip/chip_wires.h"

#include <criterion/criterion.h>

#include "chip/chip_wires_dut.h"

// What the stand-in of tile t drives on its link l.
static uint32_t name_of(int t, int l) {
    return 1u << 24 | (uint32_t)(t % CFG_TILES_X) << 16 | (uint32_t)(t / CFG_TILES_X) << 8 | (uint32_t)l;
}
static credit_t credit_of(int t, int l) {
    return (credit_t)((t % CFG_TILES_X + 2 * (t / CFG_TILES_X) + 3 * l + 1) & ((1 << NOC_NUM_VCS) - 1));
}

static void fill(tile_out tiles[CHIP_TILES], chip_in *in, chip_wires_dut_in *din) {
    for (int t = 0; t < CHIP_TILES; t++) {
        tiles[t] = (tile_out){.done = true};
        for (int l = 0; l < TILE_LINKS; l++) {
            tiles[t].link[l].valid = true;
            tiles[t].link[l].flit.data.w[0] = name_of(t, l);
            tiles[t].credit[l] = credit_of(t, l);
        }
        din->power[t] = 77u + (uint32_t)t;
    }
    for (int p = 0; p < CHIP_PORTS; p++) {
        in->link[p].valid = true;
        in->link[p].flit.data.w[0] = din->hbm_data[p] = 2u << 24 | (uint32_t)p;
        in->credit[p] = din->hbm_credit[p] = (credit_t)((p + 2) & ((1 << NOC_NUM_VCS) - 1));
    }
}

Test(chip_wires, every_link_and_credit_goes_where_the_twins_goes) {
    static tile_out tiles[CHIP_TILES];
    chip_in in = {0};
    chip_wires_dut_in din = {.load_tile = -1, .inject_tile = -1};
    static chip_wires_dut_out dout;
    static chip_out out;
    fill(tiles, &in, &din);
    chip_wires_dut *d = chip_wires_dut_new(NULL);
    chip_wires_dut_step(d, &din, &dout);
    for (int t = 0; t < CHIP_TILES; t++) {
        static tile_in want;
        want = (tile_in){0};
        chip_wires_in(tiles, &in, t, &want);
        for (int l = 0; l < TILE_LINKS; l++) {
            uint64_t link = want.link[l].valid ? 1ull << 32 | want.link[l].flit.data.w[0] : 0;
            cr_assert_eq(dout.seen[t][l], link, "tile %d, link %d: got %llx, want %llx", t, l, (unsigned long long)dout.seen[t][l],
                         (unsigned long long)link);
            cr_assert_eq(dout.seen[t][4 + l], want.credit[l], "tile %d, credit %d", t, l);
        }
        cr_assert_eq(dout.seen[t][8], 77u + (uint32_t)t, "power of tile %d", t);
        cr_assert_eq(dout.waits[t], t % CFG_TILES_X);
    }
    chip_wires_out(tiles, &out);
    for (int p = 0; p < CHIP_PORTS; p++) {
        cr_assert(dout.hbm_valid[p] && dout.hbm_data[p] == (uint32_t)out.link[p].flit.data.w[0], "HBM port %d", p);
        cr_assert_eq(dout.hbm_credit[p], out.credit[p], "credit of HBM port %d", p);
    }
    cr_assert(dout.done && !dout.error && out.done && !out.error);
    tiles[1].done = false;
    tiles[1].error = true;
    chip_wires_out(tiles, &out);
    cr_assert(!out.done && out.error);
    chip_wires_dut_free(d);
}

Test(chip_wires, host_reaches_one_tile_and_start_reaches_all) {
    chip_wires_dut *d = chip_wires_dut_new(NULL);
    static chip_wires_dut_out out;
    for (int t = 0; t < CHIP_TILES; t++) {
        chip_wires_dut_in in = {.load_tile = t, .inject_tile = CHIP_TILES - 1 - t};
        chip_wires_dut_step(d, &in, &out);
        cr_assert(out.error, "a tile's error is the chip's");
        for (int i = 0; i < CHIP_TILES; i++) {
            cr_assert_eq(out.seen[i][8] >> 32, i == t, "load of tile %d seen by %d", t, i);
            cr_assert_eq(out.seen[i][9], i == CHIP_TILES - 1 - t, "fault of tile %d seen by %d", CHIP_TILES - 1 - t, i);
        }
    }
    chip_wires_dut_step(d, &(chip_wires_dut_in){.load_tile = -1, .inject_tile = -1, .start = true}, &out);
    cr_assert_not(out.done);
    chip_wires_dut_free(d);
}
