"""Draws the pictures of a session between hosts: python bench/plot_hosts.py DIRECTORY reads bench.json there.

Pictures have the numbers and the axes of the figures in the paper, so that the two can be laid side by side. Ways keep their
colour and marker in all of them. What was simulated is dotted and says so.
"""

import sys
from pathlib import Path

from plot import Session, draw, finish, plain_label, plt
from matplotlib.ticker import FuncFormatter, NullFormatter

WAYS = {
    "postrider": ("shared memory, ssh between hosts", "#0b6e4f", "o"),
    "postrider-file": ("LFS: local files, ssh between hosts", "#6bbf59", "s"),
    "postrider-scp": ("LFS: local files, scp between hosts", "#d9a400", "v"),
    "postrider-central": ("CFS: central files", "#9a6fb0", "P"),
    "postrider-central-slow": ("CFS: central files, slow file system", "#5b2a86", "X"),
    "mpich": ("MPICH, TCP", "#c1440e", "^"),
}
BARE = ("a bare pipe of ssh", "#222222")
# What the paper tells in words about its figure 9: how much longer the broadcast through the central file system takes.
PAPER_RATIOS = {1024: 14.3, 2048: 34.0}


def power_label(size, _position=None):
    """1048576 becomes 1 MiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def double_axis(axes, values, step=1):
    """Powers of two from the least to the largest of the values."""
    axes.set_xscale("log", base=2)
    powers = [1 << power for power in range(31) if min(values) <= 1 << power <= max(values)]
    axes.set_xticks(powers[::step])
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw_ways(session, axes, against, **fields):
    drawn = [
        draw(axes, session.series(against, engine=way, **fields), label, colour, marker)
        for way, (label, colour, marker) in WAYS.items()
    ]
    return any(drawn)


def messages(session, number, place, title):
    """Figures 7 and 8: bandwidth above, time below, against the size of a message."""
    quantities = (("bandwidth", "floor-pipe-bandwidth", "MB/s"), ("latency", "floor-pipe", "us"))
    cells = [cell for name, _, _ in quantities for cell in session.select(figure=name, place=place)]
    if not cells:
        return
    figure, all_axes = plt.subplots(2, 1, figsize=(8, 9))
    for axes, (name, floor, unit) in zip(all_axes, quantities):
        draw_ways(session, axes, "bytes", figure=name, place=place)
        draw(axes, session.series("bytes", figure=floor, place=place), *BARE)
        double_axis(axes, [cell["bytes"] for cell in cells], 4)
        heading = "bandwidth" if unit == "MB/s" else "one-way time"
        finish(axes, f"Figure {number}: {heading}, {title}", unit)
        axes.xaxis.set_major_formatter(FuncFormatter(power_label))
    session.save(figure, f"figure-{number}")


def broadcast(session):
    """Figure 9: measured, and beyond that simulated."""
    measured = session.select(figure="broadcast", place="nodes")
    simulated = session.select(figure="broadcast-simulated", place="nodes")
    if not measured and not simulated:
        return
    figure, axes = plt.subplots(figsize=(8, 6))
    draw_ways(session, axes, "ranks", figure="broadcast", place="nodes")
    for way, (label, colour, _marker) in WAYS.items():
        points = session.series("ranks", figure="broadcast-simulated", engine=way, place="nodes")
        if points:
            x, values, *_ = zip(*points)
            axes.plot(x, values, color=colour, linestyle=":", label=f"{label} (simulated)")
    for ranks, ratio in PAPER_RATIOS.items():
        slow = session.value(figure="broadcast", engine="postrider-central-slow", place="nodes", ranks=ranks)
        if slow:
            axes.plot([ranks], [slow / ratio], color="#222222", marker="_", markersize=14, linestyle="none")
            axes.annotate(f"paper: {ratio:g} x less", (ranks, slow / ratio), fontsize=7, ha="right", va="bottom")
    double_axis(axes, [cell["ranks"] for cell in measured + simulated], 2)
    finish(axes, "Figure 9: broadcast of 32 B in nodes of 32 ranks", "us", sizes=False)
    axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
    session.save(figure, "figure-9")


def aggregation(session):
    """Figure 10: bandwidth above, time below, a column for each size of the array."""
    sizes = sorted({cell["bytes"] for cell in session.select(figure="aggregation", place="nodes")})
    if not sizes:
        return
    figure, all_axes = plt.subplots(2, len(sizes), figsize=(6.5 * len(sizes), 9), squeeze=False)
    for column, size in zip(all_axes.T, sizes):
        for axes, (name, unit) in zip(column, (("aggregation-bandwidth", "MB/s"), ("aggregation", "ms"))):
            draw_ways(session, axes, "ranks", figure=name, place="nodes", bytes=size)
            ranks = [cell["ranks"] for cell in session.select(figure=name, place="nodes", bytes=size)]
            double_axis(axes, ranks)
            heading = "bandwidth" if unit == "MB/s" else "time"
            finish(axes, f"Figure 10: aggregation of {power_label(size)}, {heading}", unit, sizes=False)
            axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
    session.save(figure, "figure-10")


def main():
    session = Session(Path(sys.argv[1]))
    messages(session, 7, "one-host", "inside a host")
    messages(session, 8, "two-hosts", "between two hosts")
    broadcast(session)
    aggregation(session)


if __name__ == "__main__":
    main()
