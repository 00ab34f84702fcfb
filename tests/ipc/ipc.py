"""System V IPC in user space, beside the kernel's: see docs/IPC.md.

    ipc.py INSTALLATION FOLDER

Programs are compiled in FOLDER. Each runs on the kernel's own objects in a name space of its own (`unshare`), where that is allowed, and under
`postrider ipc run`; each line that it says is a case, and passes when both say the same as the file in `expected`, which the kernel wrote. They do so under the
layer where the kernel has no System V IPC, too, and in containers. Then come the commands, other languages, programs of others, and what must not be left.
"""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time

import others
from molecules import energies_of

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_MAX = 120
PROGRAMS = ["messages", "semaphores", "memory", "killed", "hosts", "pages"]
# Where `postrider ipc` traces: see docs/design/0039.
TRACES = platform.machine() == "x86_64"
OWN = ["unshare", "-Ur"]
BENCH = os.path.join(HERE, "../../bench")

installation, folder = map(os.path.abspath, sys.argv[1:])
postrider = os.path.join(installation, "bin/postrider")
outcomes = []


def judge(name, right, what=""):
    """Notes whether a case passes."""
    outcomes.append(bool(right))
    if not right:
        print(f"{name}: {what}")


def output_of(command, **more):
    """What a command says on both streams, and its exit code; a command that does not end is killed."""
    try:
        ended = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS_MAX,
            check=False, **more
        )
    except subprocess.TimeoutExpired as error:
        return f"{error.stdout}\nno end within {SECONDS_MAX} s", -1
    return ended.stdout, ended.returncode


def compiled(name, *options):
    """Compiles a program, and returns the executable."""
    binary = os.path.join(folder, name + "".join(options))
    source = os.path.join(HERE, "programs", f"{name}.c")
    subprocess.run(["cc", *options, "-Wall", "-Wextra", "-Werror", source, "-o", binary, "-pthread"], check=True)
    return binary


def compare(name, output, expected):
    """Each line is a case. Lines of several processes come in no certain order."""
    lines, expected = sorted(output.splitlines()), sorted(expected)
    for number, line in enumerate(expected):
        said = lines[number] if number < len(lines) else "nothing"
        judge(f"{name}, line {number + 1}", said == line, f"{said!r}, and {line!r} is right")
    judge(name, len(lines) <= len(expected), f"says more: {lines[len(expected):][:20]}")


def expected_of(name):
    """The lines of a file in `expected`."""
    with open(os.path.join(HERE, "expected", name), encoding="utf-8") as file:
        return file.read().splitlines()


def left():
    """Directories of name spaces."""
    return {name for name in os.listdir("/dev/shm") if name.startswith("postrider-")}


