# A vector goes once round all ranks, each of which adds 1.
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
x = np.zeros(3)
if comm.rank > 0:
    comm.Recv(x, comm.rank - 1)
x += 1
if comm.rank < comm.size - 1:
    comm.Send(x, comm.rank + 1)
else:
    print(x)
