"""Waits for a semaphore that lives on the other host, h1 or h2, until that is gone, and says what is left of that and of memory."""

import ctypes
import errno
import os
import signal
import socket
import time

HOST = int(socket.gethostname()[1:])
NEW, ADD, TAKE = 0o1600, 1, -1
# In pages so far from each other none comes along with another.
PAGE = 20 * 4096
GETVAL = 12

library = ctypes.CDLL(None, use_errno=True)
library.shmat.restype = ctypes.c_void_p


def says(what, result):
    """Says what a call has returned, or its error."""
    print(what, errno.errorcode[ctypes.get_errno()] if result == -1 else "done", flush=True)


def operate(semaphores, change):
    """One operation on the first semaphore of a set."""
    return library.semop(semaphores, (ctypes.c_short * 3)(0, change, 0), 1)


def memory(key, flags):
    """The segment with a key, which has three such pages; nothing if there is none."""
    segment = library.shmget(key, 3 * PAGE, flags)
    return None if segment == -1 else (ctypes.c_ubyte * (3 * PAGE)).from_address(library.shmat(segment, None, 0))


def touched(letters, place):
    """What becomes of a process that reads there, and which host it names."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 2)
        os._exit(letters[place])
    os.close(write)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = os.read(read, 1000).decode()
    return signal.Signals(-code).name if code < 0 else code, f"host h{3 - HOST}," in said


mine = memory(HOST, NEW)
mine[0] = 7
while (theirs := memory(3 - HOST, 0)) is None or theirs[0] != 7:
    time.sleep(0.01)
# The only right copy of that page is here from now on.
theirs[PAGE] = 8
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
print("a copy", theirs[0], flush=True)
print("written", theirs[PAGE], flush=True)
print("not here", *touched(theirs, 2 * PAGE), flush=True)
print("only there", *touched(mine, PAGE), flush=True)
mine[0] = mine[0] + 1
print("mine", mine[0], mine[2 * PAGE], touched(mine, 0)[0], flush=True)
