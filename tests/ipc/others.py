"""Programs of others under `postrider ipc run`, undisturbed: PHP's modules, stress-ng's stressors, and PostgreSQL with System V shared memory.

Each function returns cases: a name, whether it passes, and what was said.
"""

import glob
import os
import pwd
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_MAX = 120


def php(run):
    """The example, whose processes share tasks, a semaphore and variables."""
    script = os.path.join(HERE, "../../examples/php/squares.php")
    for processes in ["1", "4"]:
        said = run("-n", processes, "php", script)
        yield f"php, {processes} processes", said == ("338350\n", 0), said


def stress(run):
    """Stressors that look at what they get. Each makes a given number of rounds."""
    for stressor, rounds in [("msg", 20000), ("sem-sysv", 20000), ("shm-sysv", 4)]:
        options = [f"--{stressor}", "2", f"--{stressor}-ops", str(rounds), "--verify"]
        said = run("stress-ng", "--no-rand-seed", "--timeout", str(SECONDS_MAX), *options)
        yield f"stress-ng {stressor}", said[1] == 0 and "fail" not in said[0], said


class Database:
    """PostgreSQL in a folder, whose memory is a segment of System V. It is never root, and the name space is its user's."""

    def __init__(self, installation, binaries):
        self.folder = f"/tmp/postrider-postgres-{os.getpid()}"
        self.data = os.path.join(self.folder, "data")
        self.binaries = binaries
        self.postrider = os.path.join(self.folder, "bin/postrider")
        self.name = f"postgres{os.getpid()}"
        self.is_root = os.getuid() == 0
        os.makedirs(self.folder)
        # Its user may not be allowed to look into ours.
        for part in ["bin/postrider", "lib/libpostrider_ipc.so", "lib/libmpi_abi.so.1"]:
            os.makedirs(os.path.dirname(os.path.join(self.folder, part)), exist_ok=True)
            shutil.copy(os.path.join(installation, part), os.path.join(self.folder, part))
        if self.is_root:
            user = pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)

    def does(self, *command):
        """Runs a command as the user of the database."""
        user = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if self.is_root else []
        ended = subprocess.run(
            [*user, *command], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=SECONDS_MAX, check=False, env={**os.environ, "HOME": self.folder},
        )
        return ended.stdout, ended.returncode

    def joined(self, program, *arguments):
        """The same with a program of the database in the name space."""
        return self.does(self.postrider, "ipc", "join", self.name, os.path.join(self.binaries, program), *arguments)

    def control(self, *command):
        """Starts or stops it; returns once that is done."""
        log = os.path.join(self.folder, "log")
        return self.joined("pg_ctl", "-D", self.data, "-l", log, "-s", "-w", *command)

    def asks(self, sql):
        """What a client gets."""
        said = self.joined("psql", "-h", self.folder, "-d", "postgres", "-qAt", "-c", sql)
        return said[0].strip()

    def remove(self):
        """Ends whatever is left."""
        self.control("stop", "-m", "immediate")
        self.does(self.postrider, "ipc", "stop", self.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def segments(self):
        """How many there are."""
        listed = self.does(self.postrider, "ipc", "list", "--name", self.name)[0]
        return len(listed.split("shared memory")[1].strip().splitlines()) - 1

    def killed(self):
        """A client's process is killed in the middle of its work: the others are ended, and all begins anew with what was committed."""
        client = ["psql", "-h", self.folder, "-d", "postgres", "-qAt", "-c", "select pg_backend_pid(), pg_sleep(100)"]
        waiting = subprocess.Popen(
            ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", *client] if self.is_root else client,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        find = "select pid from pg_stat_activity where query like '%pg_sleep(100)%' and pid <> pg_backend_pid()"
        while not (pid := self.asks(find)).isdigit():
            time.sleep(0.1)
        self.does("kill", "-KILL", pid)
        ended = waiting.wait(SECONDS_MAX)
        for _ in range(600):
            if (count := self.asks("select count(*) from t")).isdigit():
                break
            time.sleep(0.1)
        return ended != 0, count


def postgres(installation):
    """A database: made, started, used by several clients, stopped, started, recovered."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found:
        return
    base = Database(installation, os.path.dirname(found[-1]))
    try:
        yield "a name space", (said := base.does(base.postrider, "ipc", "start", "--name", base.name)) == ("", 0), said
        options = ["-D", base.data, "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"]
        said = base.joined("initdb", *options)
        yield "initdb", said[1] == 0, said
        settings = f"shared_memory_type=sysv\nlisten_addresses=''\nunix_socket_directories='{base.folder}'\nfsync=off\n"
        with open(os.path.join(base.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write(settings + "dynamic_shared_memory_type=sysv\nshared_buffers=16MB\n")
        yield "start", (said := base.control("start")) == ("", 0), said
        yield "its memory is in the name space", (said := base.segments()) >= 1, said
        yield "a table", (said := base.asks("create table t as select 0 as value from generate_series(1, 1000)")) == "", said
        said = base.joined("pgbench", "-h", base.folder, "-i", "-q", "postgres")
        yield "pgbench begins", said[1] == 0, said
        said = base.joined("pgbench", "-h", base.folder, "-c", "4", "-j", "2", "-t", "100", "postgres")
        yield "four clients", said[1] == 0 and "400/400" in said[0], said
        total = "select sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts"
        yield "what they have done", (said := base.asks(total)) == "t", said
        yield "a process is killed", (said := base.killed()) == (True, "1000"), said
        yield "stop", (said := base.control("stop", "-m", "fast")) == ("", 0), said
        yield "its memory is gone", (said := base.segments()) == 0, said
        yield "start again", (said := base.control("start")) == ("", 0), said
        yield "what there was", (said := base.asks(total)) == "t", said
        yield "end", (said := base.control("stop", "-m", "immediate")) == ("", 0), said
        yield "nothing is left", (said := base.segments()) == 0, said
    finally:
        base.remove()
