#!/usr/bin/env python3
"""Check the mirror of the tree: every shim has its module, every test of a module its twin, and files keep their limits.

Exits with 1 and one line for each finding.
"""
import pathlib
import sys

LIMITS = {".sv": 400, ".c": 500, ".h": 400, ".cpp": 400}


def main():
    found = []
    for shim in pathlib.Path("tb").glob("*/*_dut.cpp"):
        stem = shim.name[: -len("_dut.cpp")]
        if not (pathlib.Path("rtl") / shim.parent.name / f"{stem}.sv").is_file() and "--top-module" not in shim.read_text():
            found.append(f"{shim}: no rtl/{shim.parent.name}/{stem}.sv")
        if not (pathlib.Path("tests") / shim.parent.name / f"{stem}_test.c").is_file():
            found.append(f"{shim}: no tests/{shim.parent.name}/{stem}_test.c")
    for folder in ("rtl", "csim", "tb", "tests"):
        for path in pathlib.Path(folder).glob("*/*"):
            if path.suffix in LIMITS:
                lines = len(path.read_text().splitlines())
                if lines > LIMITS[path.suffix]:
                    found.append(f"{path}: {lines} lines, the limit is {LIMITS[path.suffix]}")
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