def programs():
    """The lists of what the calls mean."""
    allowed = subprocess.run([*OWN, "--ipc", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0
    user = OWN if allowed else []
    for name in PROGRAMS:
        binary = compiled(name)
        expected = expected_of(name)
        if allowed:
            compare(f"{name} on the kernel", output_of([*OWN, "--ipc", binary])[0], expected)
        ways = {
            "under the layer": [*user, postrider, "ipc", "run"],
            "on a kernel without": [*user, compiled("without"), postrider, "ipc", "run"],
        }
        if allowed:
            ways["in a container"] = [postrider, "ipc", "run", *OWN, "--ipc"]
        for way, command in ways.items():
            says(f"{name} {way}", [*command, binary], expected)
        if TRACES:
            static = [postrider, "ipc", "run", compiled(name, "-static")]
            says(f"{name}, static", [*user, *static], expected)
            says(f"{name}, static, on a kernel without", [*user, compiled("without"), *static], expected)
    if allowed:
        containers(expected_of("hosts"))
    if TRACES:
        raw_calls([*OWN, "--ipc"] if allowed else None)


def says(name, command, expected):
    """A program says what is expected, and ends well."""
    output, code = output_of(command)
    compare(name, output, expected)
    judge(name, code == 0, f"exit code {code}")


def raw_calls(kernel):
    """Calls that no library sees: of static programs, of what others start, and of programs that have the library, too."""
    expected, binary, static = expected_of("raw"), compiled("raw"), compiled("raw", "-static")
    run, all_calls = [postrider, "ipc", "run"], [postrider, "ipc", "run", "--raw-calls"]
    if kernel:
        says("raw calls on the kernel", [*kernel, binary], expected)
    says("raw calls, static", [*run, static], expected)
    says("raw calls, static, of a shell", [*all_calls, "sh", "-c", static], expected)
    says("raw calls", [*all_calls, binary], expected)
    many = output_of([*run, "-n", "3", static])
    judge("raw calls of several", many[1] == 0 and len(many[0].splitlines()) == 3 * len(expected), many)
    # The library finds what a static program has made, and takes back what that has left.
    leaves = compiled("leaves", "-static")
    said = output_of([*all_calls, "sh", "-c", f"{leaves} makes; ipcs -s; {leaves} takes; {leaves} value; {leaves} killed; {leaves} value"])
    judge("a static program and ipcs", said[1] == 0 and "0x00001234" in said[0] and said[0].endswith("7\n7\n"), said)
    judge("exit code of a static program", output_of([*run, leaves, "nonsense"])[1] == 3)
    killed = subprocess.Popen([*run, leaves, "waits"])
    while not (tracers := processes_with("ipc-traced")):
        time.sleep(0.02)
    time.sleep(0.5)
    killed.send_signal(signal.SIGTERM)
    judge("a signal reaches a static program", killed.wait(SECONDS_MAX) == 128 + signal.SIGTERM)
    for _ in range(500):
        if not tracers & processes_with("ipc-traced"):
            break
        time.sleep(0.02)
    judge("a tracer ends with its program", not tracers & processes_with("ipc-traced"))
    judge("over hosts", output_of([*all_calls, "--hosts", "a,b", "true"])[1] == 2)


def processes_with(words):
    """The processes with these words in their command lines."""
    found = subprocess.run(["pgrep", "-f", f"{postrider} {words}"], stdout=subprocess.PIPE, text=True, check=False)
    return set(found.stdout.split())


def containers(expected):
    """Each process has users, objects of the kernel, and perhaps numbers of its own: only the directory is shared."""
    name = f"containers{os.getpid()}"
    join = [postrider, "ipc", "join", name, *OWN, "--ipc"]
    output_of([postrider, "ipc", "start", "--name", name])
    with subprocess.Popen([*join, "./hosts", "1", "2"], cwd=folder) as other:
        output, code = output_of([*join, "./hosts", "0", "2"])
        compare("two containers", output, expected)
        judge("two containers", (code, other.wait(SECONDS_MAX)) == (0, 0), f"exit code {code}")
    output, code = output_of([*join, "--pid", "--fork", "--mount-proc", "./hosts", "0", "2"])
    judge("a container with numbers of its own", code == 126 and "PID name space" in output, f"{code}, {output}")
    output_of([postrider, "ipc", "stop", name])


def codes():
    """Exit codes of `ipc run`, signals, and what is left."""
    for command, code in [
        (["true"], 0),
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "kill -TERM $$"], 143),
        (["./no such program"], 127),
        (["/dev/null"], 126),
    ]:
        for number in ["1", "3"]:
            found = output_of([postrider, "ipc", "run", "-n", number, *command])
            judge(f"exit code of {command}", found[1] == code, str(found))
    judge("no host", output_of([postrider, "ipc", "run", "--hosts", "a:0", "true"])[1] == 2)
    judge("no such home", output_of([postrider, "ipc", "run", "--hosts", "a,b", "--home", "c", "true"])[1] == 2)
    for arguments, code, words in [
        (["list"], 2, "which name space?"),
        (["list", "--name", "nix"], 1, "there is no name space nix"),
        (["join", "nix", "true"], 1, "postrider ipc start --name nix"),
        (["run"], 2, "Usage"),
        (["run", "-n", "0", "true"], 2, "--number"),
        (["run", "--limit", "msgmax", "true"], 2, "NAME=VALUE"),
        (["run", "--limit", "semmsl=3", "true"], 2, "semmsl is none of msgmax"),
        (["remove", "--name", "nix"], 2, "--all"),
        (["--help"], 0, "For example:"),
    ]:
        output, found = output_of([postrider, "ipc", *arguments], env=without_space())
        judge(f"ipc {arguments}", found == code and words in output, f"{found}, {output}")
    with_shell = {**without_space(), "POSTRIDER_SSH": "ssh"}
    judge("a remote shell in the environment", output_of([postrider, "ipc", "run", "true"], env=with_shell) == ("", 0))
    completed = output_of([postrider, "completions", "bash", "postrider"])[0]
    judge("completions", "postrider__subcmd__ipc" in completed and "serve" not in completed, "inner commands are completed")
    judge("no limit", output_of([postrider, "ipc", "run", "--limit", "msgmax=99999999", "true"])[1] == 2)
    told = subprocess.Popen([postrider, "ipc", "run", "sh", "-c", "trap 'exit 9' TERM; sleep 30 & wait"])
    time.sleep(1)
    told.send_signal(signal.SIGTERM)
    judge("a signal is handed on", told.wait(SECONDS_MAX) == 9)
    before = left()
    killed = subprocess.Popen([postrider, "ipc", "run", "sleep", "30"])
    while left() == before:
        time.sleep(0.02)
    killed.kill()
    killed.wait()
    for _ in range(500):
        output_of([postrider, "ipc", "run", "true"])
        if left() <= before:
            break
        time.sleep(0.02)
    judge("nothing is left", left() <= before, str(left() - before))


