"""Sends damaged messages to octave/tests/damaged.m; run by octave/tests/run, not by pytest.

The number and the tag of the payloads in the header stay what they are: Octave would rightly wait
for payloads that another message announces.
"""

import random

import numpy as np
import scipy.sparse
from mpi4py import MPI

from postrider import exchange, values

comm = MPI.COMM_WORLD
assert comm.Get_rank() == 1
named = np.empty((0, 2), [("a", object), ("b", object)])
SAMPLES = [
    (1.5, [True, "text", {"a": 2j, "list": ["in", 3.0]}]),
    (np.array([[True, False]]), scipy.sparse.csc_matrix(np.eye(4) * 1j)),
    (scipy.sparse.csc_matrix(np.eye(4)), scipy.sparse.csc_matrix(np.eye(4, dtype=bool))),
    (np.zeros((2, 0, 3), complex), np.array([{"k": 1}, {"k": named}])),
    (["s%d" % k for k in range(20)] + [""], np.array([["a", "b"], ["c", "d"]], "S1")),
    (np.arange(30, dtype=np.complex64), np.arange(40.0).reshape(2, 4, 5) > 3),
    (np.arange(9, dtype=np.int8), "gr\u00fc\u00dfe" * 10),
]
COUNT = 1400
payload_tag = comm.Get_attr(MPI.TAG_UB) // 2
chance = random.Random(1)
exchange.send(comm, 0, 0, COUNT)
for tag in range(1, COUNT + 1):
    # Every second message has its larger arrays beside it.
    writer = values.Writer(40 if tag % 2 else None)
    message = bytearray(writer.message(SAMPLES[tag % len(SAMPLES)], payload_tag + tag))
    for _ in range(chance.randint(1, 3)):
        place = chance.choice([*range(16), *range(24, len(message)), *range(24, 64)])
        message[place % len(message)] = chance.choice([0, 1, 2, 4, 255, chance.randrange(256)])
    comm.Send([message, MPI.BYTE], 0, tag)
    for data in writer.payloads:
        comm.Send([data, MPI.BYTE], 0, payload_tag + tag)
matrix, text = exchange.recv(comm, 0, 1)
exchange.send(comm, 0, COUNT + 1, matrix, text)
