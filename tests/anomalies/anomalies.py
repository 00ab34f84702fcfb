"""What happens when something goes wrong around a job: a rank dies, a disk is full, the command line is nonsense.

    anomalies.py --list
    anomalies.py CASE POSTRIDER PROGRAMS TRANSPORT

A case starts the launcher POSTRIDER on the compiled programs of this folder (PROGRAMS) and asserts the exit code and what
the user is told: which rank failed first, on which host, how, and in which MPI call. It prints nothing when all is as it
should be. `cargo xtask test` runs each case, ends it when it hangs, and checks that no process and no file stays behind.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

CASES = {}


def case(function):
    """Registers a case under the name of its function."""
    CASES[function.__name__] = function
    return function


class Ended:
    """How a job ended, and what it said."""

    def __init__(self, command, code, output, error):
        self.command, self.code, self.output, self.error = command, code, output, error

    def check(self, condition, what):
        if not condition:
            sys.exit(
                f"{what}\n$ {' '.join(self.command)}\nexit code {self.code}\n"
                f"--- output\n{self.output[-3000:]}\n--- error\n{self.error[-3000:]}"
            )

    def exited(self, code):
        self.check(self.code == code, f"expected exit code {code}")
        return self

    def names(self, *words):
        """All words stand in what was said on standard error."""
        for word in words:
            self.check(word in self.error, f"nothing says {word!r}")
        return self

    def silent(self):
        self.check(self.error == "", "expected nothing on standard error")
        return self


class Setup:
    """The launcher, the programs and the transport under test."""

    def __init__(self, postrider, programs, transport):
        self.postrider, self.programs, self.transport = postrider, programs, transport
        self.temporary = os.environ.get("TMPDIR", tempfile.gettempdir())

    def program(self, name):
        return os.path.join(self.programs, name)

    def command(self, *arguments, before=()):
        return [*before, self.postrider, "run", "--transport", self.transport, *arguments]

    def run(self, *arguments, before=(), text=None, **options):
        command = self.command(*arguments, before=before)
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, **options)
        return Ended(command, done.returncode, done.stdout, done.stderr)

    def victim(self, place, way, ranks=3, *options, **environment):
        """Runs the victim program; the last rank fails."""
        variables = {**os.environ, **environment}
        return self.run("-n", str(ranks), *options, self.program("victim"), place, way, env=variables)

    def start(self, *arguments, **options):
        """Starts a job and returns at once."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.command(*arguments), text=True, **pipes, **options)

    def works(self, **options):
        """An ordinary job runs as ever."""
        done = self.run("-n", "3", self.program("exchange"), **options).exited(0).silent()
        for rank in range(3):
            done.check(f"rank {rank} of 3 exchanged\n" in done.output, f"rank {rank} did not finish")


HOST = socket.gethostname()


def until(condition, what, seconds=30):
    """Waits for a condition; the limit is far beyond what is needed and only ends a hang."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"waited in vain: {what}")
        time.sleep(0.01)


def processes(program):
    """The processes of this run that execute a program, by process id."""
    token = os.environ.get("POSTRIDER_TEST_RUN", "")
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{entry}/environ", "rb") as file:
                own = f"POSTRIDER_TEST_RUN={token}".encode() in file.read().split(b"\0")
        except (OSError, ValueError):
            continue
        if own and words and os.path.basename(words[0]).decode() == os.path.basename(program):
            found.append(int(entry))
    return found


def waits_in_mpi(pid):
    """Whether a process sleeps, as a rank does that waits for a message."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "S"
    except OSError:
        return False


def start_waiting(setup, ranks=3):
    """A job whose ranks all wait for messages that never come."""
    job = setup.start("-n", str(ranks), setup.program("victim"), "recv", "stay")
    until(lambda: len(processes("victim")) == ranks, "the ranks start")
    until(lambda: all(waits_in_mpi(pid) for pid in processes("victim")), "the ranks wait")
    time.sleep(0.3)
    return job


