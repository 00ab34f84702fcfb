"""Control-C in a session that waits: python3 control_c.py OCTAVE...  The waits end with the error mpi:interrupt, and the session goes on."""

import os
import pty
import re
import select
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
        self.seen = self.seen[re.search(pattern, self.seen).end():]

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
