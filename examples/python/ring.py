"""ring.py: a number goes once around all processes, and each adds its rank.

    postrider run -n 4 python examples/python/ring.py
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
TAG = 1
following = (rank + 1) % ranks
previous = (rank - 1) % ranks

if rank == 0:
    # Nonblocking, since a ring of one process sends to itself.
    request = comm.isend(0, dest=following, tag=TAG)
    total = comm.recv(source=previous, tag=TAG)
    request.wait()
    print(f"The sum of the ranks 0 to {ranks - 1} is {total}")
else:
    total = comm.recv(source=previous, tag=TAG)
    comm.send(total + rank, dest=following, tag=TAG)
