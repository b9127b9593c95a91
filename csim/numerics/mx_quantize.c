#include "numerics/mx_quantize.h"

#include <string.h>

void mx_quantize_reset(mx_quantize *s) {
    memset(s, 0, sizeof *s);
}

void mx_quantize_peek(const mx_quantize *s, mx_quantize_out *out) {
    *out = s->stage[1];
}

void mx_quantize_step(mx_quantize *s, const mx_quantize_in *in) {
    if (s->stage[0].valid)
        s->stage[1] = s->stage[0];
    else
        s->stage[1].valid = false;
    s->stage[0].valid = in->valid;
    if (in->valid)
        s->stage[0].scale = num_quantize((fmt_id)in->fmt, (num_scale_rule)in->rule, in->x, s->stage[0].codes);
}
