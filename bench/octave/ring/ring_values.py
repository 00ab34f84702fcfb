# A vector goes once round all ranks, each of which adds 1.
from mpi4py import MPI

comm = MPI.COMM_WORLD
x = [0, 0, 0]
if comm.rank > 0:
    x = comm.recv(source=comm.rank - 1)
x = [element + 1 for element in x]
if comm.rank < comm.size - 1:
    comm.send(x, comm.rank + 1)
else:
    print(x)
