#!/usr/bin/env python3
"""Plant faults one at a time and demand that a test turns red.

    mutants.py [STEM]...

tests/ROOM/STEM.mutants holds one fault a line: "FILE: old text => new text" (old text must occur exactly once in FILE).
Each is planted in a copy of the tree under build/mutants, the module's test program is built (CONFIG=tiny, or mini where the
test is for that alone) and run: it must fail. A fault that does not compile is an error of the list, not a kill. Prints 'N killed, N survived, N broken';
exits with 1 unless all were killed.
"""
import os
import pathlib
import shutil
import subprocess
import sys

COPY = pathlib.Path("build/mutants")
TREE = ("Makefile", "configs", "rtl", "csim", "tb", "tests", "scripts", "energy", "models")
LIMIT_SECONDS = 600


def read_faults(path):
    """-> [(file, old, new)]; exits with 2 on a damaged line."""
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        file, colon, rest = line.partition(": ")
        old, arrow, new = rest.partition(" => ")
        if not colon or not arrow or not pathlib.Path(file).is_file():
            sys.exit(f"{path}:{number}: expected 'FILE: old => new'")
        if pathlib.Path(file).read_text().count(old) != 1:
            sys.exit(f"{path}:{number}: '{old}' occurs {pathlib.Path(file).read_text().count(old)} times in {file}, expected once")
        faults.append((file, old, new))
    return faults


def make(stem):
    """-> (built, passed): the test program of this module in the copy."""
    source = next(pathlib.Path("tests").glob(f"*/{stem}_test.c")).read_text()
    config = "mini" if source.startswith("// CONFIGS: mini\n") else "tiny"
    program = f"build/{config}/tests/{stem}_test"
    build = subprocess.run(["make", "-s", f"CONFIG={config}", program], cwd=COPY, capture_output=True, text=True)
    if build.returncode:
        return False, False
    try:
        run = subprocess.run([program, "--timeout", "120"], cwd=COPY, capture_output=True, timeout=LIMIT_SECONDS)
        return True, run.returncode == 0
    except subprocess.TimeoutExpired:
        return True, False


def main():
    os.environ.setdefault("POBLANO_SHARED", os.path.abspath("../shared"))  # the copy lies deeper
    os.environ["PATH"] = os.path.abspath("build/venv/bin") + ":" + os.environ["PATH"]  # the oracle's numpy
    lists = sorted(pathlib.Path("tests").glob("*/*.mutants"))
    if sys.argv[1:]:
        lists = [path for path in lists if path.stem in sys.argv[1:]]
    work = [(path.stem, fault) for path in lists for fault in read_faults(path)]
    COPY.mkdir(parents=True, exist_ok=True)
    for name in TREE:
        source, target = pathlib.Path(name), COPY / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target)
        elif source.is_file():
            shutil.copy2(source, target)
    killed = survived = broken = 0
    for number, (stem, (file, old, new)) in enumerate(work, 1):
        path = COPY / file
        original = path.read_text()
        path.write_text(original.replace(old, new))
        built, passed = make(stem)
        path.write_text(original)
        verdict = "broken" if not built else "SURVIVED" if passed else "killed"
        killed, survived, broken = killed + (verdict == "killed"), survived + (verdict == "SURVIVED"), broken + (not built)
        print(f"[{number}/{len(work)}] {verdict:8} {file}: {old} => {new}", flush=True)
    print(f"{killed} killed, {survived} survived, {broken} broken")
    sys.exit(0 if work and killed == len(work) else 1)


if __name__ == "__main__":
    main()
