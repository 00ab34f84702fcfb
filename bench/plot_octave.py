"""Draws the pictures of a session of the front ends: python bench/plot_octave.py DIRECTORY reads bench.json there.

Pictures have the numbers and the axes of the figures in the paper, so that the two can be laid side by side. Front ends keep their
colour and marker in all of them; what they are compared with, MatlabMPI's own files, is red.
"""

import sys
from pathlib import Path

from plot import Session, draw, finish, horizontal, plain_label, plt
from plot_hosts import double_axis, power_label
from matplotlib.ticker import FuncFormatter

FRONTS = {
    "c": ("C", "#222222", "D"),
    "python-values": ("Python, values", "#2f5fa8", "v"),
    "python-arrays": ("Python, arrays", "#7fa6d9", "^"),
    "octave-values": ("Octave, values", "#0b6e4f", "o"),
    "octave-arrays": ("Octave, arrays", "#1fae7c", "P"),
    "octave-mpitb": ("Octave, MPI-TB's names", "#d9a400", "X"),
    "octave-matlabmpi": ("Octave, MatlabMPI's names", "#6bbf59", "s"),
    "octave-matlabmpi-file": ("the same through files", "#a8d99c", "s"),
    "files-binary": ("MatlabMPI's own files, binary", "#c1440e", "<"),
    "files-text": ("MatlabMPI's own files, text", "#7d1d00", ">"),
}


def draw_fronts(session, axes, against, convert, **fields):
    """One line for each front end; convert makes of a cell's x and a value what is drawn. Tells what x there are."""
    found = set()
    for front, (label, colour, marker) in FRONTS.items():
        points = session.series(against, engine=front, place="usual", **fields)
        points = [(x, *(convert(front, x, value) for value in values)) for x, *values in points]
        points = [point for point in points if None not in point]
        if draw(axes, points, label, colour, marker):
            found.update(point[0] for point in points)
    return found


def figure_1(session):
    """Bandwidth against the size of a message, and below it the time."""
    figure, all_axes = plt.subplots(2, 1, figsize=(8, 10))
    quantities = (
        (lambda _front, x, value: x / value, "MB/s", "Figure 1: bandwidth between 2 ranks, ping-pong"),
        (lambda _front, _x, value: value, "us", "One-way time"),
    )
    found = set()
    for axes, (convert, unit, title) in zip(all_axes, quantities):
        found = draw_fronts(session, axes, "bytes", convert, figure="latency")
        if found:
            double_axis(axes, found, 4)
            finish(axes, title, unit)
            axes.xaxis.set_major_formatter(FuncFormatter(power_label))
    if len(found) > 1:
        session.save(figure, "figure-1")
    plt.close(figure)


def figure_2(session):
    """Latency as bars."""
    rows = [
        (label, session.value(figure="latency", engine=front, place="usual", bytes=16), colour, False)
        for front, (label, colour, _marker) in FRONTS.items()
    ]
    horizontal(session, "figure-2", "Figure 2: latency", [("16 B, one-way time [µs]", rows)], "log")


def against_ranks(session, name, title, unit, convert, **fields):
    """A quantity against the number of ranks."""
    figure, axes = plt.subplots(figsize=(8, 5))
    found = draw_fronts(session, axes, "ranks", convert, **fields)
    if found:
        double_axis(axes, found)
        finish(axes, title, unit, sizes=False)
        axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
        if name == "figure-5":
            axes.set_yscale("linear")
            axes.set_ylim(0, 115)
            axes.set_ylabel("efficiency on the cores that there are [%]")
        session.save(figure, name)
    plt.close(figure)


def efficiency(session):
    """The time of one rank by that of all, and by the cores that they can have."""
    cores = session.content["machine"]["cores"]

    def convert(front, ranks, value):
        alone = session.value(figure="mandelbrot", engine=front, place="usual", ranks=1)
        return alone and 100 * alone / (min(ranks, cores) * value)

    against_ranks(session, "figure-5", "Figure 5: Mandelbrot", "ms", convert, figure="mandelbrot")


def sender_computes(session):
    """Messages whose sender computes at once, against their size."""
    figure, axes = plt.subplots(figsize=(8, 5))
    found = draw_fronts(session, axes, "bytes", lambda _front, _x, value: value, figure="sender-computes")
    if found:
        double_axis(axes, found, 2)
        finish(axes, "Time to the receiver when the sender computes", "us")
        axes.xaxis.set_major_formatter(FuncFormatter(power_label))
        session.save(figure, "sender-computes")
    plt.close(figure)


def main():
    session = Session(Path(sys.argv[1]))
    figure_1(session)
    figure_2(session)
    against_ranks(
        session, "figure-3", "Figure 3: broadcast of 1 KiB", "us", lambda _front, _x, value: value, figure="bcast"
    )
    efficiency(session)
    sender_computes(session)


if __name__ == "__main__":
    main()
