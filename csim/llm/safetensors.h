// Checkpoints in the safetensors format: one file, or a directory with model.safetensors or with
// model.safetensors.index.json and its shards. Files are mapped, not copied.
#ifndef LLM_SAFETENSORS_H
#define LLM_SAFETENSORS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ST_ERROR = 512, ST_RANK = 4, ST_NAME = 128, ST_DTYPE = 12 };

typedef struct {
    char name[ST_NAME], dtype[ST_DTYPE]; // dtype as the format spells it: "F32", "BF16", "U8", ...
    int rank;
    uint64_t shape[ST_RANK], elements;
    const uint8_t *data; // row-major, little endian
    size_t bytes;
} st_tensor;

typedef struct {
    st_tensor *tensors; // sorted by name
    size_t count;
    struct st_map {
        void *at;
        size_t size;
    } * maps;
    size_t num_maps;
} st_checkpoint;

// False, with one line in error that names the file and what was expected: unreadable, truncated, longer than its
// header says, a header that is not the format's, offsets out of range, a size that is not shape times dtype, over
// ST_RANK axes, a name met twice, a shard that the index names but that is not there.
bool st_open(const char *path, st_checkpoint *out, char error[ST_ERROR]);
void st_close(st_checkpoint *c);
// NULL where there is none of that name.
const st_tensor *st_find(const st_checkpoint *c, const char *name);
// All elements as float32, exactly. F32, BF16 and F16; false for other element types.
bool st_floats(const st_tensor *t, float *out);
#endif
