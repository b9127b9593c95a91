// Energy and power from activity counters: energy = sum of count x coefficient, nothing else.
#ifndef ENERGY_ENERGY_H
#define ENERGY_ENERGY_H
#include <stdbool.h>
#include <stdint.h>

#include "events.h"

enum { ENERGY_ERROR_SIZE = 512, ENERGY_MAX_CLASSES = 64, ENERGY_NAME_SIZE = 32 };

typedef struct {
    char name[ENERGY_NAME_SIZE]; // class of configs/events.tbl
    double pj;                   // pJ per increment, >= 0
} energy_class;

// Coefficients of one file of energy/.
typedef struct {
    energy_class classes[ENERGY_MAX_CLASSES];
    int num_classes;
    int class_of[NUM_EVENTS]; // index into classes, -1 where the event carries no energy
} energy_table;

// Reads class,pj,... rows. False with one line in error: unreadable, a damaged row, a negative or infinite
// coefficient, a class twice, or a class of the events table that is missing.
bool energy_load(const char *path, energy_table *t, char error[ENERGY_ERROR_SIZE]);

// Energy in pJ of one event's count; 0 for events without a class.
double energy_of_event(const energy_table *t, int event, uint64_t count);

// Energy in pJ of counts[NUM_EVENTS]: the sum of energy_of_event in table order.
double energy_total(const energy_table *t, const uint64_t counts[NUM_EVENTS]);

// The energy unit (matmul, sram, ...), event and class names of event 0..NUM_EVENTS-1.
const char *event_unit(int event);
const char *event_name(int event);
const char *event_class(int event);
#endif
