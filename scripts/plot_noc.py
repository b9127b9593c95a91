#!/usr/bin/env python3
"""Draw latency and throughput of the mesh from the CSV of mesh_bench, beside BookSim2's where that file is there.

    plot_noc.py CURVE.csv OUT.png [BOOKSIM.csv]
"""
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# BookSim2's router with the same buffers and packets; without and with speculation
BOOKSIM = [("0", "BookSim2, 4 cycles a hop", "tab:gray", "s"), ("1", "BookSim2, speculative", "tab:orange", "^")]
LATENCY_TOP = 120
HARD = {"uniform": (0.5, "bisection 1/2"), "transpose": (1 / 7, "busiest link 1/7")}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def ours(rows, traffic):
    rows = [row for row in rows if row["traffic"] == traffic]
    columns = ("offered_flits_node_cycle", "mean_latency_cycles", "accepted_flits_node_cycle", "accepted_min_node")
    return [[float(row[name]) for row in rows] for name in columns] + [[row["verdict"] for row in rows]]


def booksim(rows, traffic, speculative):
    rows = [row for row in rows if (row["traffic"], row["packet_flits"], row["num_vcs"], row["vc_buf"],
                                    row["speculative"]) == (traffic, "1", "2", "8", speculative)]
    columns = ("offered_flits_node_cycle", "avg_packet_latency", "accepted_flits_node_cycle_avg")
    return [[float(row[name]) for row in rows] for name in columns]


def draw(top, bottom, traffic, rows, reference):
    offered, latency, accepted, least, verdicts = ours(rows, traffic)
    for speculative, name, colour, marker in BOOKSIM:
        x, y, z = booksim(reference, traffic, speculative)
        if x:
            top.plot(x, y, color=colour, marker=marker, ms=4, lw=1, label=name)
            bottom.plot(x, z, color=colour, marker=marker, ms=4, lw=1, label=name)
    top.plot(offered, latency, "o-", color="tab:blue", ms=4, label="Poblano, 1 cycle a hop")
    bottom.plot(offered, accepted, "o-", color="tab:blue", ms=4, label="Poblano, mean of the nodes")
    bottom.plot(offered, least, "v:", color="tab:blue", ms=4, label="Poblano, least of any node")
    saturated = [x for x, verdict in zip(offered, verdicts) if verdict == "SATURATED"]
    limit, limit_name = HARD[traffic]
    for axis in (top, bottom):
        if saturated:
            axis.axvspan(saturated[0], max(offered) * 1.02, color="tab:blue", alpha=0.08, label="Poblano SATURATED")
        axis.axvline(limit, color="black", lw=0.8, ls="--", label=limit_name)
        axis.set_xlim(0, max(max(offered), limit) * 1.02)
        axis.set_xlabel("offered, flits / node / cycle")
        axis.grid(alpha=0.3)
    if "DEADLOCK" in verdicts:
        top.text(0.5, 0.5, "DEADLOCK", transform=top.transAxes, color="red", ha="center", size=20)
    top.set_ylim(0, LATENCY_TOP)
    top.set_title(f"{traffic}, 8 x 8, 2 channels x 8 flits, one-flit packets", size=10)
    top.set_ylabel("mean latency, cycles")
    bottom.set_ylim(0, max(accepted) * 1.5)
    bottom.set_ylabel("accepted, flits / node / cycle")
    top.legend(fontsize=7, loc="upper left")
    bottom.legend(fontsize=7, loc="upper left")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    reference = read(sys.argv[3]) if len(sys.argv) == 4 and pathlib.Path(sys.argv[3]).is_file() else []
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for column, traffic in enumerate(("uniform", "transpose")):
        draw(axes[0][column], axes[1][column], traffic, rows, reference)
    figure.savefig(sys.argv[2], dpi=110)
    print(f"{sys.argv[2]}: {len(rows)} points" + ("" if reference else ", without BookSim2's curve"))


if __name__ == "__main__":
    main()