def without_space():
    """The environment without a name space."""
    return {name: value for name, value in os.environ.items() if name != "POSTRIDER_IPC"}


def names():
    """A name space that outlives programs."""
    name = f"test{os.getpid()}"

    def does(*arguments):
        return output_of([postrider, "ipc", *arguments])

    judge("start", does("start", "--name", name) == ("", 0))
    again = does("start", "--name", name)
    judge("start again", again[1] == 1 and f"postrider ipc stop {name}" in again[0], again)
    judge("names are told", name in output_of([postrider, "ipc", "list"], env=without_space())[0])
    judge("make", does("join", name, "ipcmk", "-Q")[1] == 0)
    judge("make", does("join", name, "ipcmk", "-S", "3")[1] == 0)
    judge("make", does("join", name, "ipcmk", "-M", "5000")[1] == 0)
    listed, code = does("join", name, "ipcs")
    judge("ipcs", code == 0 and "5000" in listed and listed.count("0x") == 3, listed)
    judge("ipcs -l", "max queues system wide = 32000" in does("join", name, "ipcs", "-l")[0])
    listed, code = does("list", "--name", name)
    judge("list", code == 0 and "5000" in listed and len(listed.splitlines()) == 12, listed)
    judge("stat", "msgmax  8192" in does("stat", "--name", name)[0])
    judge("remove", does("remove", "--name", name, "-m", "0") == ("", 0))
    again = does("remove", "--name", name, "-m", "0")
    judge("remove again", again[1] == 1 and "there is no segment 0" in again[0], again)
    judge("ipcrm", does("join", name, "ipcrm", "-q", "0") == ("", 0))
    judge("no space", does("list")[1] == 2)
    directory = f"/dev/shm/postrider-ipc-{os.getuid()}-{name}"
    library = os.path.join(installation, "lib/libpostrider_ipc.so")
    joined = {**os.environ, "POSTRIDER_IPC": directory, "LD_PRELOAD": library}
    judge("by the environment", "0x" in output_of(["ipcs", "-s"], env=joined)[0])
    waits = "import ctypes; c = ctypes.CDLL(None); raise SystemExit(c.semop(0, (ctypes.c_short * 3)(0, -1, 0), 1) == -1)"
    waiting = subprocess.Popen([sys.executable, "-c", waits], env=joined)
    time.sleep(1)
    judge("stop", does("stop", name) == ("", 0))
    judge("who waits is told", waiting.wait(SECONDS_MAX) == 1)
    judge("join after stop", does("join", name, "true")[1] == 1)
    judge("bad name", does("start", "--name", "../x")[1] == 2)


def one_host():
    """A list of one host has a server, too, which ends with the name space."""
    name = f"one{os.getpid()}"
    # The server keeps the streams for its errors: nobody reads them to their end.
    start = [postrider, "ipc", "start", "--name", name, "--hosts", os.uname().nodename]
    started = subprocess.run(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS_MAX, check=False)
    judge("start on one host", started.returncode == 0)
    judge("its server", processes_with(f"ipc-serve.*{name}"))
    stopped = output_of([postrider, "ipc", "stop", name])
    judge("stop on one host", stopped == ("", 0), stopped)
    for _ in range(500):
        if not processes_with(f"ipc-serve.*{name}"):
            break
        time.sleep(0.02)
    judge("its server ends", not processes_with(f"ipc-serve.*{name}"))


