"""The programs of bench/octave in Python, by mpi4py: python front.py PROGRAM values|arrays BUDGET_MS SIZES.

PROGRAM is latency, bcast, sender_computes, mandelbrot, strings or start; what each of them does is said at the head of the .m file of
that name. Values go by the lowercase methods, which encode them; arrays by the uppercase ones, which do not.
"""

import json
import statistics
import sys
import time

import mpi4py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


class Values:
    """Messages of any kind of value."""

    @staticmethod
    def send(value, dest, tag):
        comm.send(value, dest, tag)

    @staticmethod
    def receive(_alike, source, tag):
        return comm.recv(source=source, tag=tag)

    @staticmethod
    def round_trips(value, count, partner):
        for _ in range(count):
            comm.send(value, partner, 1)
            value = comm.recv(source=partner, tag=1)
        return value

    @staticmethod
    def answers(_alike, count, partner):
        for _ in range(count):
            comm.send(comm.recv(source=partner, tag=1), partner, 1)

    @staticmethod
    def broadcasts(value, count):
        for i in range(count):
            value = comm.bcast(value, i % ranks)
        return value

    @staticmethod
    def start_send(value, dest, tag):
        return comm.isend(value, dest, tag)


class Arrays:
    """Messages that are the memory of an array."""

    @staticmethod
    def send(value, dest, tag):
        comm.Send(value, dest, tag)

    @staticmethod
    def receive(alike, source, tag):
        value = np.empty_like(alike)
        comm.Recv(value, source, tag)
        return value

    @staticmethod
    def round_trips(value, count, partner):
        back = value.copy()
        for _ in range(count):
            comm.Send(back, partner, 1)
            comm.Recv(back, partner, 1)
        return back

    @staticmethod
    def answers(alike, count, partner):
        for _ in range(count):
            comm.Recv(alike, partner, 1)
            comm.Send(alike, partner, 1)

    @staticmethod
    def broadcasts(value, count):
        back = value.copy()
        for i in range(count):
            comm.Bcast(back, i % ranks)
        return back

    @staticmethod
    def start_send(value, dest, tag):
        return comm.Isend(value, dest, tag)


def measure(budget_s, batch):
    """Seconds of one iteration, from three to fifteen batches, as bench/octave/harness/measure.m finds them."""
    iterations, batches = 1, []
    while not batches:
        batches = [batch(iterations)]
        if batches[0] < budget_s:
            batches.append(batch(iterations))
        if min(batches) < 0.1 * budget_s:
            iterations, batches = 2 * iterations, []
    while len(batches) < 3 or (len(batches) < 15 and sum(batches) < budget_s):
        batches.append(batch(iterations))
    return [seconds / iterations for seconds in batches]


def record(figure, count, size, times, scale, unit):
    times = [scale * seconds for seconds in times]
    line = {"figure": figure, "ranks": count, "bytes": size, "unit": unit}
    line.update(value=statistics.median(times), best=min(times), worst=max(times))
    print(json.dumps(line), flush=True)


def announced(others, measured, follow):
    """Rank 0 measures and announces how many iterations come next; the others follow until it announces none."""
    if rank == 0:
        times = measured(lambda count: [comm.send(count, other, 0) for other in others])
        for other in others:
            comm.send(0, other, 0)
        return times
    while (count := comm.recv(source=0, tag=0)) > 0:
        follow(count)
    return None


def ping_pong(front, value, alike, budget_s):
    def batch(announce, iterations):
        announce(iterations)
        start = time.perf_counter()
        front.round_trips(value, iterations, 1)
        return time.perf_counter() - start

    return announced(
        [1],
        lambda announce: measure(budget_s, lambda iterations: batch(announce, iterations)),
        lambda count: front.answers(alike, count, 0),
    )


