// Bit fields of Verilator's wide ports (arrays of 32-bit words), for shims: copies, no decisions.
#ifndef TB_BITS_H
#define TB_BITS_H
#include "common/mem.h"
#include <cstdint>

// `bits` (1..64) bits from bit `at` up.
template <class W> inline uint64_t bits_get(const W &wide, int at, int bits) {
    uint64_t value = 0;
    for (int got = 0; got < bits;) {
        int shift = (at + got) % 32, take = 32 - shift < bits - got ? 32 - shift : bits - got;
        uint64_t part = (static_cast<uint64_t>(wide[(at + got) / 32]) >> shift) & ((1ull << take) - 1);
        value |= part << got;
        got += take;
    }
    return value;
}

template <class W> inline void bits_put(W &wide, int at, int bits, uint64_t value) {
    for (int put = 0; put < bits;) {
        int shift = (at + put) % 32, take = 32 - shift < bits - put ? 32 - shift : bits - put;
        uint32_t mask = static_cast<uint32_t>(((1ull << take) - 1) << shift);
        uint32_t &word = reinterpret_cast<uint32_t &>(wide[(at + put) / 32]);
        word = (word & ~mask) | (static_cast<uint32_t>(value >> put << shift) & mask);
        put += take;
    }
}

// A row of 256 bits from bit `at` up.
template <class W> inline row_t bits_get_row(const W &wide, int at) {
    row_t row;
    for (int i = 0; i < ROW_WORDS; i++) row.w[i] = bits_get(wide, at + 64 * i, 64);
    return row;
}

template <class W> inline void bits_put_row(W &wide, int at, const row_t &row) {
    for (int i = 0; i < ROW_WORDS; i++) bits_put(wide, at + 64 * i, 64, row.w[i]);
}
#endif
