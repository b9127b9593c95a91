#!/usr/bin/env python3
"""Fit the tables of the special functions: exp2, reciprocal, rsqrt.

    fit_special.py > configs/special.tbl

Each function is a quadratic in r, 0 <= r < 1, in every interval of its table: c0 + c1 r + c2 r^2, coefficients in units
of 2^-28, through the three Chebyshev nodes of the interval (near the least largest error). c0 of the first interval of
exp2 and reciprocal is exact, so that powers of two are. With the remainders of the arithmetic (r in steps of 2^-20, r^2
of 2^-16) the results stay within 1 ulp: `make exhaustive`.
"""
from decimal import Decimal, getcontext

getcontext().prec = 40
UNIT = Decimal(2) ** 28
INTERVALS = 128
NODES = [(1 - Decimal(str(n))) / 2 for n in ("0.8660254037844386467637231707529361834714", "0", "-0.8660254037844386467637231707529361834714")]


def quadratic(f):
    """-> (c0, c1, c2) of the parabola through f at the nodes."""
    x, y = NODES, [f(n) for n in NODES]
    d01, d12 = (y[1] - y[0]) / (x[1] - x[0]), (y[2] - y[1]) / (x[2] - x[1])
    c2 = (d12 - d01) / (x[2] - x[0])
    c1 = d01 - c2 * (x[0] + x[1])
    return y[0] - c1 * x[0] - c2 * x[0] ** 2, c1, c2


def exp2(x):
    return (x * Decimal(2).ln()).exp()


FUNCTIONS = [  # name, value at the start of the table, width of an interval, function
    ("exp2", Decimal(0), Decimal(1) / INTERVALS, exp2, True),
    ("recip", Decimal(1), Decimal(1) / INTERVALS, lambda x: 1 / x, True),
    ("rsqrt1", Decimal(1), Decimal(1) / INTERVALS, lambda x: 1 / x.sqrt(), True),
    ("rsqrt2", Decimal(2), Decimal(2) / INTERVALS, lambda x: 1 / x.sqrt(), False),
]


def main():
    print("# Written by scripts/fit_special.py. Quadratics by interval, in units of 2^-28:")
    print("# c0 + c1 r + c2 r^2; exp2 on [0, 1), recip and rsqrt1 on [1, 2), rsqrt2 on [2, 4).")
    print("# function, interval, c0, c1, c2")
    for name, start, width, f, exact in FUNCTIONS:
        for i in range(INTERVALS):
            c0, c1, c2 = quadratic(lambda r: f(start + (i + r) * width) * UNIT)
            if exact and i == 0:
                c0 = UNIT
            print(f"{name}, {i}, {round(c0)}, {round(c1)}, {round(c2)}")


if __name__ == "__main__":
    main()