def ended(setup, job):
    output, error = job.communicate(timeout=60)
    return Ended(setup.command("victim"), job.returncode, output, error)


# A rank dies.


@case
def killed_before_init(setup):
    with tempfile.TemporaryDirectory() as folder:
        done = setup.victim("before-init", "-9", VICTIM_FILE=os.path.join(folder, "victim"))
    done.exited(137).names("rank", "failed first", "SIGKILL", HOST, "MPI_Init")


@case
def killed_in_own_code(setup):
    setup.victim("own-code", "-9").exited(137).names("rank 2", "failed first", "SIGKILL", HOST, "MPI_Recv")


@case
def killed_in_receive(setup):
    done = setup.victim("recv", "-9").exited(137)
    done.names("rank 2", "failed first", "SIGKILL", HOST, "place      in MPI_Recv")


@case
def killed_in_barrier(setup):
    setup.victim("barrier", "-9").exited(137).names("rank 2", "SIGKILL", HOST, "place      in MPI_Barrier")


@case
def killed_in_large_send(setup):
    setup.victim("large-send", "-9").exited(137).names("rank 2", "SIGKILL", HOST, "place      in MPI_Ssend")


@case
def killed_after_finalize(setup):
    setup.victim("after-finalize", "-9").exited(137).names("rank 2", "SIGKILL", HOST, "MPI_Finalize")


@case
def segmentation_fault(setup):
    setup.victim("own-code", "-11").exited(139).names("rank 2", "failed first", "SIGSEGV", HOST)


@case
def exit_without_finalize(setup):
    setup.victim("own-code", "0").exited(1).names("rank 2", "failed first", "MPI_Finalize", HOST)


@case
def exit_code_without_finalize(setup):
    setup.victim("own-code", "7").exited(7).names("rank 2", "code 7", HOST)


@case
def exit_code_after_finalize(setup):
    setup.victim("after-finalize", "5").exited(5).names("rank 2", "code 5", HOST)


@case
def exit_code_before_init(setup):
    with tempfile.TemporaryDirectory() as folder:
        setup.victim("before-init", "6", VICTIM_FILE=os.path.join(folder, "victim")).exited(6).names("code 6", HOST)


@case
def abort_with_code(setup):
    setup.victim("own-code", "abort9").exited(9).names("rank 2", "code 9", HOST, "place      in MPI_Abort")


@case
def abort_with_code_zero(setup):
    done = setup.victim("own-code", "abort0")
    done.check(done.code != 0, "an abort is no success")


@case
def fatal_error(setup):
    """The default error handler ends the job and says what was wrong in which call."""
    done = setup.victim("own-code", "error")
    done.check(0 < done.code < 126, "an error is no success and no signal")
    done.names("rank 2", "place      in MPI_Send", "1000000", HOST)


@case
def error_lines_are_whole(setup):
    """What a rank says of its error is written at once: another process of the rank may write to the same place meanwhile."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    # A socket of this kind keeps writes apart.
    program = [setup.program("victim"), "own-code", "error"]
    subprocess.run(program, stderr=theirs, stdout=subprocess.DEVNULL, timeout=60)
    line = ours.recv(65536).decode()
    if not (line.startswith("postrider: rank 0") and line.endswith("\n")):
        sys.exit(f"expected a whole line at once, got {line!r}")


@case
def first_of_two_failures(setup):
    """Rank 1 dies first; the others' deaths are its consequences and are not blamed."""
    done = setup.run("-n", "3", setup.program("victim"), "own-code", "3", "1")
    done.exited(3).names("rank 1", "failed first", "code 3")


@case
def killed_from_outside(setup):
    job = start_waiting(setup)
    os.kill(processes("victim")[1], signal.SIGKILL)
    ended(setup, job).exited(137).names("failed first", "SIGKILL", HOST, "MPI_Recv")


# The launcher is told to end, or dies.


