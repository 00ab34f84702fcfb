"""The Python half of a job of two programs; octave/tests/with_python.m is the other.

It is run by octave/tests/run, not by pytest: rank 0 is Octave and rank 1 is this.
"""

import numpy as np
from mpi4py import MPI

from postrider import exchange
from postrider.values import Object

comm = MPI.COMM_WORLD
assert comm.Get_rank() == 1
(everything,) = exchange.recv(comm, 0, 1)
exchange.send(comm, 0, 2, everything)
exchange.send(
    comm,
    0,
    3,
    "grüße",
    [1, 2.5, "x"],
    {"a": 1, "b": {"c": None}},
    np.array([[1.0, 2, 3], [4, 5, 6]]),
    True,
    np.arange(90000.0).reshape(300, 300),
)
comm.Send([b"these are no values", MPI.BYTE], 0, 4)
matrix, text = exchange.bcast(comm, 0, 5)
assert text == "all" and matrix.shape == (3, 3) and not matrix.any()
exchange.send(comm, 0, 6, "done", np.ones(10**6))
assert exchange.recv(comm, 0, "tag-59000") == ("second",)
word, matrix = exchange.recv(comm, 0, "tag-18164")
assert word == "first" and matrix.shape == (200, 200)
assert exchange.recv(comm, 0, "-5") == ("third",)
exchange.send(comm, 0, "tag-18164", "a", np.ones((300, 300)))
exchange.send(comm, 0, "tag-59000", "b")
exchange.send(comm, 0, "12", "c", np.ones(10**6))
(objects,) = exchange.recv(comm, 0, 13)
assert objects[0] == Object("function_handle", {"text": "sin"})
assert objects[1].class_name == "containers.Map" and objects[1].contents["keys"] == ["a", "b"]
# The program ends before this has left.
exchange.send(comm, 0, 14, objects, np.ones(10**6))
