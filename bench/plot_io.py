"""Draws the pictures of a session about files: python bench/plot_io.py DIRECTORY reads bench.json there.

Pictures have the numbers and the axes of the figures in the paper, so that the two can be laid side by side: ranks to the right, time up, a line
for each way; a row for each place. Ways keep their colour and marker in all of them.
"""

import math
import sys
from pathlib import Path

from plot import UNITS, Session, draw, finish, plain_label, plt, size_label
from plot_hosts import double_axis
from matplotlib.ticker import FuncFormatter

WAYS = {
    "postrider": ("Postrider", "#0b6e4f", "o"),
    "postrider-hybrid": ("the paper's way", "#6bbf59", "s"),
    "postrider-queue": ("queue", "#d9a400", "v"),
    "postrider-tree": ("tree", "#9a6fb0", "P"),
    "postrider-shared": ("shared and exclusive", "#5b2a86", "X"),
    "postrider-ranges": ("ranges", "#1fae7c", "*"),
    "mpich-postrider": ("Postrider on MPICH", "#7a4a1e", "<"),
    "mpich": ("ROMIO", "#c1440e", "^"),
    "openmpi": ("OMPIO", "#2f5fa8", "D"),
    "file-server": ("file server", "#c1440e", "^"),
    "file-polling": ("file server, polled", "#8a8a8a", "d"),
}
PLACES = {
    "tmpfs": "in memory",
    "disk": "on a disk",
    "slow": "slow file system",
    "slow-no-locks": "slow file system without locks",
    "tmpfs-busy": "in memory, two busy processes beside",
    "nodes": "nodes of 32, pipes",
    "fast-nodes": "nodes of 32, fast network",
}
ARRAYS = [
    "darray-write-all", "darray-read-all", "subarray-write-all", "subarray-read-all", "tiled-read-all", "tiled-read",
    "strided-write-all", "strided-read-all", "pieces-write", "pieces-read",
]  # fmt: skip
UNITS["thousand/s"] = "thousand accesses/s"
UNITS["%"] = "fewest by most [%]"


def draw_ways(session, axes, figure, place):
    """One line for each way; tells which numbers of ranks there are."""
    ranks = set()
    for way, (label, colour, marker) in WAYS.items():
        points = session.series("ranks", figure=figure, engine=way, place=place)
        if draw(axes, points, label, colour, marker):
            ranks.update(point[0] for point in points)
    return ranks


def against_ranks(session, name, title, quantities):
    """A row for each place, a column for each quantity (figure of the record, words)."""
    names = [figure for figure, _ in quantities]
    places = [place for place in PLACES if any(session.select(figure=figure, place=place) for figure in names)]
    if not places:
        return
    shape = (len(places), len(quantities))
    figure, all_axes = plt.subplots(*shape, figsize=(6.5 * shape[1], 4.2 * shape[0]), squeeze=False)
    for row, place in zip(all_axes, places):
        for axes, letter, (quantity, words) in zip(row, "abcd", quantities):
            cells = session.select(figure=quantity, place=place)
            ranks = draw_ways(session, axes, quantity, place)
            if not ranks:
                axes.axis("off")
                continue
            double_axis(axes, ranks, 1 + len(ranks) // 8)
            finish(axes, f"{title} ({letter}): {words}, {PLACES[place]}", cells[0]["unit"], sizes=False)
            axes.set_xlabel("processes")
            axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
            if cells[0]["unit"] == "%":
                axes.set_yscale("linear")
                axes.set_ylim(0, 105)
    session.save(figure, name)


def ratios(session, place, rows):
    """Postrider's time by that of the better of the others: a row for each quantity, a column for ranks and size."""
    times = {(c["figure"], c["engine"], c["ranks"], c["bytes"]): c["value"] for c in session.select(place=place)}
    columns = sorted({key[2:] for key in times if key[0] in rows})

    def ratio(which, column):
        others = [times.get((which, engine, *column)) for engine in ("mpich", "openmpi")]
        ours, others = times.get((which, "postrider", *column)), [time for time in others if time]
        return ours / min(others) if ours and others else math.nan

    return columns, [[ratio(which, column) for column in columns] for which in rows]


def arrays(session):
    """A field for each quantity, place, number of ranks and size."""
    places = [place for place in PLACES if session.select(figure=ARRAYS[0], place=place)]
    if not places:
        return
    figure, all_axes = plt.subplots(len(places), 1, figsize=(9, 3.6 * len(places)), squeeze=False)
    for axes, place in zip(all_axes.flat, places):
        columns, values = ratios(session, place, ARRAYS)
        shades = [[math.log2(value) if value > 0 else math.nan for value in row] for row in values]
        axes.imshow(shades, cmap="RdYlGn_r", vmin=-3, vmax=3, aspect="auto")
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                axes.text(x, y, "" if math.isnan(value) else f"{value:.2g}", ha="center", va="center", fontsize=7)
        labels = [f"{ranks} x\n{size_label(size)}" for ranks, size in columns]
        axes.set_xticks(range(len(columns)), labels, fontsize=7)
        axes.set_yticks(range(len(ARRAYS)), ARRAYS, fontsize=8)
        axes.set_title(f"Arrays, {PLACES[place]}: time by that of the better of ROMIO and OMPIO", fontsize=10)
    session.save(figure, "arrays")


def main():
    session = Session(Path(sys.argv[1]))
    figures = (
        ("8", "atomic mode", (("atomic-contiguous", "contiguous"), ("atomic-noncontiguous", "noncontiguous"))),
        ("9", "shared file pointer", (("shared-write", "write"), ("shared-read", "read"))),
        ("10", "ordered mode", (("ordered-write", "write"), ("ordered-read", "read"))),
    )
    for number, what, quantities in figures:
        against_ranks(session, f"figure-{number}", f"Figure {number}, {what}", quantities)
    against_ranks(
        session, "disjoint", "Views that do not overlap", (("disjoint-atomic", "atomic"), ("disjoint-plain", "not"))
    )
    locks = (("lock-uncontended", "one alone"), ("contended-throughput", "all"), ("contended-fairness", "fairness"))
    against_ranks(session, "locks", "Lock", locks)
    simulated = (("simulated-throughput", "accesses"), ("simulated-waiting", "waiting"))
    against_ranks(session, "simulated-locks", "Simulated locks", simulated)
    arrays(session)


if __name__ == "__main__":
    main()
