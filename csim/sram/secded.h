// SECDED of a 64-bit word by a Hsiao code of 72 bits: twin of rtl/sram/secded_pkg.sv.
#ifndef SRAM_SECDED_H
#define SRAM_SECDED_H
#include <stdbool.h>
#include <stdint.h>

// Data bits of check bit j.
static const uint64_t secded_masks[8] = {0xDF04225844B12CB7u, 0xEF0844A88952555Bu, 0xF710893112649A6Du,
                                         0x7B2111C22388E38Eu, 0xBD421E043C0F03F0u, 0x3E83E007C00FFC00u,
                                         0xC0FC0007FFF00000u, 0x00FFFFF800000000u};

typedef struct {
    bool single; // corrected
    bool uncorrectable;
    uint64_t data;
} secded_word;

static inline uint8_t secded_encode(uint64_t data) {
    unsigned check = 0;
    for (int j = 0; j < 8; j++) check |= (unsigned)__builtin_parityll(data & secded_masks[j]) << j;
    return (uint8_t)check;
}

static inline secded_word secded_decode(uint64_t data, uint8_t check) {
    secded_word w = {false, false, data};
    unsigned syndrome = check ^ secded_encode(data);
    if (!syndrome) return w;
    uint64_t hit = UINT64_MAX;
    for (int j = 0; j < 8; j++) hit &= syndrome >> j & 1 ? secded_masks[j] : ~secded_masks[j];
    w.data ^= hit;
    w.single = hit || !(syndrome & (syndrome - 1));
    w.uncorrectable = !w.single;
    return w;
}
#endif