def languages():
    """Perl's module, which Debian has with Perl, and Python's, whose own tests run."""
    perl = """use IPC::SysV qw(IPC_PRIVATE IPC_CREAT S_IRUSR S_IWUSR); use IPC::Msg; use IPC::Semaphore; use IPC::SharedMem;
        $m = IPC::Msg->new(IPC_PRIVATE, S_IRUSR | S_IWUSR); $m->snd(3, "letter"); $m->rcv($b, 256, 3); print $b;
        $s = IPC::Semaphore->new(IPC_PRIVATE, 3, S_IRUSR | S_IWUSR | IPC_CREAT); $s->setall(1, 2, 3); print $s->getall;
        $h = IPC::SharedMem->new(IPC_PRIVATE, 8, S_IRUSR | S_IWUSR); $h->write("abc", 0, 3); print $h->read(0, 3);
        $m->remove; $s->remove; $h->remove;"""
    if shutil.which("perl"):
        judge("perl", output_of([postrider, "ipc", "run", "perl", "-e", perl]) == ("letter123abc", 0))
    environment = os.path.join(folder, "python")
    own = os.path.join(environment, "bin/python")
    if not os.path.exists(os.path.join(folder, "sysv_ipc")):
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [own, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        fetch = ["download", "--no-deps", "--no-binary", ":all:", "--dest", folder, "sysv_ipc==1.2.0"]
        subprocess.run([*pip, *fetch], check=True)
        shutil.unpack_archive(os.path.join(folder, "sysv_ipc-1.2.0.tar.gz"), folder, filter="data")
        subprocess.run([*pip, "install", os.path.join(folder, "sysv_ipc-1.2.0")], check=True)
        os.rename(os.path.join(folder, "sysv_ipc-1.2.0"), os.path.join(folder, "sysv_ipc"))
    tests = [own, "-m", "unittest", "discover", "-s", "sysv_ipc/tests", "-t", "sysv_ipc"]
    output, code = output_of([postrider, "ipc", "run", *tests])
    judge("the tests of sysv_ipc", code == 0 and "Ran 137 tests" in output, output)


def programs_of_others():
    """What is installed of them; `scripts/setup ipc` installs all."""

    def run(*command):
        return output_of([postrider, "ipc", "run", *command])

    cases = []
    if shutil.which("php"):
        cases.append(others.php(run))
    if shutil.which("stress-ng"):
        cases.append(others.stress(run))
    cases.append(others.postgres(installation))
    for some in cases:
        for name, right, said in some:
            judge(name, right, said)


def molecules():
    """Molecular dynamics, whose three forms find what a simple program finds, however many processes there are."""
    atoms, steps, first_steps = 50, 20, 2
    right = energies_of(atoms, first_steps + steps)
    launchers = {
        "messages": lambda _: [postrider, "ipc", "run"],
        "memory": lambda _: [postrider, "ipc", "run"],
        "mpi": lambda processes: [postrider, "run", "-n", str(processes)],
    }
    for form, launcher in launchers.items():
        binary = os.path.join(folder, f"molecules_{form}")
        compiler = ["cc"] if form != "mpi" else [os.path.join(installation, "bin/mpicc")]
        sources = ["ipc/molecules", f"ipc/molecules_{form}", "src/record"] + ["ipc/processes"] * (form != "mpi")
        sources = [os.path.join(BENCH, f"{source}.c") for source in sources]
        subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", *sources, "-o", binary, "-lm"], check=True)
        for processes in [1, 2, 4, 7]:
            program = [binary, "--atoms", str(atoms), "--steps", str(steps), "--ranks", str(processes)]
            output, code = output_of([*launcher(processes), *program])
            said = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
            found = [line["checksum"] for line in said if "checksum" in line and line["ranks"] == processes]
            close = found and all(abs(float(a) - b) < 2e-9 for a, b in zip(found[0].split(), right, strict=True))
            judge(f"molecules by {form}, {processes} processes", code == 0 and close, f"{output}, and {right} is right")


os.makedirs(folder, exist_ok=True)
programs()
molecules()
codes()
names()
one_host()
languages()
programs_of_others()
print(f"{sum(outcomes)} passed, {len(outcomes) - sum(outcomes)} failed")
sys.exit(not all(outcomes))
