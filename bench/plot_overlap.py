"""Draws the pictures of a session about asynchronous calls: python bench/plot_overlap.py DIRECTORY reads bench.json there.

Pictures have the numbers of the figures in the paper and their axes, so that the two can be laid side by side: the side of a rank's part to the right,
speed-up against the plain program up, which is the line at 1. A row for each site, a column for each number of ranks. Manners keep their
colour and marker in all of them.
"""

import sys
from pathlib import Path

from plot import Session, bar_label, draw, plain_label, plt
from plot_hosts import double_axis
from matplotlib.ticker import FuncFormatter, NullFormatter

MANNERS = {
    "plain": ("plain", "#222222", None),
    "by-hand": ("by hand", "#2f5fa8", "D"),
    "by-hand-late": ("by hand, waiting late", "#7fa6d9", "d"),
    "layer": ("the layer's choice", "#0b6e4f", "o"),
    "touch": ("at the first touch", "#6bbf59", "s"),
    "last": ("in the last call", "#d9a400", "v"),
    "one-view": ("the paper's one view", "#c1440e", "^"),
    "two-views": ("the paper's two views", "#9a6fb0", "P"),
    "pre-emptive": ("the paper's two views, pre-emptive", "#5b2a86", "X"),
}
SITES = {
    "mpich-links": "MPICH over TCP, slow links",
    "postrider-links": "Postrider over ssh, slow links",
    "mpich-memory": "MPICH, one host",
    "postrider-memory": "Postrider, one host",
    "mpich-slow": "MPICH, slow links and file system",
    "postrider-slow": "Postrider, slow links and file system",
    "mpich-disk": "MPICH, slow links, disk",
    "postrider-disk": "Postrider, slow links, disk",
}
# Quantities of the program about files.
FILES = ["rows", "elements", "lines", "checkpoints", "checkpoints-total", "checkpoint-rows", "strided", "read-compute"]
# Times that are nothing, or less where work was subtracted, count as a microsecond.
LEAST = {"us": 1, "ms": 1e-3}


def speed_ups(session, manner, **fields):
    """Points (n, speed-up, least, most): the plain program's time by the manner's."""
    least = max((LEAST[cell["unit"]] for cell in session.select(**fields)), default=1)
    plain = {point[0]: max(point[1], least) for point in session.series("bytes", engine="plain", **fields)}
    points = session.series("bytes", engine=manner, **fields)
    return [
        (n, *(plain[n] / max(time, least) for time in (value, longest, shortest)))
        for n, value, shortest, longest in points
        if n in plain
    ]


def draw_manners(session, axes, **fields):
    """One line for each manner; tells which sides there are."""
    sides = set()
    for manner, (label, colour, marker) in MANNERS.items():
        points = speed_ups(session, manner, **fields)
        if draw(axes, points, label, colour, marker):
            sides.update(point[0] for point in points)
    return sides


def finish(axes, title, sides):
    axes.set_title(title, fontsize=9)
    axes.set_ylabel("speed-up")
    axes.set_xlabel("n")
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(FuncFormatter(plain_label))
    axes.yaxis.set_minor_formatter(NullFormatter())
    double_axis(axes, sides)
    axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
    axes.grid(True, which="major", alpha=0.35)
    axes.legend(fontsize=7)


def against_side(session, name, title, quantity):
    cells = session.select(figure=quantity)
    places = [place for place in SITES if any(cell["place"] == place for cell in cells)]
    ranks = sorted({cell["ranks"] for cell in cells})
    if not cells:
        return
    shape = (len(places), len(ranks))
    figure, all_axes = plt.subplots(*shape, figsize=(5.2 * shape[1], 4 * shape[0]), squeeze=False)
    for row, place in zip(all_axes, places):
        for axes, count in zip(row, ranks):
            sides = draw_manners(session, axes, figure=quantity, place=place, ranks=count)
            if sides:
                finish(axes, f"{title}, {SITES[place]}, {count} ranks", sides)
            else:
                axes.axis("off")
    session.save(figure, name)


def summary(session):
    """The exchange of borders where links are slow, with the fewest ranks: the picture of the README."""
    cells = session.select(figure="border")
    places = [place for place in ("mpich-links", "postrider-links") if any(cell["place"] == place for cell in cells)]
    if not places:
        return
    count = min(cell["ranks"] for cell in cells)
    figure, all_axes = plt.subplots(1, len(places), figsize=(5.2 * len(places), 4), squeeze=False)
    for axes, place in zip(all_axes.flat, places):
        sides = draw_manners(session, axes, figure="border", place=place, ranks=count)
        finish(axes, f"Exchange of borders, {SITES[place]}, {count} ranks", sides)
    session.save(figure, "summary")


def files(session):
    """A bar for each quantity and site."""
    cells = [cell for cell in session.select(engine="layer") if cell["figure"] in FILES]
    places = [place for place in SITES if any(cell["place"] == place for cell in cells)]
    if not cells:
        return
    figure, axes = plt.subplots(figsize=(10, 4.5))
    width = 0.8 / len(places)
    for index, place in enumerate(places):
        for x, quantity in enumerate(FILES):
            times = [session.value(figure=quantity, engine=way, place=place) for way in ("plain", "layer")]
            if None in times:
                continue
            speed_up = max(times[0], LEAST["ms"]) / max(times[1], LEAST["ms"])
            at = x + (index - (len(places) - 1) / 2) * width
            bar = axes.bar(at, speed_up, width, color=f"C{index}", label=SITES[place] if x == 0 else None)
            axes.bar_label(bar, [bar_label(speed_up)], fontsize=6)
    axes.axhline(1, color="#222222", linestyle="--", linewidth=1)
    axes.set_xticks(range(len(FILES)), FILES, fontsize=8)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(plain_label))
    axes.set_title("Files: speed-up of the layer against the plain program", fontsize=11)
    axes.legend(fontsize=7)
    session.save(figure, "files")


def main():
    session = Session(Path(sys.argv[1]))
    pictures = (
        ("figure-2", "Figure 2, exchange of borders", "border"),
        ("figure-2-before-work", "Figure 2 with work before the first touch", "border-before-work"),
        ("figure-3", "Figure 3, read and distribute", "root-read"),
        ("figure-4", "Figure 4, gather and write", "root-write"),
        ("figure-5", "Figure 5, distributed read and first iteration", "rows-read-compute"),
        ("figure-6", "Figure 6, distributed write", "rows-write"),
        ("figure-6-written", "Figure 6 until all have written", "rows-written"),
        ("solver", "The whole solver", "solver-total"),
        ("integrity", "Borders through a file", "integrity-total"),
    )
    for name, title, quantity in pictures:
        against_side(session, name, title, quantity)
    files(session)
    summary(session)


if __name__ == "__main__":
    main()
