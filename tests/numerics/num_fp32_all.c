// Every float32 input of exp2, recip and rsqrt against the host's double arithmetic: at most 1 ulp, or status 1.
#include <stdio.h>

#include "numerics/ulps.h"

int main(void) {
    int status = 0;
    for (int fn = 0; fn < FN_COUNT; fn++) {
        double worst = 0;
        uint32_t at = 0, x = 0;
        do {
            double ulps = fn_ulps(fn, x, fn_result(fn, x));
            if (!(ulps <= worst)) {
                worst = ulps;
                at = x;
            }
        } while (++x);
        printf("%-5s 4294967296 inputs, worst %.4f ulp at 0x%08X\n", fn_names[fn], worst, at);
        if (!(worst <= 1)) status = 1;
    }
    return status;
}