def signalled(setup, number):
    job = start_waiting(setup)
    job.send_signal(number)
    done = ended(setup, job)
    done.check(done.code in (128 + number, -number), f"expected the end by signal {number}")
    done.names(f"ended by signal {number:d} ({signal.Signals(number).name}", "in MPI_Recv")


@case
def terminated(setup):
    signalled(setup, signal.SIGTERM)


@case
def interrupted(setup):
    signalled(setup, signal.SIGINT)


@case
def time_limit(setup):
    done = setup.run("-n", "3", "--timeout", "1", setup.program("victim"), "recv", "stay")
    done.exited(124).names("--timeout", "MPI_Recv")


def leftovers(setup):
    """The project's own entries in the temporary directory of this run."""
    found = []
    for folder, _, files in os.walk(setup.temporary):
        found += [os.path.join(folder, name) for name in files]
    return found


def nothing_is_left(setup):
    """Guards remove what their launchers cannot remove any more, and end."""
    until(lambda: not processes("postrider"), "all launchers and guards end")
    until(lambda: not leftovers(setup), "all files are removed")


@case
def launcher_killed(setup):
    """The ranks end with their launcher, and the next job removes what was left."""
    job = start_waiting(setup)
    job.kill()
    job.communicate()
    until(lambda: not processes("victim"), "the ranks end with the launcher")
    setup.works()
    nothing_is_left(setup)


@case
def everybody_killed(setup):
    job = start_waiting(setup)
    for pid in [job.pid, *processes("victim")]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.communicate()
    until(lambda: not processes("victim"), "the ranks are gone")
    setup.works()
    nothing_is_left(setup)


@case
def many_jobs_at_once(setup):
    jobs = [setup.start("-n", "2", setup.program("exchange")) for _ in range(6)]
    for job in jobs:
        ended(setup, job).exited(0).silent()


# Jobs that are connected.


def start_spawner(setup, mode):
    """Two ranks that have spawned two more; all wait."""
    job = setup.start("-n", "2", setup.program("spawner"), mode)
    until(lambda: len(processes("spawner")) == 4, "the spawned ranks start")
    until(lambda: all(waits_in_mpi(pid) for pid in processes("spawner")), "all ranks wait")
    time.sleep(0.3)
    return job


def spawned_launcher():
    """The launcher of the spawned ranks."""
    for pid in processes("postrider"):
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if b"spawned" in file.read().split(b"\0"):
                with open(f"/proc/{pid}/comm") as name:
                    if name.read().strip() != "postrider-guard":
                        return pid
    sys.exit("there is no launcher of spawned ranks")


def everything_ends(setup):
    until(lambda: not processes("spawner"), "all ranks end")
    until(lambda: not processes("postrider"), "all launchers and guards end")
    setup.works()
    nothing_is_left(setup)


@case
def spawned_rank_killed(setup):
    """Both jobs end, and both say why."""
    done = setup.run("-n", "2", setup.program("spawner"), "die")
    done.check(done.code != 0, "the death of a connected process is no success")
    done.names("rank 1 of 2 failed first", "SIGKILL", "a connected job has failed", "without having called MPI_Finalize")
    everything_ends(setup)


@case
def spawning_rank_killed(setup):
    job = start_spawner(setup, "wait")
    children = spawned_launcher()
    with open(f"/proc/{children}/stat") as file:
        root = int(file.read().rsplit(")", 1)[1].split()[1])
    os.kill(root, signal.SIGKILL)
    ended(setup, job).exited(137).names("rank 0 of 2 failed first", "SIGKILL")
    everything_ends(setup)


@case
def spawning_launcher_killed(setup):
    job = start_spawner(setup, "wait")
    job.kill()
    job.communicate()
    everything_ends(setup)


@case
def spawned_launcher_killed(setup):
    job = start_spawner(setup, "wait")
    os.kill(spawned_launcher(), signal.SIGKILL)
    done = ended(setup, job).names("a connected job has failed")
    done.check(done.code != 0, "the death of a connected job is no success")
    everything_ends(setup)


