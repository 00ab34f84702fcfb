"""hello.py: every process says which one it is.

    postrider run -n 4 python examples/python/hello.py
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
print(f"Hello from rank {comm.Get_rank()} of {comm.Get_size()}")
