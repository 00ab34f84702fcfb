"""mandelbrot.py: the Mandelbrot set, columns farmed out in blocks.

    postrider run -n 4 python examples/python/mandelbrot.py [options]
      --size N         points on a side (4800)
      --iterations N   iteration limit (64, at most 255)
      --output FILE    rank 0 writes the counts there: N*N bytes, column by column

The benchmark of section 4.5 of "MPI over Scripting Languages: Usability and
Performance Tradeoffs".  The region is [-2, 0.5] x [-1.25, 1.25].  A count is the
number of iterations before |z| exceeds 2, or the limit.  Rank r computes the
blocks r, r+ranks, ... and sends each to rank 0 as soon as it is done, so that
nobody waits before the end.  The C and Octave versions use the same operations in
the same order and give the same counts bit by bit.
"""

import argparse
import json
import sys

import numpy as np
from mpi4py import MPI

# What is sent at a time.  It is computed a few columns at a time, so that the work
# arrays stay in the cache.
BLOCK_COLUMNS = 48
CHUNK_POINTS = 16384


def chunk_counts(columns, points, limit):
    """Counts of some columns, one row of the result for each.

    Points that have escaped are dropped from the work arrays, but only when a
    quarter of them has: compacting costs a pass too.
    """
    step = 2.5 / points
    cr = np.repeat(-2.0 + (columns + 0.5) * step, points)
    ci = np.tile(-1.25 + (np.arange(points) + 0.5) * step, len(columns))
    counts = np.zeros(cr.size, np.uint8)
    alive = np.arange(cr.size)
    zr = np.zeros_like(cr)
    zi = np.zeros_like(cr)
    n = np.zeros(cr.size, np.uint8)
    for _ in range(limit):
        zr2 = zr * zr
        zi2 = zi * zi
        inside = zr2 + zi2 <= 4
        n += inside
        left = np.count_nonzero(inside)
        if left == 0:
            break
        if left < 0.75 * inside.size:
            gone = ~inside
            counts[alive[gone]] = n[gone]
            alive, n = alive[inside], n[inside]
            zr, zi, zr2, zi2 = zr[inside], zi[inside], zr2[inside], zi2[inside]
            cr, ci = cr[inside], ci[inside]
        zi *= zr
        zi *= 2
        zi += ci
        np.subtract(zr2, zi2, out=zr)
        zr += cr
    counts[alive] = n
    return counts.reshape(len(columns), points)


def block_counts(first, last, points, limit):
    """Counts of the columns first ... last-1."""
    counts = np.empty((last - first, points), np.uint8)
    width = max(1, CHUNK_POINTS // points)
    for column in range(first, last, width):
        end = min(column + width, last)
        counts[column - first : end - first] = chunk_counts(np.arange(column, end), points, limit)
    return counts


def checksum(picture, points):
    """The sum of all counts, each weighted with its place modulo 65521, plus one."""
    total = 0
    for column in range(points):
        weights = (column * points + np.arange(points)) % 65521 + 1
        total += int(weights @ picture[column].astype(np.int64))
    return total


def arguments():
    parser = argparse.ArgumentParser(description="The Mandelbrot set on several processes.")
    parser.add_argument("--size", type=int, default=4800)
    parser.add_argument("--iterations", type=int, default=64)
    parser.add_argument("--output")
    options = parser.parse_args()
    if options.size < 1 or not 1 <= options.iterations <= 255:
        parser.error("--size must be a positive integer, --iterations one from 1 to 255")
    return options


def main():
    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    options = arguments()
    points, limit = options.size, options.iterations
    blocks = -(-points // BLOCK_COLUMNS)
    shows_progress = rank == 0 and sys.stderr.isatty()
    np.seterr(over="ignore", invalid="ignore")
    started = MPI.Wtime()
    picture = np.empty((points, points), np.uint8) if rank == 0 else None
    requests = []

    def columns_of(block):
        return block * BLOCK_COLUMNS, min((block + 1) * BLOCK_COLUMNS, points)

    for block in range(rank, blocks, ranks):
        first, last = columns_of(block)
        counts = block_counts(first, last, points, limit)
        if rank == 0:
            picture[first:last] = counts
            if shows_progress:
                print(f"\rmandelbrot: {round(100 * last / points):3d} %", end="", file=sys.stderr)
        else:
            requests.append((comm.Isend(counts, dest=0, tag=block), counts))
    for request, _ in requests:
        request.Wait()
    if rank != 0:
        return

    for block in range(blocks):
        if block % ranks != 0:
            first, last = columns_of(block)
            comm.Recv(picture[first:last], source=block % ranks, tag=block)
    seconds = MPI.Wtime() - started
    if shows_progress:
        print(file=sys.stderr)
    if options.output:
        picture.tofile(options.output)
    print(
        json.dumps(
            {
                "ranks": ranks,
                "seconds": round(seconds, 6),
                "checksum": checksum(picture, points),
                "size": points,
                "iterations": limit,
            }
        )
    )


main()
