"""Communicators of mpi4py in Fortran, and those of Fortran in mpi4py: `with_python.py LIBRARY`."""

import ctypes
import sys

from mpi4py import MPI

library = ctypes.CDLL(sys.argv[1])
world = MPI.COMM_WORLD
total, number = ctypes.c_int(), ctypes.c_int()
library.total(world.py2f(), world.rank + 1, ctypes.byref(total), ctypes.byref(number))
assert total.value == world.size * (world.size + 1) // 2

made = MPI.Comm.f2py(number.value)
assert made.Get_name() == "made in Fortran"
assert MPI.Comm.Compare(made, world) == MPI.CONGRUENT
assert made.allreduce(made.rank) == world.size * (world.size - 1) // 2
assert made.py2f() == number.value
made.Free()

datatype = MPI.DOUBLE.Create_contiguous(3)
library.size_of(datatype.py2f(), ctypes.byref(total))
assert total.value == 24 and MPI.Datatype.f2py(datatype.py2f()) == datatype
datatype.Free()
