"""Programs that were made for MPICH run on our libmpi.so.12 as they are: those of Debian, and small ones that Debian's
compilers make, with Debian's libraries of Fortran and of HDF5 in between. docs/BINARIES.md says what else has been tried.

    binaries.py POSTRIDER FOLDER

The launcher POSTRIDER runs each program in FOLDER, where the small ones are compiled to. A program checks itself: a run passes
when it exits with 0 and says what is expected of it. The Debian packages are those
that `scripts/setup binaries` installs.
"""

import glob
import os
import subprocess
import sys

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")

# gfortran takes `choice` arguments of mpif.h and of the module mpi for wrong types without its option.
FORTRAN = ["mpif90.mpich", "-O1", "-w", "-fallow-argument-mismatch"]
HDF5 = ["h5pcc.mpich", "-shlib", "-O1", "-Wall", "-Wextra", "-Werror"]
COMPILED = {
    "include_file.f": FORTRAN,
    "module_mpi.f90": FORTRAN,
    "module_mpi_f08.f90": FORTRAN,
    "hyperslabs.c": HDF5,
}

# Rank counts and transports of the programs that run on any number of ranks.
CONFIGURATIONS = [(1, "shared-memory"), (3, "shared-memory"), (4, "shared-memory"), (2, "file")]

# Tests of OpenCoarrays that Debian has built. Its others run too, but some of them race by themselves, or want failed images.
COARRAYS = """allocatable_p2p_event_post atomics co_broadcast_derived_type_test co_reduce_test co_sum_test register_alloc_comp_3
    send_with_vector_index sendget_convert_nums strided_get syncimages teams_coarray_sendget teams_subset""".split()

SECONDS_MAX = 60


def compiled(name, folder):
    """Compiles a program of ours, and returns the executable."""
    binary = os.path.join(folder, os.path.splitext(name)[0])
    subprocess.run([*COMPILED[name], os.path.join(PROGRAMS, name), "-o", binary], check=True, cwd=folder)
    return binary


def runs(folder):
    """All runs: ranks, transport, command, and what the output has to contain."""
    for name in COMPILED:
        binary = compiled(name, folder)
        for ranks, transport in CONFIGURATIONS:
            yield ranks, transport, [binary], ""
    for transport in ["shared-memory", "file"]:
        yield 2, transport, ["NPmpich2", "-i", "-u", "4096"], "3073 bytes"
    (coarrays,) = glob.glob("/usr/lib/*/open-coarrays/mpich/bin/*-tests")
    for name in COARRAYS:
        yield 4, "shared-memory", [os.path.join(coarrays, name)], "Test passed"


def complaint(postrider, folder, ranks, transport, command, expected):
    """Runs a program: what is wrong, or nothing."""
    job = [postrider, "run", "-n", str(ranks), "--transport", transport, *command]
    try:
        ended = subprocess.run(job, cwd=folder, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS_MAX} s"
    output = f"{ended.stdout[-2000:]}\n{ended.stderr[-2000:]}"
    if ended.returncode != 0:
        return f"exit code {ended.returncode}\n{output}"
    return "" if expected in ended.stdout + ended.stderr else f"nothing says {expected!r}\n{output}"


def main():
    postrider, folder = map(os.path.abspath, sys.argv[1:])
    os.makedirs(folder, exist_ok=True)
    passed = failed = 0
    for ranks, transport, command, expected in runs(folder):
        wrong = complaint(postrider, folder, ranks, transport, command, expected)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"{os.path.basename(command[0])}, {ranks} ranks, {transport}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