def latency(front, budget_s, sizes):
    for size in sizes:
        times = ping_pong(front, np.random.rand(size // 8), np.zeros(size // 8), budget_s)
        if rank == 0:
            record("latency", 2, size, times, 0.5e6, "us")


def strings(front, budget_s, sizes):
    value = [f"string {i}" for i in range(1, sizes[0] + 1)]
    times = ping_pong(front, value, value, budget_s)
    if rank == 0:
        record("strings", 2, sum(map(len, value)), times, 0.5e3, "ms")


def bcast(front, budget_s, sizes):
    for size in sizes:
        value = np.arange(1.0, size // 8 + 1)

        def batch(announce, iterations, value=value):
            announce(iterations)
            comm.Barrier()
            start = time.perf_counter()
            front.broadcasts(value, iterations)
            seconds = time.perf_counter() - start
            comm.Barrier()
            return seconds

        def follow(count, value=value):
            comm.Barrier()
            front.broadcasts(value, count)
            comm.Barrier()

        times = announced(
            range(1, ranks),
            lambda announce: measure(budget_s, lambda iterations: batch(announce, iterations)),  # noqa: B023
            follow,
        )
        if rank == 0:
            record("bcast", ranks, size, times, 1e6, "us")


def sender_computes(front, budget_s, sizes):
    for size in sizes:
        value = np.arange(1.0, size // 8 + 1)
        times = []
        for _ in range(5):
            comm.Barrier()
            if rank == 0:
                start = time.perf_counter()
                request = front.start_send(value, 1, 1)
                end, x = time.perf_counter() + budget_s, 0.5
                while time.perf_counter() < end:
                    x = 3.7 * x * (1 - x)
                request.wait()
                times.append(comm.recv(source=1, tag=2) - start)
            else:
                front.receive(value, 0, 1)
                comm.send(time.perf_counter(), 0, 2)
        if rank == 0:
            record("sender-computes", 2, size, times, 1e6, "us")


def columns(width, first, last, steps=50):
    """Rows of the result are columns of the matrix, which lie one after the other in memory."""
    counts = np.zeros((last - first, width))
    y, x = np.linspace(-1.2, 1.2, width), np.linspace(-2, 0.5, width)
    with np.errstate(all="ignore"):
        for column in range(first, last):
            c = x[column] + 1j * y
            z = c.copy()
            for _ in range(steps):
                z = z * z + c
                counts[column - first] += np.abs(z) <= 2
    return counts


def mandelbrot(front, _budget_s, sizes):
    width = sizes[0]
    bounds = [part * width // ranks for part in range(ranks + 1)]
    times = []
    for _ in range(3):
        comm.Barrier()
        start = time.perf_counter()
        mine = columns(width, bounds[rank], bounds[rank + 1])
        if rank == 0:
            alike = [np.empty((bounds[other + 1] - bounds[other], width)) for other in range(1, ranks)]
            blocks = [mine] + [front.receive(block, other + 1, 1) for other, block in enumerate(alike)]
            np.concatenate(blocks)
        else:
            front.send(mine, 0, 1)
        times.append(time.perf_counter() - start)
    if rank == 0:
        record("mandelbrot", ranks, 8 * width * width, times, 1e3, "ms")


def start(_front, _budget_s, _sizes):
    if rank == 0:
        print(json.dumps({"library": f"mpi4py {mpi4py.__version__}", "ranks": ranks}), flush=True)


def coverage(_front, _budget_s, _sizes):
    """How many functions and methods the package MPI has."""
    classes = [value for value in vars(MPI).values() if isinstance(value, type) and not issubclass(value, Exception)]
    methods = {(kind.__name__, name) for kind in set(classes) for name in vars(kind) if name[0] != "_" and callable(getattr(kind, name))}
    functions = [name for name, value in vars(MPI).items() if name[0] != "_" and callable(value) and not isinstance(value, type)]
    line = {"figure": "coverage", "ranks": 0, "bytes": 0, "value": len(methods) + len(functions), "unit": "functions"}
    print(json.dumps(line), flush=True)


def main():
    program, family, budget_ms, sizes = sys.argv[1:]
    front = {"values": Values, "arrays": Arrays}[family]
    programs = {"latency": latency, "bcast": bcast, "sender_computes": sender_computes, "mandelbrot": mandelbrot}
    programs.update(strings=strings, start=start, coverage=coverage)
    programs[program](front, 1e-3 * float(budget_ms), [int(size) for size in sizes.split(",")])


if __name__ == "__main__":
    main()
