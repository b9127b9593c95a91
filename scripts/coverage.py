#!/usr/bin/env python3
"""Lines, branches and toggles that the tests reached, by module: a table, a page, and the lines that none reached.

    coverage.py DATA OBJECTS OUT     DATA: folder of Verilator's .dat files; OBJECTS: the C objects with their counts

Points of Verilator are united over all instances, parameters and tests by file, line and name: a line of RTL is covered
where any block that holds it ran, a toggle where that bit of that signal changed in any instance. Lines of C are gcov's,
by lcov. Writes OUT/missed.txt (FILE:LINE of what no test reached), OUT/toggles.txt (signals with bits that never
changed), OUT/lines.info and OUT/html. Exits with 1 where less than 95 % of the RTL's or of the C's lines are covered.
"""
import collections
import pathlib
import re
import subprocess
import sys

LEAST_LINES = 95.0
POINT = re.compile(rb"^C '(.*)' (\d+)$")


def lines_of(spans):
    """'47-52,67' -> 47 .. 52, 67"""
    for span in filter(None, spans.split(",")):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


def read_points(path, lines, branches, toggles):
    """Adds one .dat file to {file: {key: count}} of each kind."""
    for raw in path.read_bytes().splitlines():
        found = POINT.match(raw)
        if not found:
            continue
        fields = dict(part.split("\2", 1) for part in found[1].decode().split("\1") if part)
        file, count, kind = fields["f"], int(found[2]), fields["page"].split("/")[0]
        if not file.startswith("rtl/"):
            continue
        if kind == "v_toggle":
            toggles[file][fields["l"], fields["o"]] += count
            continue
        for line in lines_of(fields.get("S", "")):
            lines[file][line] += count
        if kind == "v_branch":
            branches[file][fields["l"], fields["n"], fields["o"]] += count


def read_info(path, lines):
    """Adds the DA records of an lcov file."""
    file = None
    for text in path.read_text().splitlines():
        if text.startswith("SF:"):
            file = text[3:].removeprefix(str(pathlib.Path.cwd()) + "/")
        elif text.startswith("DA:"):
            line, count = text[3:].split(",")[:2]
            lines[file][int(line)] += int(count)


def share(counts):
    """-> covered, all, text"""
    covered = sum(count > 0 for count in counts)
    return covered, len(counts), f"{100 * covered / len(counts):6.2f} % of {len(counts):5}" if counts else f"{'-':>17}"


def table(title, kinds, files):
    """Prints a row a file and the total; -> share of covered lines in percent."""
    print(f"\n{title:38}" + "".join(f"{name:>20}" for name, _ in kinds))
    for file in files:
        print(f"{file:38}" + "".join(f"{share(points[file].values())[2]:>20}" for _, points in kinds))
    totals = [share([count for file in files for count in points[file].values()]) for _, points in kinds]
    print(f"{'all':38}" + "".join(f"{text:>20}" for _, _, text in totals))
    return 100 * totals[0][0] / max(1, totals[0][1])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    data, objects, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    lines, branches, toggles, code = (collections.defaultdict(collections.Counter) for _ in range(4))
    for path in sorted(data.glob("*.dat")):
        read_points(path, lines, branches, toggles)
    subprocess.run(["lcov", "-q", "--capture", "--directory", objects, "--base-directory", ".", "--no-external",
                    "--output-file", out / "c.info"], check=True)
    read_info(out / "c.info", code)
    code = collections.defaultdict(collections.Counter, {f: c for f, c in code.items() if f.startswith(("csim/", "tb/"))})
    if not lines or not code:
        sys.exit(f"coverage.py: no counts in {data} and {objects}")
    rtl = table("RTL", [("lines", lines), ("branches", branches), ("toggles", toggles)], sorted(lines))
    c = table("C", [("lines", code)], sorted(code))
    with open(out / "lines.info", "w") as info, open(out / "missed.txt", "w") as missed:
        for file, counts in sorted({**lines, **code}.items()):
            info.write(f"SF:{file}\n" + "".join(f"DA:{n},{counts[n]}\n" for n in sorted(counts)) + "end_of_record\n")
            missed.writelines(f"{file}:{n}\n" for n in sorted(counts) if not counts[n])
    with open(out / "toggles.txt", "w") as never:
        for file in sorted(toggles):
            never.writelines(f"{file}:{line} {name}\n" for (line, name), n in sorted(toggles[file].items()) if not n)
    subprocess.run(["genhtml", "-q", "-o", out / "html", out / "lines.info"], check=True)
    print(f"\nlines without a test: {out}/missed.txt; bits that never changed: {out}/toggles.txt; page: {out}/html/index.html")
    print(f"lines covered: RTL {rtl:.2f} %, C {c:.2f} % (at least {LEAST_LINES:.0f} % each)")
    sys.exit(0 if min(rtl, c) >= LEAST_LINES else 1)


if __name__ == "__main__":
    main()
