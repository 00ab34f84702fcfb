"""Draws the pictures of a bench session: python bench/plot.py DIRECTORY reads bench.json there and writes PNG beside it.

One picture for each figure. Engines keep their colour and marker in all of them; floors are dashed and grey, since no
engine can be faster. Sizes and times have logarithmic axes, because both span several decades.
"""

import json
import math
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

COLLECTIVES = [
    "barrier", "ibarrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
    "alltoallv", "alltoallw", "reduce", "allreduce", "iallreduce", "reduce_scatter_block", "reduce_scatter", "scan",
    "exscan", "neighbor_allgather", "neighbor_alltoall",
]  # fmt: skip
ONE_SIDED = [
    "put", "get", "put_created", "get_created", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap",
    "lock_put_unlock", "put_fence", "post_start_complete_wait",
]  # fmt: skip
ENGINES = {
    "postrider": ("Postrider, shared memory", "#0b6e4f", "o"),
    "postrider-file": ("Postrider, files", "#6bbf59", "s"),
    "mpich": ("MPICH", "#c1440e", "^"),
    "openmpi": ("Open MPI", "#2f5fa8", "D"),
}
FLOORS = {
    "floor-ring": ("shared ring, spin then futex", "#222222"),
    "floor-futex": ("futex pairs", "#222222"),
    "floor-readv": ("process_vm_readv", "#666666"),
    "floor-memcpy": ("memcpy", "#a0a0a0"),
    "floor-file": ("its system calls", "#222222"),
    "floor-cp": ("cp", "#666666"),
}
UNITS = {"us": "time [µs]", "ms": "time [ms]", "MB/s": "MB/s", "million/s": "million messages/s", "MiB": "MiB"}
PLACES = {"usual": "", "tmpfs": "tmpfs", "tmpdir": "temporary directory"}


