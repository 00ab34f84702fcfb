"""Draws the pictures of a session about System V IPC: python bench/plot_ipc.py DIRECTORY reads bench.json there.

Pictures have the numbers of the paper's figure and tables: the number of processes to the right, milliseconds up, a panel for each place. Means keep their
colour and marker in all of them; the kernel's are grey.
"""

import sys
from pathlib import Path

from plot import Session, bar_label, draw, finish, plain_label, plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

MEANS = {
    "kernel-messages": ("messages of the kernel", "#222222", "v"),
    "layer-messages": ("messages of the layer", "#0b6e4f", "o"),
    "kernel-memory": ("memory and semaphores of the kernel", "#a0a0a0", "X"),
    "layer-memory": ("memory and semaphores of the layer", "#6bbf59", "s"),
    "postrider": ("Postrider", "#9a6fb0", "P"),
    "mpich": ("MPICH", "#c1440e", "^"),
    "openmpi": ("Open MPI", "#2f5fa8", "D"),
}
PLACES = {"one-host": "one host", "two-hosts": "two hosts", "four-hosts": "four hosts"}
CALLS = [
    ("ping-pong", 8, "one-host", "8 B"),
    ("ping-pong", 8, "one-core", "8 B, one core"),
    ("ping-pong", 65536, "one-host", "64 KiB"),
    ("semaphore", 0, "one-host", "semaphore"),
    ("alternate", 0, "one-host", "alternate"),
    ("alternate", 0, "one-core", "alternate, one core"),
]


def against_processes(session, name, title, quantity):
    places = [place for place in PLACES if session.select(figure=quantity, place=place)]
    if not places:
        return
    figure, all_axes = plt.subplots(1, len(places), figsize=(5.4 * len(places), 4.4), squeeze=False)
    for axes, place in zip(all_axes.flat, places):
        for engine, (label, colour, marker) in MEANS.items():
            points = session.series("ranks", figure=quantity, place=place, engine=engine)
            draw(axes, points, label, colour, marker)
        axes.set_xscale("log", base=2)
        finish(axes, f"{title}, {PLACES[place]}", "ms", sizes=False)
        axes.set_xlabel("processes")
        axes.xaxis.set_major_locator(FixedLocator(sorted({cell["ranks"] for cell in session.select(place=place)})))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
        axes.legend(fontsize=7)
    session.save(figure, name)


def calls(session):
    """A bar for each call: how many times as fast as the kernel's."""
    bars = []
    for figure, size, place, label in CALLS:
        fields = {"figure": figure, "bytes": size, "place": place}
        times = [session.value(engine=f"{whose}-messages", **fields) for whose in ("kernel", "layer")]
        if None not in times:
            bars.append((label, times[0] / times[1]))
    if not bars:
        return
    figure, axes = plt.subplots(figsize=(8, 4))
    labels, ratios = zip(*bars)
    drawn = axes.bar(range(len(bars)), ratios, 0.6, color="#0b6e4f")
    axes.bar_label(drawn, [bar_label(ratio) for ratio in ratios], fontsize=8)
    axes.axhline(1, color="#222222", linestyle="--", linewidth=1)
    axes.set_xticks(range(len(bars)), labels, fontsize=8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(plain_label))
    axes.set_title("Calls of the layer: how many times as fast as the kernel's", fontsize=11)
    session.save(figure, "calls")


def main():
    session = Session(Path(sys.argv[1]))
    against_processes(session, "figure-1", "Figure 1, run", "md-run")
    against_processes(session, "table-1", "Table 1, send", "md-send")
    against_processes(session, "table-2", "Table 2, receive", "md-receive")
    calls(session)


if __name__ == "__main__":
    main()