@case
def spawner_terminated(setup):
    job = start_spawner(setup, "wait")
    job.send_signal(signal.SIGTERM)
    done = ended(setup, job)
    done.check(done.code in (143, -15), "expected the end by signal 15")
    everything_ends(setup)


@case
def spawned_outlives(setup):
    """The launcher waits for what its ranks have spawned, passes its output on, and hands its exit code on."""
    done = setup.run("-n", "2", setup.program("spawner"), "0").exited(0).silent()
    for rank in range(2):
        done.check(f"\nrank {rank} is done" in "\n" + done.output, f"rank {rank} did not finish")
        done.check(f"spawned rank {rank} is done" in done.output, f"spawned rank {rank} did not finish")
    setup.run("-n", "2", setup.program("spawner"), "5").exited(5).names("of 2 failed first", "code 5")
    everything_ends(setup)


@case
def jobs_meet(setup):
    """Two jobs that nothing but a name connects."""
    service = f"meeting of {os.getpid()}"
    one = setup.start("-n", "2", setup.program("spawner"), "accept", service)
    other = setup.start("-n", "3", setup.program("spawner"), "connect", service)
    for job, here, there in [(one, 2, 3), (other, 3, 2)]:
        done = ended(setup, job).exited(0).silent()
        for rank in range(here):
            done.check(f"rank {rank} of {here} has met {there}\n" in done.output, f"rank {rank} did not finish")


@case
def guest_forgotten(setup):
    """A job that has died concerns nobody who has freed all communicators with it, also with a message of it unread."""
    service = f"visit of {os.getpid()}"
    host = setup.start("-n", "2", setup.program("spawner"), "host", service)
    guest = setup.start("-n", "1", setup.program("spawner"), "guest", service)
    ended(setup, guest).exited(137)
    done = ended(setup, host).exited(0).silent()
    for rank in range(2):
        done.check(f"rank {rank} has gone on\n" in done.output, f"rank {rank} did not finish")


# The machine is full or forbids something.


def in_namespace(setup, prepare, *arguments):
    """Runs a job in a mount namespace of its own after a shell command has prepared it."""
    command = setup.command(*arguments)
    script = f'{prepare} && exec "$@"'
    user = [] if os.geteuid() == 0 else ["-r"]
    full = ["unshare", "-m", *user, "--propagation", "private", "sh", "-c", script, "sh", *command]
    done = subprocess.run(full, capture_output=True, text=True, timeout=60)
    return Ended(full, done.returncode, done.stdout, done.stderr)


@case
def full_shared_memory(setup):
    """Either the job does without /dev/shm, or it says what is full; it never dies of SIGBUS."""
    prepare = "mount -t tmpfs -o size=64k none /dev/shm"
    done = in_namespace(setup, prepare, "-n", "3", setup.program("exchange"))
    if done.code == 0:
        done.check(done.output.count("exchanged") == 3, "not all ranks finished")
    else:
        done.check(done.code < 128, "died of a signal instead of saying what is full")
        done.names("/dev/shm")


@case
def full_disk(setup):
    """A message that finds no room is an error that names the directory, never a hang or half a message."""
    with tempfile.TemporaryDirectory() as folder:
        prepare = f"mount -t tmpfs -o size=1m none {folder} && export TMPDIR={folder}"
        done = in_namespace(setup, prepare, "-n", "3", setup.program("exchange"))
        if setup.transport == "file" or done.code != 0:
            done.check(0 < done.code < 128, "expected an error, not success and not a signal")
            done.names("postrider", folder)