def size_label(size, _position=None):
    """4096 becomes 4 KiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def plain_label(value, _position=None):
    return f"{value:g}"


def bar_label(value):
    """Three digits without an exponent; nothing where nothing was measured."""
    if not value:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


class Session:
    """The cells of bench.json with the questions that pictures ask."""

    def __init__(self, directory):
        self.directory = directory
        self.content = json.loads((directory / "bench.json").read_text())
        self.cells = self.content["cells"]

    def select(self, **fields):
        return [cell for cell in self.cells if all(cell[name] == value for name, value in fields.items())]

    def series(self, against, **fields):
        """Points (x, value, least, most) in the order of x."""
        cells = sorted(self.select(**fields), key=lambda cell: cell[against])
        return [(cell[against], cell["value"], min(cell["samples"]), max(cell["samples"])) for cell in cells]

    def value(self, **fields):
        cells = self.select(**fields)
        return cells[0]["value"] if cells else None

    def save(self, figure, name, top=1):
        machine = self.content["machine"]
        footer = f"{self.content['date']}, {self.content['commit']}, {machine['cores']} cores of {machine['cpu']}"
        figure.text(0.01, 0.005, footer, fontsize=6, color="#888888")
        figure.tight_layout(rect=(0, 0.02, 1, top))
        figure.savefig(self.directory / f"{name}.png", dpi=130)
        plt.close(figure)


def draw(axes, points, label, colour, marker=None):
    """One line with the range of its samples; dashed when it has no marker, which is how floors are drawn."""
    if not points:
        return False
    x, values, least, most = zip(*points)
    style = {"linestyle": "--", "linewidth": 1.2} if marker is None else {"marker": marker, "markersize": 4.5}
    axes.plot(x, values, color=colour, label=label, **style)
    axes.fill_between(x, least, most, color=colour, alpha=0.12, linewidth=0)
    return True


def draw_engines(session, axes, against, **fields):
    drawn = [
        draw(axes, session.series(against, engine=engine, **fields), label, colour, marker)
        for engine, (label, colour, marker) in ENGINES.items()
    ]
    return any(drawn)


def finish(axes, title, unit, sizes=True):
    axes.set_title(title, fontsize=11)
    axes.set_ylabel(UNITS[unit])
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(plain_label))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="major", alpha=0.35)
    axes.grid(True, which="minor", axis="y", alpha=0.12)
    if sizes:
        axes.set_xlabel("message size")
        axes.xaxis.set_major_formatter(FuncFormatter(size_label))
    else:
        axes.set_xlabel("ranks")
    axes.legend(fontsize=8)


def against_size(session, name, title, floors=()):
    """A quantity at two ranks against the message size. A size of zero stands one step left of 1 B."""
    figure, axes = plt.subplots(figsize=(8, 5))
    drawn = draw_engines(session, axes, "bytes", figure=name, ranks=2, place="usual")
    if not drawn:
        plt.close(figure)
        return
    unit = session.select(figure=name, ranks=2, place="usual")[0]["unit"]
    sizes = [cell["bytes"] for cell in session.select(figure=name, ranks=2, place="usual")]
    smallest, largest = min(sizes), max(sizes)
    for floor in floors:
        points = [point for point in session.series("bytes", figure=floor) if point[0] <= largest]
        if unit == "MB/s":
            points = [(x, *(x / time for time in (value, most, least))) for x, value, least, most in points]
        label, colour = FLOORS[floor]
        if len(points) == 1:
            points = [(1, *points[0][1:]), (64, *points[0][1:])]
        draw(axes, points, label, colour)
    if smallest == 0:
        axes.set_xscale("symlog", base=2, linthresh=1, linscale=0.6)
        ticks = [0] + [1 << power for power in range(2, 29, 4)]
    else:
        axes.set_xscale("log", base=2)
        ticks = [1 << power for power in (range(3, 29, 3) if smallest < 1024 else range(10, 29, 2))]
    axes.set_xticks([tick for tick in ticks if smallest <= tick <= largest])
    axes.xaxis.set_minor_formatter(NullFormatter())
    finish(axes, title, unit)
    session.save(figure, name)


def against_ranks(session):
    """Small messages and collectives against the number of ranks: what waiting costs when ranks outnumber cores."""
    names = ["latency", "barrier", "bcast", "allreduce", "alltoall"]
    names = [name for name in names if len({c["ranks"] for c in session.select(figure=name, place="usual")}) > 1]
    if not names:
        return
    figure, all_axes = plt.subplots(2, 3, figsize=(13, 8))
    for axes, name in zip(all_axes.flat, names):
        draw_engines(session, axes, "ranks", figure=name, bytes=0 if name == "barrier" else 8, place="usual")
        if name in ("latency", "allreduce"):
            draw(axes, session.series("ranks", figure="floor-futex"), *FLOORS["floor-futex"])
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted({cell["ranks"] for cell in session.select(figure=name)}))
        axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
        title = {"barrier": "barrier", "latency": "message of 8 B, pairs at the same time"}.get(name, f"{name}, 8 B")
        finish(axes, title, "us", sizes=False)
    for axes in list(all_axes.flat)[len(names):]:
        axes.axis("off")
    session.save(figure, "ranks")


def overview(session, name, title, operations):
    """A field for each operation, number of ranks and size: Postrider's time by that of the better of the others."""
    times = {(c["figure"], c["engine"], c["ranks"], c["bytes"]): c["value"] for c in session.select(place="usual")}
    keys = {which: [key[2:] for key in times if key[:2] == (which, "postrider")] for which in operations}
    rows = [which for which in operations if keys[which]]
    columns = sorted(max(keys.values(), key=len))

    def ratio(which, ranks, size):
        if (ranks, size) not in keys[which] and size == 8:
            # An operation without sizes has its time in the first column.
            size = next((other for count, other in keys[which] if count == ranks), size)
        others = [times.get((which, engine, ranks, size)) for engine in ("mpich", "openmpi")]
        ours, others = times.get((which, "postrider", ranks, size)), [time for time in others if time]
        return ours / min(others) if ours and others else math.nan

    values = [[ratio(which, *column) for column in columns] for which in rows]
    if all(math.isnan(value) for row in values for value in row):
        return
    figure, axes = plt.subplots(figsize=(2.6 + 0.62 * len(columns), 1.6 + 0.31 * len(rows)))
    shades = [[math.log2(value) if value > 0 else math.nan for value in row] for row in values]
    axes.imshow(shades, cmap="RdYlGn_r", vmin=-3, vmax=3, aspect="auto")
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            axes.text(x, y, "" if math.isnan(value) else f"{value:.2g}", ha="center", va="center", fontsize=7)
    axes.set_xticks(range(len(columns)), [f"{ranks}\n{size_label(size)}" for ranks, size in columns], fontsize=7)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xlabel("ranks and size")
    axes.set_title(title + ": time by that of the better of MPICH and Open MPI", fontsize=10)
    session.save(figure, name)


