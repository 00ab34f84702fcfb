"""Control-C in a session that waits: python3 control_c.py OCTAVE...

The waits end with the error mpi:interrupt, and the session goes on.  Collectives wait for another process, which takes no part in them until it ends.
"""

import os
import pty
import re
import select
import subprocess
import sys
import time

WAITS = [
    "c.Recv(0, 0, 3)",
    "c.probe(0, 3)",
    "c.mprobe(0, 3)",
    "r = c.Irecv(0, 0, 3); r.wait()",
    "mpi.waitall(c.Irecv(0, 0, 4))",
    "mpi.waitany(c.Irecv(0, 0, 5))",
]
# Each by a communicator of its own, since a collective that was broken off is still under way there.
COLLECTIVES = [
    "d.barrier()",
    "d.Allreduce(1:3, '+')",
    "d.Allgather(ones(1, 1e5))",
    "d.Bcast(0, 1)",
    "d.Gather(1, 0)",
    "d.Ssend(1:3, 1)",
    "d.allreduce(1, '+')",
    "d.allgather('x')",
    "d.bcast([], 1)",
    "d.gather({1}, 0)",
    "d.scatter({}, 1)",
    "d.alltoall({1, 2})",
]
OTHER = "c = mpi.world; i = c.connect('%s'); m = i.merge(true); for i = 1:%d, d{i} = m.dup(); end, m.recv(0, 1);"


class Session:
    def __init__(self, command):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp(command[0], command)
        self.seen = ""

    def expect(self, pattern):
        end = time.monotonic() + 60
        while not re.search(pattern, self.seen):
            if time.monotonic() > end or not select.select([self.terminal], [], [], 60)[0]:
                sys.exit(f"{pattern!r} did not come: {self.seen!r}")
            self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        found = re.search(pattern, self.seen)
        self.seen = self.seen[found.end():]
        return found

    def write(self, text):
        os.write(self.terminal, text.encode())


def main():
    os.environ["TERM"] = "dumb"
    session = Session([*sys.argv[1:], "--interactive"])
    session.write("PS1('ready> '); c = mpi.world;\n")
    session.expect("ready> ")
    for wait in WAITS:
        # What waits is between two lines that are written in any case.
        session.write(f"disp(['wait', 'ing']), {wait}\n")
        session.expect("waiting")
        time.sleep(0.3)
        session.write("\x03")
        session.expect("interrupted while waiting")
        session.write("\n")
        session.expect("ready> ")
    session.write("port = mpi.openPort(); fprintf('port=<%s>\\n', port)\n")
    port = session.expect("port=<([^%>]*)>").group(1)
    session.expect("ready> ")
    # Control-C at the terminal is not for it.
    other = subprocess.Popen([*sys.argv[1:], "--eval", OTHER % (port, len(COLLECTIVES))], start_new_session=True)
    session.write("i = c.accept(port); m = i.merge(false); disp(['mer', 'ged'])\n")
    session.expect("merged")
    session.expect("ready> ")
    session.write(f"for i = 1:{len(COLLECTIVES)}, all{{i}} = m.dup(); end\n")
    session.expect("ready> ")
    for number, wait in enumerate(COLLECTIVES, 1):
        session.write(f"d = all{{{number}}}; disp(['wait', 'ing']), {wait}\n")
        session.expect("waiting")
        time.sleep(0.3)
        session.write("\x03")
        session.expect("interrupted while waiting")
        session.write("\n")
        session.expect("ready> ")
    session.write("m.send(0, 1, 1); disp(['let ', 'go'])\n")
    session.expect("let go")
    session.expect("ready> ")
    if other.wait() != 0:
        sys.exit(f"the other process ended with {other.returncode}")
    # It is an error like others.
    session.write("try, disp(['wait', 'ing']), c.Recv(0, 0, 3); catch e, disp(e.identifier), end\n")
    session.expect("waiting")
    time.sleep(0.3)
    session.write("\x03")
    session.expect("mpi:interrupt")
    session.write("\n")
    session.expect("ready> ")
    # The session goes on, and so does MPI.
    session.write("c.send(41, 0); x = c.recv() + 1; fprintf('value %d\\n', x); exit(7)\n")
    session.expect("value 42")
    code = os.waitstatus_to_exitcode(os.waitpid(session.pid, 0)[1])
    if code != 7:
        sys.exit(f"the session ended with {code}")


main()