@case
def unwritable_directory(setup):
    with tempfile.TemporaryDirectory() as folder:
        missing = os.path.join(folder, "missing")
        done = setup.run("-n", "2", setup.program("exchange"), env={**os.environ, "TMPDIR": missing})
        if done.code != 0:
            done.check(done.code < 126, "expected an error of the launcher")
            done.names(missing, "TMPDIR")
        else:
            done.check(setup.transport == "shared-memory", "the messages' directory cannot be made")
        prepare = f"mount -t tmpfs -o ro none {folder} && export TMPDIR={folder}"
        done = in_namespace(setup, prepare, "-n", "2", setup.program("exchange"))
        if setup.transport == "file" or done.code != 0:
            done.check(0 < done.code < 126, "expected an error of the launcher")
            done.names(folder, "TMPDIR")


@case
def without_proc(setup):
    """A launcher that cannot look for processes says so and ends."""
    done = in_namespace(setup, "mount -t tmpfs none /proc", "-n", "2", "sleep", "1000").exited(1)
    done.names("cannot start the launcher's guard", "/proc")


@case
def single_copy_denied(setup):
    """Without process_vm_readv large messages take another way, silently."""
    setup.works(before=[setup.program("without_cma")])


@case
def progress_without_single_copies(setup):
    """What was started goes on while the program computes, also where neither side can copy alone."""
    for ranks in ("2", "7"):
        before = [setup.program("without_cma")]
        setup.run("-n", ranks, *before, setup.program("progress")).exited(0).silent()


@case
def few_open_files(setup):
    """Many ranks within a small limit of open files: it works, or says so."""
    done = setup.run("-n", "8", setup.program("exchange"), before=["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh"])
    if done.code != 0:
        done.check(done.code < 128, "expected an error message")
        done.names("open files")


# The command line.


@case
def wrong_arguments(setup):
    for arguments in (
        ["-n", "0", "true"],
        ["-n", "-3", "true"],
        ["-n", "many", "true"],
        ["-n"],
        [],
        ["--no-such-option", "true"],
        ["--transport", "pigeon", "true"],
        ["--timeout", "soon", "true"],
        ["-n", "2"],
        ["-n", "1", "true", ":"],
    ):
        done = setup.run(*arguments)
        done.exited(2)
        done.check("Usage:" in done.error or "--help" in done.error, "no usage")
        done.check(done.output == "", "an error belongs on standard error")


@case
def missing_program(setup):
    setup.run("-n", "2", "no-such-program").exited(127).names("no-such-program")
    setup.run("-n", "2", "./no/such/program").exited(127).names("./no/such/program")


@case
def program_not_executable(setup):
    with tempfile.NamedTemporaryFile() as file:
        setup.run("-n", "2", file.name).exited(126).names(file.name)


@case
def missing_working_directory(setup):
    done = setup.run("-n", "2", "-wdir", "/no/such/directory", "true")
    done.check(done.code not in (0, 139), "expected an error")
    done.names("/no/such/directory")


@case
def working_directory_and_environment(setup):
    script = 'pwd; echo "$COLOUR $SHAPE"'
    done = setup.run("-n", "1", "-wdir", "/usr", "-x", "COLOUR=red", "-genv", "SHAPE", "round", "sh", "-c", script)
    done.exited(0).silent()
    done.check(done.output == "/usr\nred round\n", "directory or environment is wrong")


@case
def standard_input_goes_to_rank_0(setup):
    text = "".join(f"line {number}\n" for number in range(20000))
    done = setup.run("-n", "3", "-l", "cat", text=text).exited(0)
    lines = done.output.splitlines()
    done.check(len(lines) == 20000, "not every line arrived exactly once")
    labels = {line.split("line")[0] for line in lines}
    done.check(len(labels) == 1 and "0" in labels.pop(), "somebody else than rank 0 read standard input")


