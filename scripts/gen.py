#!/usr/bin/env python3
"""Turn a configuration and the tables of events and special functions into a SystemVerilog package and a C header each.

    gen.py CONFIG.cfg EVENTS.tbl SPECIAL.tbl OUTDIR

Writes cfg_pkg.sv, cfg.h, events_pkg.sv, events.h, special_pkg.sv, special.h. Exits with 2 and one line on bad input.
"""
import pathlib
import sys

LIMITS = {  # name: (least, most, rule)
    "TILES_X": (1, 16, None), "TILES_Y": (1, 16, None), "COLS": (8, 128, "pow2"), "ROWS": (2, 4096, "pow2"),
    "ALIGN_BITS": (1, 32, None), "BANKS": (2, 32, "pow2"), "BANK_ROWS": (16, 32768, "pow2"),
    "IMEM_ROWS": (16, 65536, "pow2"), "QUEUE_DEPTH": (2, 64, None), "NUM_SEMS": (1, 32, None),
    "NUM_TAGS": (1, 32, None), "NUM_SLOTS": (1, 16, None), "NOC_VCS": (1, 4, None), "NOC_DEPTH": (8, 64, None),
    "HBM_LATENCY": (1, 10000, None), "WINDOW": (4, 65536, None), "CLOCK_MHZ": (1, 10000, None),
}


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def read_config(path):
    """-> {name: int}, every name of LIMITS once and within its limits."""
    values = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, text = (part.strip() for part in line.partition("="))
        if name not in LIMITS:
            fail(f"{path}:{number}: unknown name {name!r}")
        if name in values:
            fail(f"{path}:{number}: {name} is set twice")
        least, most, rule = LIMITS[name]
        if not text.isdigit() or not least <= int(text) <= most:
            fail(f"{path}:{number}: {name} = {text!r}: expected a number from {least} to {most}")
        value = int(text)
        if rule == "pow2" and value & (value - 1):
            fail(f"{path}:{number}: {name} = {value}: expected a power of two")
        values[name] = value
    missing = [name for name in LIMITS if name not in values]
    if missing:
        fail(f"{path}: missing {', '.join(missing)}")
    if values["BANKS"] * values["BANK_ROWS"] > 65536:
        fail(f"{path}: BANKS x BANK_ROWS = {values['BANKS'] * values['BANK_ROWS']}: row addresses have 16 bits")
    return values


def read_events(path):
    """-> [(unit, event, bits, energy class, meaning)] in table order."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(",", 4)]
        if len(parts) != 5 or not parts[2].isdigit() or not 1 <= int(parts[2]) <= 16:
            fail(f"{path}:{number}: expected unit, event, bits (1 to 16), energy class, meaning")
        rows.append((parts[0], parts[1], int(parts[2]), parts[3], parts[4]))
    return rows


SPECIAL, INTERVALS = ("exp2", "recip", "rsqrt1", "rsqrt2"), 128
SPECIAL_BITS = (29, 22, 14)


def read_special(path):
    """-> [(c0, c1, c2)], INTERVALS for each function of SPECIAL in turn; c1 keeps its sign."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(",")]
        at = divmod(len(rows), INTERVALS)
        if len(parts) != 5 or at[0] >= len(SPECIAL) or parts[:2] != [SPECIAL[at[0]], str(at[1])] \
                or not all(part.lstrip("-").isdigit() for part in parts[2:]):
            fail(f"{path}:{number}: expected function, interval, c0, c1, c2 in order")
        row = tuple(int(part) for part in parts[2:])
        if row[0] < 0 or row[2] < 0 or (row[1] < 0) != (at[0] > 0) or any(abs(c) >> b for c, b in zip(row, SPECIAL_BITS)):
            fail(f"{path}:{number}: a coefficient out of its {SPECIAL_BITS} bits, or of the wrong sign")
        rows.append(row)
    if len(rows) != len(SPECIAL) * INTERVALS:
        fail(f"{path}: expected {len(SPECIAL) * INTERVALS} rows, got {len(rows)}")
    return rows


