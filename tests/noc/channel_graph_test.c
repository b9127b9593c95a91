// The channels of the mesh wait for each other in no cycle; three faults that close one are found.
#include "noc/channel_graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

// Everything the mesh carries: an order exists, and every wait leads forward in it.
static void acyclic(int nx, int ny) {
    channel_graph g;
    char text[CHANNEL_TEXT];
    cr_assert(channel_graph_init(&g, nx, ny, router_route));
    cr_assert(channel_graph_add_all(&g), "%d x %d: a packet that never arrives, or streams that do not meet", nx, ny);
    int *order = calloc((size_t)g.channels, sizeof *order), *rank = calloc((size_t)g.channels, sizeof *rank);
    cr_assert_not(channel_graph_cycle(&g, text), "%d x %d: %s", nx, ny, text);
    cr_assert(channel_graph_order(&g, order));
    for (int i = 0; i < g.channels; i++) rank[order[i]] = i;
    for (int a = 0; a < g.channels; a++)
        for (int b = 0; b < g.channels; b++)
            if (g.waits[a * g.channels + b] && rank[a] >= rank[b]) cr_assert_fail("channel %d waits back for %d", a, b);
    fprintf(stderr, "%d x %d: %ld packets, %d channels, %ld waits, acyclic\n", nx, ny, g.packets, g.channels,
            channel_graph_edges(&g));
    free(order);
    free(rank);
    channel_graph_free(&g);
}

Test(channel_graph, every_mesh_up_to_5_x_4_is_acyclic) {
    for (int nx = 1; nx <= 5; nx++)
        for (int ny = 1; ny <= 4; ny++) acyclic(nx, ny);
}

Test(channel_graph, the_8_x_8_mesh_is_acyclic) {
    acyclic(8, 8);
}

// A 2 x 1 mesh by hand: local inputs and HBM ports reach the other node's input, nothing waits further. 2 data
// channels: local -> neighbour, edge -> neighbour, each 2 x 2 pairs, both ways; reductions: local -> neighbour, one
// pair each way.
Test(channel_graph, two_nodes_have_the_waits_counted_by_hand) {
    channel_graph g;
    cr_assert(channel_graph_init(&g, 2, 1, router_route));
    cr_assert(channel_graph_add_all(&g));
    cr_assert_eq(channel_graph_edges(&g), 2 * (2 * NOC_DATA_VCS * NOC_DATA_VCS + 1), "%ld", channel_graph_edges(&g));
    channel_graph_free(&g);
}

// Flits of tag 1 go Y first.
static uint8_t mixed_route(const flit_t *f, int port, node_t here) {
    if (f->tag != 1) return router_route(f, port, here);
    if (here.y != f->rect.y0) return (uint8_t)(1 << (here.y < f->rect.y0 ? NOC_NORTH : NOC_SOUTH));
    if (here.x != f->rect.x0) return (uint8_t)(1 << (here.x < f->rect.x0 ? NOC_EAST : NOC_WEST));
    return 1 << NOC_LOCAL;
}

static bool unicasts_cycle(int nx, int ny, int tags, char text[CHANNEL_TEXT]) {
    channel_graph g;
    cr_assert(channel_graph_init(&g, nx, ny, mixed_route));
    for (int tag = 0; tag < tags; tag++)
        for (int to = 0; to < nx * ny; to++)
            for (int from = 0; from < nx * ny; from++) {
                uint8_t x = (uint8_t)(to % nx), y = (uint8_t)(to / nx);
                flit_t f = {.kind = FLIT_WRITE, .tag = (uint8_t)tag, .rect = {x, y, x, y}};
                cr_assert(channel_graph_add(&g, &f, from, NOC_LOCAL));
            }
    bool found = channel_graph_cycle(&g, text);
    int *order = calloc((size_t)g.channels, sizeof *order);
    cr_assert_eq(channel_graph_order(&g, order), !found);
    free(order);
    channel_graph_free(&g);
    return found;
}

Test(channel_graph, xy_mixed_with_yx_is_found_cyclic) {
    char text[CHANNEL_TEXT];
    cr_assert_not(unicasts_cycle(3, 3, 1, text), "%s", text);
    cr_assert(unicasts_cycle(3, 3, 2, text));
    fprintf(stderr, "XY and YX: %s\n", text);
    cr_assert(unicasts_cycle(2, 2, 2, text));
    cr_assert_not(unicasts_cycle(4, 1, 2, text), "no turns in one row: %s", text);
}

// A tree that turns from its columns back into rows, at their ends.
static uint8_t turning_tree(const flit_t *f, int port, node_t here) {
    uint8_t out = router_route(f, port, here);
    if (port == NOC_SOUTH && f->rect.x1 > here.x && here.y == f->rect.y1) out |= 1 << NOC_EAST;
    if (port == NOC_NORTH && f->rect.x0 < here.x && here.y == f->rect.y0) out |= 1 << NOC_WEST;
    return out;
}

Test(channel_graph, a_tree_that_turns_back_into_rows_is_found_cyclic) {
    channel_graph g;
    char text[CHANNEL_TEXT];
    cr_assert(channel_graph_init(&g, 3, 3, turning_tree));
    channel_graph_add_all(&g);
    cr_assert(channel_graph_cycle(&g, text));
    channel_graph_free(&g);
}

// Requests and replies share channels: HBM ports that kept requests waiting for their replies would close a cycle. They
// have a place for every request that can be outstanding, so they never do.
Test(channel_graph, hbm_ports_that_wait_are_found_cyclic) {
    channel_graph g;
    char text[CHANNEL_TEXT];
    cr_assert(channel_graph_init(&g, 2, 2, router_route));
    g.edge_waits = true;
    cr_assert(channel_graph_add_all(&g));
    cr_assert(channel_graph_cycle(&g, text));
    fprintf(stderr, "HBM ports that wait: %s\n", text);
    channel_graph_free(&g);
}

// A root outside the columns of its rectangle breaks the contract: streams of a row would meet where no tile takes
// part.
Test(channel_graph, a_reduction_with_its_root_beside_the_rectangle_does_not_meet) {
    channel_graph g;
    cr_assert(channel_graph_init(&g, 4, 4, router_route));
    cr_assert(channel_graph_reduction_meets(&g, (rect_t){1, 1, 2, 2}, (node_t){1, 3}));
    cr_assert_not(channel_graph_reduction_meets(&g, (rect_t){1, 1, 2, 2}, (node_t){3, 1}));
    channel_graph_free(&g);
}