@case
def labels_never_split_a_line(setup):
    script = 'i=0; while [ $i -lt 400 ]; do printf "%s" "<start"; printf "%0100d" $i; echo " end>"; i=$((i+1)); done'
    done = setup.run("-n", "4", "-l", "sh", "-c", script).exited(0)
    lines = done.output.splitlines()
    done.check(len(lines) == 1600, "not every line arrived exactly once")
    for line in lines:
        done.check(line.count("<start") == 1 and line.endswith(" end>"), f"a split line: {line!r}")
    labels = {line.split("<start")[0] for line in lines}
    done.check(len(labels) == 4, f"expected one label for each rank, not {labels}")


@case
def unfinished_last_line(setup):
    done = setup.run("-n", "2", "-l", "printf", "no newline").exited(0)
    done.check(done.output.count("no newline") == 2, "output without a newline is lost")


@case
def several_programs(setup):
    done = setup.run("-n", "1", "echo", "first", ":", "-n", "2", "echo", "second").exited(0)
    done.check(sorted(done.output.split()) == ["first", "second", "second"], "not the programs asked for")
    exchange = setup.program("exchange")
    done = setup.run("-n", "1", exchange, ":", "-n", "2", exchange).exited(0).silent()
    done.check(done.output.count("of 3 exchanged") == 3, "the programs are not one job")


# All ranks wait for each other, while the host has other things to do.


class Load:
    """Processes that want all cores for themselves."""

    def __enter__(self):
        busy = [sys.executable, "-c", "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"]
        self.processes = [subprocess.Popen(busy) for _ in range(2 * os.cpu_count())]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def deadlocked(setup, way, *words, ranks=3):
    """What is said of a job that waits for ever; the words of `words` stand in it, and then it is told to end."""
    with Load():
        job = setup.start("-n", str(ranks), "--stall-warning", "1.5", setup.program("deadlock"), way)
        said = iter(job.stderr.readline, "")
        lines = []
        while not any(line.startswith("  hint") for line in lines):
            lines.append(next(said, ""))
            if not lines[-1]:
                sys.exit(f"the job has ended without a word about its ranks: {lines}")
        job.send_signal(signal.SIGTERM)
        done = ended(setup, job)
    done.error = "".join(lines) + done.error
    done.names("all ranks have waited for each other", "ended by signal 15 (SIGTERM", *words)


@case
def deadlock_in_receives(setup):
    here = "on ring (3 processes)"
    deadlocked(
        setup,
        "recv",
        f"rank 0 in MPI_Recv, for a message from rank 1, tag 7, {here}, at most 4 bytes",
        f"rank 1 in MPI_Recv, for a message from rank 2, tag 7, {here}, at most 4 bytes; "
        f"not received: a message from rank 0, tag 9, {here}, 4 bytes",
    )


@case
def deadlock_in_barrier(setup):
    deadlocked(setup, "barrier", "rank 0 in MPI_Recv, for a message from any rank, tag 7", "in MPI_Barrier, for rank")


@case
def deadlock_in_sends(setup):
    deadlocked(setup, "ssend", "rank 2 in MPI_Ssend, for rank 0 to receive tag 7 on MPI_COMM_WORLD (3 processes), 4 bytes")


@case
def deadlock_in_probes(setup):
    deadlocked(setup, "probe", "rank 1 in MPI_Probe, for a message from rank 2, tag 7, on MPI_COMM_WORLD")


@case
def deadlock_with_a_rank_that_asks(setup):
    deadlocked(
        setup,
        "test",
        "rank 0 in MPI_Test or the like, again and again, for a message from rank 1, tag 7",
        "ranks 1-2 in MPI_Recv, for a message from rank 0",
    )


@case
def deadlock_of_ranks_that_ask_and_sleep(setup):
    deadlocked(setup, "iprobe", "ranks 0-2 in MPI_Test or the like, again and again")


@case
def deadlock_with_a_rank_that_has_ended(setup):
    deadlocked(setup, "ended", "rank 0 already ended", "ranks 1-2 in MPI_Recv")


@case
def deadlock_between_jobs(setup):
    deadlocked(setup, "spawn", "rank 0 in MPI_Recv, for a message from rank 0, a process of another job, tag 7")


