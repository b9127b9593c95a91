#!/usr/bin/env python3
"""Run Criterion test programs one after another and add up their results.

    run_tests.py PROGRAM...

Prints each program's closing line and, last, 'N passed, N failed, N skipped'. Exits with 1 where anything failed,
crashed, ran past its time limit or ran no test.
"""
import re
import subprocess
import sys

LIMIT_SECONDS = 900
CLOSING = re.compile(r"Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)")
SKIPPED = re.compile(r"^\[SKIP\]", re.M)


def main():
    passed = failed = skipped = 0
    for number, program in enumerate(sys.argv[1:], 1):
        print(f"[{number}/{len(sys.argv) - 1}] {program}", flush=True)
        try:
            run = subprocess.run([program, "--timeout", "600"], text=True, capture_output=True, timeout=LIMIT_SECONDS)
            output, status = run.stdout + run.stderr, run.returncode
        except subprocess.TimeoutExpired:
            output, status = f"{program}: no end within {LIMIT_SECONDS} s", -1
        closing = CLOSING.search(re.sub(r"\x1b\[[0-9;]*m", "", output))
        counts = [int(n) for n in closing.groups()] if closing else [0, 0, 0, 0]
        bad = counts[2] + counts[3] or (1 if status or not closing or counts[0] == 0 else 0)
        passed, failed = passed + counts[1], failed + bad
        skipped += len(SKIPPED.findall(output))
        if bad:
            print(output)
        elif closing:
            print("  " + closing.group(0), flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
