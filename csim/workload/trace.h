// Traces: the matrix products of some layers of a model in one phase, with synthetic operands from a seed.
#ifndef WORKLOAD_TRACE_H
#define WORKLOAD_TRACE_H
#include <stdbool.h>
#include <stdint.h>

#include "workload/kernel.h"
#include "workload/model.h"

enum { TRACE_VERSION = 1, TRACE_NAME = 32, TRACE_ERROR = 512 };

typedef enum { PHASE_PREFILL, PHASE_DECODE } trace_phase;

// What an operand's values look like.
typedef enum {
    VALUES_WEIGHTS,      // normal, each row with a spread of its own
    VALUES_ACTIVATIONS,  // normal, each channel with a spread of its own, one in 128 an outlier 16 to 64 times larger
    VALUES_PROBABILITIES // positive, rows sum to about 1
} trace_values;

// An operator: `count` products of one shape, each with operands of its own.
typedef struct {
    char name[TRACE_NAME]; // "q", "scores", "gate_up", ...
    uint32_t layer;
    int32_t expert; // -1 where it belongs to none
    gemm_spec spec; // n: the columns that the trace covers
    uint32_t count; // instances that the trace covers
    uint32_t full_n, full_count;
    trace_values a_values, w_values;
} trace_op;

typedef struct {
    char model[MODEL_NAME], config[TRACE_NAME];
    trace_phase phase;
    uint32_t batch, context, tokens, first_layer, layers; // tokens: new ones a sequence, 1 in decode
    double share;                                         // asked for
    uint64_t seed;
    trace_op *ops;
    uint32_t num_ops;
    uint64_t macs, full_macs; // covered; of the whole layers
} trace;

// context: keys that a token sees, itself included (decode), or tokens before these (prefill). share in (0, 1]: each
// operator keeps this share of its columns (rounded up to 32) or, where it has several instances, of those.
typedef struct {
    const model_facts *model;
    trace_phase phase;
    uint32_t batch, context, tokens, first_layer, layers;
    double share;
    uint64_t seed;
} trace_request;

// False with one line in error. The trace is to be freed in both cases.
bool trace_make(const trace_request *request, trace *out, char error[TRACE_ERROR]);
void trace_free(trace *t);

// Writes DIR/trace.json, DIR made where it does not exist; the file appears whole or not at all.
bool trace_write(const trace *t, const char *dir, char error[TRACE_ERROR]);
// Reads it back. Refused in one line: another version or configuration, a damaged file.
bool trace_read(const char *dir, trace *out, char error[TRACE_ERROR]);

// Operands of one instance of an operator, allocated; the same for the same seed, operator and instance everywhere.
typedef struct {
    uint16_t *a, *w, *w_scales;
    uint8_t *a_scales;
} trace_tensors;

bool trace_operands(const trace *t, uint32_t op, uint32_t instance, trace_tensors *out);
void trace_tensors_free(trace_tensors *t);
gemm_operands trace_gemm(const trace_tensors *t);
#endif
