"""Blocking exchanges of a Python program, whose MPI library is loaded without its names being seen by others, and whose errors are returned."""

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
left, right = (world.rank - 1) % world.size, (world.rank + 1) % world.size
field = numpy.zeros((300, 300))
for step in range(40):
    field[1, :] = world.rank * 1000 + step
    field[-2, :] = world.rank * 1000 + step + 0.5
    status = MPI.Status()
    world.Sendrecv(field[1], left, 1, field[-1], right, 1, status)
    world.Sendrecv(field[-2], right, 2, field[0], left, 2)
    assert (field[-1] == right * 1000 + step).all()
    assert (field[0] == left * 1000 + step + 0.5).all()
    assert (status.source, status.tag, status.Get_count(MPI.DOUBLE)) == (right, 1, 300)