SUMMARY = [
    ("message of 1 B", "latency", 1), ("message of 1 KiB", "latency", 1 << 10), ("message of 1 MiB", "latency", 1 << 20),
    ("barrier", "barrier", 0), ("bcast of 8 B", "bcast", 8), ("allreduce of 8 B", "allreduce", 8),
    ("allreduce of 16 KiB", "allreduce", 16 << 10), ("alltoall of 8 B", "alltoall", 8), ("put of 8 B", "put", 8),
]  # fmt: skip


def summary(session):
    """A few operations at a glance: a line for each, and on it the time of each engine, with and without a core for each rank."""
    cores = session.content["machine"]["cores"]
    figure, all_axes = plt.subplots(1, 2, figsize=(11, 4.6))
    drawn = False
    for axes, ranks in zip(all_axes, (2, 8)):
        rows = [row for row in SUMMARY if session.value(figure=row[1], ranks=ranks, bytes=row[2], place="usual", engine="postrider")]
        for engine in ("mpich", "openmpi", "postrider"):
            label, colour, marker = ENGINES[engine]
            times = [session.value(figure=name, ranks=ranks, bytes=size, place="usual", engine=engine) for _, name, size in rows]
            points = [(time, row) for row, time in enumerate(times) if time]
            if points:
                axes.scatter(*zip(*points), color=colour, marker=marker, s=44, label=label.split(",")[0], zorder=3)
                drawn = True
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(plain_label))
        axes.set_yticks(range(len(rows)), [head for head, *_ in rows], fontsize=9)
        axes.invert_yaxis()
        axes.grid(True, which="major", alpha=0.35)
        axes.set_xlabel(UNITS["us"] + ", less is better")
        axes.set_title(f"{ranks} ranks on {cores} cores", fontsize=11)
    if drawn:
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, fontsize=9, ncols=3, loc="upper center", frameon=False)
        session.save(figure, "summary", top=0.94)
    else:
        plt.close(figure)


