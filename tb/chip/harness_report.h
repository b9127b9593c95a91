// Texts of the harness: what is stuck, what differs.
#ifndef TB_HARNESS_REPORT_H
#define TB_HARNESS_REPORT_H
#include "chip/harness_side.h"

// Whether a counter, when it moves, is a sign of work (busy, rows, flits) and not of waiting or idleness.
bool report_is_progress(int event);
// Appends to text (of `size` bytes) which unit of which tile waits for what in the last window of s.
void report_stuck(const side *s, char *text, size_t size);
// Describes the counter `event` of a tile that differs between two backends in their last windows.
void report_counter(const side *got, const side *want, int tile, int event, char *text, size_t size);
// Describes the result word (32 bits, of row i) that differs between two backends.
void report_word(side *got, side *want, size_t region, uint32_t i, int word, char *text, size_t size);
#endif
