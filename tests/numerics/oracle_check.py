#!/usr/bin/env python3
"""Check records of the C reference against the exact oracle.

    oracle_check.py ORACLE.py < records

Record (little endian): uint8 kind; kind 0 (accumulate): uint8 a_fmt, w_fmt, a_scale_fmt, w_scale_fmt, uint16 a[32], w[32],
scale_a, scale_w, uint32 acc, result; kind 1 (quantize, floor): uint8 fmt, 3 pad bytes, uint32 x[32], uint8 codes[32], scale.
Prints 'N records' and exits with 1 at the first difference.
"""
import importlib.util
import struct
import sys

FORMATS = ["e2m1", "int4", "e4m3", "e5m2", "int8", "bf16"]
SCALES = ["none", "e8m0", "bf16"]
ACCUMULATE, QUANTIZE = struct.Struct("<4B32H32H2H2I"), struct.Struct("<4B32I32BB")


def main():
    spec = importlib.util.spec_from_file_location("oracle", sys.argv[1])
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    import numpy as np
    count = 0
    read = sys.stdin.buffer.read
    while kind := read(1):
        if kind == b"\0":
            r = ACCUMULATE.unpack(read(ACCUMULATE.size))
            fa, fw, sa, sw = FORMATS[r[0]], FORMATS[r[1]], SCALES[r[2]], SCALES[r[3]]
            a, w, (ca, cw, acc, got) = r[4:36], r[36:68], r[68:]
            want = oracle.accumulate(acc, oracle.block_dot(fa, a, fw, w, 32), oracle.decode_scale(sa, ca),
                                     oracle.decode_scale(sw, cw))
            if want != got:
                print(f"record {count}: {fa} x {fw}, a {a}, w {w}, scales {sa} {ca} {sw} {cw}, acc {acc:08x}: "
                      f"got {got:08x}, want {want:08x}")
                sys.exit(1)
        else:
            r = QUANTIZE.unpack(read(QUANTIZE.size))
            x = np.array(r[4:36], np.uint32).view(np.float32).reshape(1, 32)
            codes, scale = oracle.quantize(x, FORMATS[r[0]])
            if list(codes[0]) != list(r[36:68]) or int(scale[0, 0]) != r[68]:
                print(f"record {count}: {FORMATS[r[0]]}, x {x}: got {r[36:]}, want {codes} {scale}")
                sys.exit(1)
        count += 1
    print(f"{count} records")


if __name__ == "__main__":
    main()
