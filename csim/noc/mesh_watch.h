// What became of a mesh under load: four verdicts, told apart by what its buffers wait for and what its sources pile
// up.
#ifndef NOC_MESH_WATCH_H
#define NOC_MESH_WATCH_H
#include "noc/mesh.h"

typedef enum {
    MESH_OK,
    MESH_SATURATED, // everything moves, but a source piles up what it cannot send
    MESH_BLOCKED,   // nothing moves, and what is waited for is outside: a sink's credits or a source's flits
    MESH_DEADLOCK   // buffers wait for each other in a cycle: nothing outside can help
} mesh_verdict;

enum { MESH_PATIENCE = 64, MESH_WATCH_TEXT = 1024 };

typedef struct {
    uint64_t still; // cycles in a row in which flits were buffered and none moved
} mesh_watch;

// Flits of one source in a window of measurement.
typedef struct {
    uint64_t offered, backlog_before, backlog_after;
} mesh_source;

const char *mesh_verdict_name(mesh_verdict v);
// To be called after every mesh_step.
void mesh_watch_cycle(mesh_watch *w, const mesh *m);
// A cycle of buffers that wait for each other, as text "(x,y) port vc -> ... -> the first again", first hop first;
// false and "" where there is none. Sinks are taken to give their credits back, sources to send what they have.
bool mesh_wait_cycle(const mesh *m, char text[MESH_WATCH_TEXT]);
// The verdict on the mesh as it stands between two cycles; text: the wait cycle, what is waited for, or the source.
// sources: one a node, or NULL where saturation is not asked for.
mesh_verdict mesh_watch_verdict(const mesh_watch *w, const mesh *m, const mesh_source *sources,
                                char text[MESH_WATCH_TEXT]);
#endif