def bars(session, name, title, quantity, unit, ranks):
    """A bar for each engine, in groups by the number of ranks."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    engines = [engine for engine in ENGINES if session.select(figure=quantity, engine=engine)]
    if not engines:
        plt.close(figure)
        return
    width = 0.8 / len(engines)
    for position, engine in enumerate(engines):
        label, colour, _marker = ENGINES[engine]
        values = [session.value(figure=quantity, engine=engine, ranks=count) or 0 for count in ranks]
        x = [group + (position - (len(engines) - 1) / 2) * width for group in range(len(ranks))]
        drawn = axes.bar(x, values, width * 0.94, color=colour, label=label)
        axes.bar_label(drawn, labels=[bar_label(value) for value in values], fontsize=7)
    axes.set_xticks(range(len(ranks)), [f"{count} ranks" for count in ranks])
    axes.set_ylabel(UNITS[unit])
    axes.set_title(title, fontsize=11)
    axes.grid(True, axis="y", alpha=0.35)
    axes.margins(y=0.12)
    axes.legend(fontsize=8, ncols=len(engines), loc="upper center", bbox_to_anchor=(0.5, -0.07), frameon=False)
    session.save(figure, name)


def horizontal(session, name, title, panels, scale="linear"):
    """Panels of horizontal bars: (title, [(label, value or None, colour, is a floor)])."""
    panels = [(head, [bar for bar in rows if bar[1] is not None]) for head, rows in panels]
    panels = [(head, rows) for head, rows in panels if any(not is_floor for *_, is_floor in rows)]
    if not panels:
        return
    figure, all_axes = plt.subplots(len(panels), 1, figsize=(8, 0.9 + 1.9 * len(panels)), squeeze=False)
    for axes, (head, rows) in zip(all_axes.flat, panels):
        labels, values, colours, floors = zip(*rows)
        drawn = axes.barh(labels, values, color=colours)
        for bar, is_floor in zip(drawn, floors):
            if is_floor:
                bar.set(facecolor="none", edgecolor="#555555", linestyle="--", linewidth=1.2)
        axes.bar_label(drawn, labels=[bar_label(value) for value in values], fontsize=7, padding=3)
        axes.set_title(head, fontsize=9)
        axes.invert_yaxis()
        axes.set_xscale(scale)
        axes.margins(x=0.12)
        axes.grid(True, axis="x", alpha=0.35)
    figure.suptitle(title, fontsize=11)
    session.save(figure, name)


def files(session):
    """The file transport beside its system calls and cp."""
    panels = []
    for size, head in ((16, "16 B, one-way time [µs]"), (100 << 20, "100 MiB, GB/s")):
        rows = []
        for place in ("tmpfs", "tmpdir"):
            ours = session.value(figure="latency", engine="postrider-file", place=place, bytes=size)
            floor = session.value(figure="floor-file", place=place, bytes=size)
            copy = session.value(figure="floor-cp", place=place)
            speed = (lambda time: time) if size == 16 else (lambda time: time and 1e-3 * size / time)
            rows.append((f"Postrider, {PLACES[place]}", speed(ours), ENGINES["postrider-file"][1], False))
            rows.append((f"system calls, {PLACES[place]}", speed(floor), "none", True))
            if size > 16:
                rows.append((f"cp, {PLACES[place]}", copy and 1e-3 * copy, "none", True))
        panels.append((head, rows))
    horizontal(session, "file", "The file transport beside its floors", panels)


def octave(session):
    """Octave, end to end, on both transports."""
    panels = []
    for size, head in ((16, "16 B, one-way time [µs]"), (100 << 20, "100 MiB, GB/s")):
        rows = []
        for place in ("usual", "tmpfs", "tmpdir"):
            time = session.value(figure="octave", place=place, bytes=size)
            label = "shared memory" if place == "usual" else f"files, {PLACES[place]}"
            colour = ENGINES["postrider" if place == "usual" else "postrider-file"][1]
            rows.append((label, time if size == 16 or time is None else 1e-3 * size / time, colour, False))
        panels.append((head, rows))
    horizontal(session, "octave", "Messages between two Octave processes", panels)


def main():
    session = Session(Path(sys.argv[1]))
    summary(session)
    against_size(session, "latency", "One-way time between 2 ranks", ("floor-ring", "floor-readv"))
    against_size(session, "bandwidth", "Bandwidth between 2 ranks", ("floor-readv", "floor-memcpy"))
    against_size(session, "bidirectional", "Bandwidth in both directions between 2 ranks")
    for name in ("bcast", "allreduce", "alltoall"):
        against_size(session, name, f"{name} on 2 ranks")
    against_ranks(session)
    overview(session, "collectives", "Collective operations", COLLECTIVES)
    overview(session, "one-sided", "Operations on windows", ONE_SIDED)
    bars(session, "message-rate", "Messages of 8 B between 2 ranks, 64 in a window", "message-rate", "million/s", [2])
    for name, title, quantity, unit in (
        ("startup", "Start to end of a program that does nothing", "startup", "ms"),
        ("memory", "Memory of a rank (Pss) when all have exchanged messages", "memory-connected-pss", "MiB"),
    ):
        bars(session, name, title, quantity, unit, sorted({cell["ranks"] for cell in session.select(figure=quantity)}))
    files(session)
    octave(session)


if __name__ == "__main__":
    main()