def says_nothing(setup, way):
    """Nothing is said of a job whose ranks wait for one that does something."""
    with Load():
        setup.run("-n", "3", "--stall-warning", "0.5", setup.program("deadlock"), way).exited(0).silent()


@case
def others_wait_for_one_that_computes(setup):
    says_nothing(setup, "compute")


@case
def others_wait_for_one_that_computes_and_asks(setup):
    says_nothing(setup, "overlap")


@case
def others_wait_for_another_job(setup):
    says_nothing(setup, "elsewhere")


# Without the launcher, or under another one.


@case
def without_launcher(setup):
    program = setup.program("exchange")
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    done = Ended([program], done.returncode, done.stdout, done.stderr).exited(0)
    done.check(done.output == "rank 0 of 1 exchanged\n", "expected rank 0 of 1")


def everybody_is_well(done):
    for rank in range(3):
        done.check(f"rank {rank} of 3 is well\n" in done.output, f"rank {rank} did not finish")


@case
def programs_of_a_rank_are_alone(setup):
    done = setup.run("-n", "3", setup.program("offspring"), "programs").exited(0)
    everybody_is_well(done)
    for rank in range(3):
        said = [line for line in done.error.splitlines() if f"rank {rank} on {HOST}" in line]
        done.check(len(said) == 1, f"expected one line about rank {rank}")
    done.names("rank 0 of 1 in a job of its own")


@case
def a_program_under_a_wrapper_is_the_rank(setup):
    wrapped = f"{setup.program('offspring')}; exit $?"
    everybody_is_well(setup.run("-n", "3", "sh", "-c", wrapped).exited(0).silent())
    everybody_is_well(setup.run("-n", "3", "env", "A=b", setup.program("offspring")).exited(0).silent())
    script = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    done = setup.run("-n", "3", sys.executable, "-c", script, setup.program("offspring"), "programs").exited(0)
    everybody_is_well(done)


@case
def a_second_program_in_place_of_a_rank(setup):
    twice = f"{setup.program('offspring')} && {setup.program('offspring')}"
    done = setup.run("-n", "3", "sh", "-c", twice)
    done.check(done.code != 0 and "0 of 1" not in done.output, "the second program took itself for one that is alone")
    done.names("was not started by it: a rank is one MPI program")


@case
def forked_ranks_are_told(setup):
    done = setup.run("-n", "3", setup.program("offspring"), "forks").exited(0)
    everybody_is_well(done)
    done.names("MPI_Barrier", "was forked by process", "Execute a program instead")
    everybody_is_well(setup.run("-n", "3", setup.program("offspring"), "handled-forks").exited(0).silent())


@case
def abort_beside_a_stuck_write(setup):
    """A thread that writes to a pipe which nobody empties holds its stream for ever; MPI_Abort does not wait for it."""
    command = [setup.program("stuck_writer")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    Ended(command, done.returncode, done.stdout, done.stderr).exited(7)
    setup.run("-n", "2", *command).exited(7)


@case
def under_a_foreign_launcher(setup):
    """A rank of another library's launcher joins or stops; it never runs on alone."""
    program = setup.program("exchange")
    for variables in (
        {"PMI_RANK": "0", "PMI_SIZE": "2", "PMI_FD": "99"},
        {"PMIX_RANK": "0", "PMIX_NAMESPACE": "prterun-1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"},
        {"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_ID": "0"},
    ):
        environment = {**os.environ, **variables}
        done = subprocess.run([program], capture_output=True, text=True, timeout=60, env=environment)
        done = Ended([program, str(variables)], done.returncode, done.stdout, done.stderr)
        done.check(done.code != 0, "ran alone under a foreign launcher")
        done.names("postrider")


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(CASES))
    elif len(arguments) == 4 and arguments[0] in CASES:
        CASES[arguments[0]](Setup(*arguments[1:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    # What a script starts in the background ignores it, and so would all that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(sys.argv[1:])
