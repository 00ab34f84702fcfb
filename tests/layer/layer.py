"""Our functions for files on another MPI library, as their users load them: see docs/IO.md.

    layer.py INSTALLATION MPICH FOLDER

INSTALLATION is ours, MPICH that of MPICH's wheel; programs are compiled in FOLDER. A case passes when its job ends as expected and says what is
expected of it, and nothing that is not. Where Debian's MPICH 4 is installed (`scripts/setup binaries`), it is a third library,
with programs in Fortran and with HDF5. What the functions do is tested by `cargo xtask test --engine mpich-io`.
"""

import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS_MAX = 60
SERVED = "files are served by Postrider"
NAMES = ["libpostrider_io.so", "libpostrider_io_mpich.so"]

installation, mpich, folder = map(os.path.abspath, sys.argv[1:])
standard, of_mpich = (os.path.join(installation, "lib", name) for name in NAMES)
both = f"{standard}:{of_mpich}"
outcomes = []


def compiled(compiler, source, name, *options):
    """Compiles a program, and returns the executable."""
    binary = os.path.join(folder, name)
    source = os.path.join(HERE, "programs", source)
    subprocess.run([*compiler, *options, source, "-o", binary], check=True, cwd=folder)
    return binary


def own_launcher(preloaded, launcher=None):
    """The command that starts two processes by a library's own launcher."""
    return [launcher or os.path.join(mpich, "bin/mpiexec"), "-n", "2", "-genv", "LD_PRELOAD", preloaded]


def our_launcher(*options):
    """The command that starts two processes by ours."""
    return [os.path.join(installation, "bin/postrider"), "run", "--engine", mpich, *options, "-n", "2"]


def case(name, command, *, fails=False, says=(), never=()):
    """Runs a job, and notes whether it passes."""
    environment = {**os.environ, "POSTRIDER_IO_REPORT": "1", "HYDRA_LAUNCHER": "fork"}
    try:
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        outcomes.append(False)
        print(f"{name}: no end within {SECONDS_MAX} s")
        return
    output = ended.stdout + ended.stderr
    wrong = [f"does not say {word!r}" for word in says if word not in output]
    wrong += [f"says {word!r}" for word in never if word in output]
    if (ended.returncode != 0) != fails:
        wrong.append(f"exit code {ended.returncode}")
    outcomes.append(not wrong)
    if wrong:
        print(f"{name}: {', '.join(wrong)}\n{output}")


def on_the_wheel():
    """MPICH 5, with programs of both ABIs."""
    path, missing = os.path.join(folder, "file"), os.path.join(folder, "missing")
    for abi, compiler, own, other in [
        ("standard", os.path.join(installation, "bin/mpicc"), standard, of_mpich),
        ("mpich", os.path.join(mpich, "bin/mpicc"), of_mpich, standard),
    ]:
        record = [compiled([compiler], "record.c", f"record-{abi}"), path]
        fatal = [compiled([compiler], "fatal.c", f"fatal-{abi}"), missing]
        served = {"says": ["8 bytes", SERVED, "over MPICH Version: 5", path]}
        # The run path of what our compiler makes leads to our library; MPICH's launcher does not change that.
        os.environ["LD_LIBRARY_PATH"] = os.path.join(mpich, "lib")
        case(f"{abi}, its library", [*own_launcher(own), *record], **served)
        case(f"{abi}, both libraries", [*own_launcher(both), *record], **served)
        case(f"{abi}, the other library", [*own_launcher(other), *record], fails=True, says=[other_advice(other)])
        case(f"{abi}, none", [*own_launcher(""), *record], says=["8 bytes"], never=[SERVED])
        said = ["MPI_File_open", missing, "such file"]
        case(f"{abi}, a fatal error", [*own_launcher(both), *fatal], fails=True, says=said)
        del os.environ["LD_LIBRARY_PATH"]
        case(f"{abi}, --io postrider", [*our_launcher("--io", "postrider"), *record], **served)
        shell = ["sh", "-c", f"{record[0]} {record[1]}"]
        case(f"{abi}, a script", [*our_launcher("--io", "postrider"), *shell], **served)
        case(f"{abi}, --io engine", [*our_launcher(), *record], says=["8 bytes"], never=[SERVED])
    # With our own library there is nothing to load.
    ours = [os.path.join(installation, "bin/postrider"), "run", "-n", "2", os.path.join(folder, "record-standard"), path]
    case("our own library", ours, says=["8 bytes", SERVED, "over Postrider"])


def other_advice(library):
    """What a library says that is not for the program's ABI."""
    return f"{os.path.basename(library)} is for" if library == standard else "libpostrider_io_mpich.so for those of MPICH's"


def on_debian():
    """MPICH 4, with programs in Fortran and with HDF5."""
    launcher = shutil.which("mpiexec.mpich")
    if launcher is None:
        return
    fortran = ["mpif90.mpich", "-O1", "-w", "-fallow-argument-mismatch"]
    hdf5 = os.path.join(HERE, "../binaries/programs/hyperslabs.c")
    programs = [
        [compiled(["mpicc.mpich"], "record.c", "record-debian"), os.path.join(folder, "of C")],
        [compiled(fortran, "files.f90", "files-f08"), os.path.join(folder, "of_f08")],
        [compiled(fortran, "files.f", "files-f77"), os.path.join(folder, "of_f77")],
        [compiled(["h5pcc.mpich", "-shlib"], hdf5, "hyperslabs")],
    ]
    for program in programs:
        name = os.path.basename(program[0])
        case(f"Debian's MPICH, {name}", [*own_launcher(both, launcher), *program], says=[SERVED, "over MPICH Version: 4"])


os.makedirs(folder, exist_ok=True)
on_the_wheel()
on_debian()
print(f"{outcomes.count(True)} passed, {outcomes.count(False)} failed")
sys.exit(not all(outcomes))
