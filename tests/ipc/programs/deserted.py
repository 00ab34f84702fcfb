"""Waits for a semaphore that lives on the other host, h1 or h2, until that is gone, and says what is left."""

import ctypes
import errno
import os
import socket
import time

HOST = int(socket.gethostname()[1:])
NEW, ADD, TAKE = 0o1600, 1, -1
GETVAL = 12

library = ctypes.CDLL(None, use_errno=True)


def says(what, result):
    """Says what a call has returned, or its error."""
    print(what, errno.errorcode[ctypes.get_errno()] if result == -1 else "done", flush=True)


def operate(semaphores, change):
    """One operation on the first semaphore of a set."""
    return library.semop(semaphores, (ctypes.c_short * 3)(0, change, 0), 1)


own = library.semget(HOST, 1, NEW)
while (other := library.semget(3 - HOST, 1, 0)) == -1:
    time.sleep(0.01)
with open(f"/shared/waits{HOST}", "w", encoding="ascii"):
    pass
while not os.path.exists(f"/shared/waits{3 - HOST}"):
    time.sleep(0.01)
says("elsewhere", operate(other, TAKE))
says("elsewhere later", library.semctl(other, 0, GETVAL))
says("here", operate(own, ADD))
says("new", library.semget(10, 1, NEW))