def write_special(rows, out, head):
    """Coefficients c0, |c1|, c2 of interval i of function f at f * INTERVALS + i."""
    sv = head + "// c0, |c1|, c2 in units of 2^-28\n// verilator lint_off UNUSEDPARAM\npackage special_pkg;\n"
    sv += f"  parameter int SPECIAL_INTERVALS = {INTERVALS};\n  parameter int SPECIAL_ROW_BITS = {sum(SPECIAL_BITS)};\n"
    sv += "  typedef struct packed {\n" + "".join(f"    logic [{b - 1}:0] c{i};\n" for i, b in enumerate(SPECIAL_BITS)) + "  } special_row_t;\n"
    sv += f"  parameter logic [{sum(SPECIAL_BITS) - 1}:0] SPECIAL_ROWS [{len(rows)}] = '{{\n"
    sv += ",\n".join(f"    {sum(SPECIAL_BITS)}'h{(a << 36) | abs(b) << 14 | c:017x}" for a, b, c in rows) + "\n  };\nendpackage\n"
    write(out / "special_pkg.sv", sv)
    c = head + "#ifndef SPECIAL_H\n#define SPECIAL_H\n#include <stdint.h>\n"
    c += f"enum {{ SPECIAL_INTERVALS = {INTERVALS} }};\n"
    c += "// In units of 2^-28.\ntypedef struct {\n    int32_t c0, c1, c2;\n} special_row;\n"
    for f, name in enumerate(SPECIAL):
        c += f"#define SPECIAL_{name.upper()} \\\n    {{ \\\n" + ", \\\n".join(
            f"        {{{x}, {y}, {z}}}" for x, y, z in rows[f * INTERVALS:(f + 1) * INTERVALS]) + " \\\n    }\n"
    write(out / "special.h", c + "#endif\n")


def main():
    if len(sys.argv) != 5:
        fail("usage: gen.py CONFIG.cfg EVENTS.tbl SPECIAL.tbl OUTDIR")
    config_path, events_path, special_path, out = (pathlib.Path(arg) for arg in sys.argv[1:])
    for path in (config_path, events_path, special_path):
        if not path.is_file():
            fail(f"{path}: no such file")
    config, events, special = read_config(config_path), read_events(events_path), read_special(special_path)
    units = list(dict.fromkeys(row[0] for row in events))
    out.mkdir(parents=True, exist_ok=True)
    head = f"// Generated by scripts/gen.py from {config_path.name} and {events_path.name}; do not edit.\n"
    write_special(special, out, f"// Generated by scripts/gen.py from {special_path.name}; do not edit.\n")
    write(out / "cfg_pkg.sv", head + "// each module uses a part\n// verilator lint_off UNUSEDPARAM\npackage cfg_pkg;\n" + "".join(
        f"  parameter int {n} = {v};\n" for n, v in config.items()) + "endpackage\n")
    write(out / "cfg.h", head + "#ifndef CFG_H\n#define CFG_H\n" + f'#define CFG_NAME "{config_path.stem}"\n' + "".join(
        f"#define CFG_{n} {v}\n" for n, v in config.items()) + "#endif\n")
    sv = head + "// each module uses a part\n// verilator lint_off UNUSEDPARAM\npackage events_pkg;\n"
    for unit in units:
        sv += "  typedef struct packed {\n" + "".join(
            f"    logic [{bits - 1}:0] {name};\n" for u, name, bits, _, _ in events if u == unit) + f"  }} {unit}_events_t;\n"
    sv += "  typedef struct packed {\n" + "".join(f"    {u}_events_t {u};\n" for u in units) + "  } tile_events_t;\n"
    sv += f"  parameter int NUM_EVENTS = {len(events)};\n  parameter int INC_BITS = 16;\n"
    sv += "  function automatic logic [NUM_EVENTS-1:0][INC_BITS-1:0] flatten(tile_events_t e);\n"
    sv += "".join(f"    flatten[{i}] = INC_BITS'(e.{u}.{n});\n" for i, (u, n, _, _, _) in enumerate(events))
    write(out / "events_pkg.sv", sv + "  endfunction\nendpackage\n")
    c = head + "#ifndef EVENTS_H\n#define EVENTS_H\n#include <stdint.h>\n"
    c += "// Increments of one cycle. All fields are uint16_t in table order: a tile_events is an array of NUM_EVENTS.\n"
    for unit in units:
        c += "typedef struct {\n" + "".join(f"    uint16_t {n}; // {m}\n" for u, n, _, _, m in events if u == unit)
        c += f"}} {unit}_events;\n"
    c += "typedef struct {\n" + "".join(f"    {u}_events {u};\n" for u in units) + "} tile_events;\n"
    c += "enum {\n" + "".join(f"    EV_{u.upper()}_{n.upper()},\n" for u, n, _, _, _ in events) + "    NUM_EVENTS\n};\n"
    c += "// X-macro: X(unit, event, increment bits, energy class, meaning)\n#define EVENTS_TABLE(X) \\\n" + " \\\n".join(
        f'    X("{u}", "{n}", {b}, "{k}", "{m}")' for u, n, b, k, m in events) + "\n#endif\n"
    write(out / "events.h", c)


def write(path, text):
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main()
