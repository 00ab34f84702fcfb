"""The solver of bench/overlap in all its versions, plain and under libpostrider_overlap.so: the same checksum and the same file.

    python3 tests/overlap/solver.py INSTALLATION SLOWFS FOLDER

Borders go from rank to rank by messages or through a file, and the field is read and written in four ways. So a message that comes late, a write that
is seen late, or a read that is early, is in the numbers. On this machine's disk, where variables have the layer defer what is fast, and, where
file systems can be mounted, on a slow one, where it decides for itself.
"""

import itertools
import pathlib
import re
import subprocess
import sys

import slow

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALLATION, SLOWFS, FOLDER = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LIBRARY = INSTALLATION / "lib/libpostrider_overlap.so"
PROGRAM = FOLDER / "sor"
SOURCES = ["overlap/sor", "overlap/sor_exchange", "overlap/sor_files", "src/measure", "src/record"]
EXCHANGES = ["sendrecv", "persistent", "file"]
FILES = ["root", "collective", "rows", "ring"]
LAYERS = {
    "plain": None,
    "as it chooses": {},
    "at the first touch": {"POSTRIDER_OVERLAP_METHOD": "touch", "POSTRIDER_OVERLAP_FILES": "always"},
    "in the last call": {"POSTRIDER_OVERLAP_METHOD": "last", "POSTRIDER_OVERLAP_FILES": "always"},
}

MEMORY = ["one-view", "two-views", "pre-emptive"]

failed = []
passed = 0
expected = None


def solve(place, ranks, exchange, files, variables):
    """Checksum and file of one run, or what it says instead."""
    written = place / "sor.out"
    written.unlink(missing_ok=True)
    command = [INSTALLATION / "bin/postrider", "run", "-n", str(ranks)]
    if variables is not None:
        command += ["env", f"LD_PRELOAD={LIBRARY}", "POSTRIDER_OVERLAP=all"]
        command += [f"{name}={value}" for name, value in variables.items()]
    # No number of ranks divides the side; 30 iterations are enough for the layer to know what comes.
    command += [PROGRAM, "--side", "whole", "--sizes", "67", "--iterations", "30", "--every", "5"]
    command += ["--exchange", exchange, "--io", files, "--directory", place]
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    found = re.search(r'"checksum":"(\w+)"', done.stdout)
    if done.returncode != 0 or not found:
        return f"ends with {done.returncode}: {done.stderr[-300:]}"
    return found.group(1), written.read_bytes()


def check(name, place, *version):
    global expected, passed
    found = solve(place, *version)
    expected = expected or found
    if found == expected and not isinstance(found, str):
        passed += 1
        return
    failed.append(name)
    *others, _ = version
    what = found if isinstance(found, str) else "checksum or file differ"
    print(f"{name}, ranks, exchange and files {others}: {what}")


def on_disk():
    for layer, ranks, exchange, files in itertools.product(LAYERS, [1, 2, 4], EXCHANGES, FILES):
        check(f"disk, {layer}", FOLDER, ranks, exchange, files, LAYERS[layer])
    for memory, files in itertools.product(MEMORY, FILES):
        variables = dict(LAYERS["at the first touch"], POSTRIDER_OVERLAP_MEMORY=memory)
        check(f"disk, {memory}", FOLDER, 4, "sendrecv", files, variables)


def on_slow():
    with slow.mounted(SLOWFS, FOLDER, 100) as place:
        if place is None:
            return
        for ranks, files in itertools.product([2, 4], FILES):
            check("slow file system", place, ranks, "sendrecv", files, {})
        check("slow file system", place, 4, "file", "rows", {})


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    sources = [ROOT / f"bench/{name}.c" for name in SOURCES]
    compiler = [INSTALLATION / "bin/mpicc", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler, "-o", PROGRAM, *sources], check=True)
    on_disk()
    on_slow()
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(bool(failed))


main()
