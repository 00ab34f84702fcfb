"""The build backend of the wheel (PEP 517): packs the installation that `cargo xtask build` makes.

What a wheel keeps under NAME.data/data goes to the prefix of the environment: bin, lib, include and share, as with other MPI wheels. There
`bin/postrider` finds everything else by its own place. A wheel has no symbolic links, so the other names of the
executable are scripts. The Octave package stays out: it is built for one version of Octave.

Building takes minutes, in which pip shows no word of a backend. See `Progress`.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Names under which the executable does something else, with the subcommand.
NAMES = {"mpicc": "cc", "mpicxx": "c++", "mpic++": "c++", "mpifort": "fortran", "mpif90": "fortran", "mpif77": "fortran", "mpiexec": "run", "mpirun": "run"}
OWN_LIBRARIES = ["io", "io_mpich", "ipc", "overlap", "overlap_mpich"]
LIBRARIES = ["lib/libmpi_abi.so", "lib/libmpi_abi.so.1", "lib/libmpifort_abi.so", "lib/libmpifort_abi.so.1", "lib/libmpi.so.12", *(f"lib/libpostrider_{name}.so" for name in OWN_LIBRARIES)]
FILES = ["bin/postrider", *LIBRARIES, "include/mpi.h", "include/mpi_other_names.h"]
# Folders that are packed whole: the modules of Fortran as source, for pkg-config, for modules, manual pages and completions.
FOLDERS = ["share/postrider/fortran", "lib/pkgconfig", "share/modulefiles", "share/man", "share/bash-completion", "share/zsh", "share/fish"]
SCRIPT = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/postrider" {} "$@"
"""


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes what a wheel says of itself, before anything is built. Returns the name of the folder."""
    facts = project()
    about = pathlib.Path(metadata_directory, f"{stem(facts)}.dist-info")
    about.mkdir()
    for name, content in descriptions(facts, "py3-none-any").items():
        (about / name).parent.mkdir(exist_ok=True)
        (about / name).write_bytes(content)
    return about.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the project and packs it. Returns the name of the file."""
    with Progress() as progress:
        build(progress)
        progress.say("packing")
        return pack(pathlib.Path(wheel_directory))


def build(progress):
    command = ["cargo", "xtask", "build"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stderr:
            sys.stderr.write(line)
            progress.say(line.split("(")[0].strip())
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} fails with exit code {process.returncode}")


def pack(folder):
    facts = project()
    names = FILES + [
        str(path.relative_to(ROOT / "build"))
        for folder_of_installation in FOLDERS
        for path in sorted((ROOT / "build" / folder_of_installation).rglob("*"))
        if path.is_file()
    ]
    wheel = Wheel(folder, facts, platform_tag(installed(FILES)))
    for name, path in zip(names, installed(names)):
        wheel.add(f"{wheel.stem}.data/data/{name}", stripped(path), path.stat().st_mode)
    for name, subcommand in NAMES.items():
        wheel.add(f"{wheel.stem}.data/data/bin/{name}", SCRIPT.format(subcommand).encode(), 0o100755)
    for path in sorted((ROOT / "python/postrider").glob("*.py")):
        wheel.add(f"postrider/{path.name}", path.read_bytes(), 0o100644)
    return wheel.close(facts)


class Progress:
    """What is being done, on the line below the one in which pip turns its wheel.

    pip keeps the output of a backend for itself, unless it is asked for more (-v) and prints all of it. So this writes to the
    terminal itself, and only for a pip that is neither quiet nor verbose. The cursor is back where it was after each
    writing, and the line is empty at the end.
    """

    LINE_BELOW = "\x1bD\x1b[A\x1b7\x1b[B\r\x1b[2K"
    BACK = "\x1b8"

    def __enter__(self):
        self.begun = time.monotonic()
        self.what = ""
        self.over = threading.Event()
        try:
            self.terminal = open("/dev/tty", "w") if is_wanted() else None
        except OSError:
            self.terminal = None
        self.clock = threading.Thread(target=self.tick)
        if self.terminal:
            self.clock.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        if self.terminal:
            self.clock.join()
            self.terminal.write(self.LINE_BELOW + self.BACK)
            self.terminal.close()

    def say(self, what):
        self.what = what

    def tick(self):
        while not self.over.wait(1):
            seconds = int(time.monotonic() - self.begun)
            width = os.get_terminal_size(self.terminal.fileno()).columns
            line = f"    {seconds // 60}:{seconds % 60:02} {self.what}"[: width - 1]
            self.terminal.write(self.LINE_BELOW + line + self.BACK)
            self.terminal.flush()


def is_wanted():
    """Whether a pip has started this that shows its progress."""
    if os.environ.get("TERM", "dumb") == "dumb" or any(f"PIP_{how}" in os.environ for how in ("QUIET", "VERBOSE")):
        return False
    try:
        words = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return False
    is_pip = any(pathlib.Path(word).name.startswith("pip") for word in words[:3])
    return is_pip and not any(re.fullmatch("-q+|-v+|--quiet|--verbose", word) for word in words)


def project():
    """Name, version and the rest of what pyproject.toml says that a wheel repeats. Python 3.9 has no parser for it."""
    text = (ROOT / "pyproject.toml").read_text()
    facts = dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))
    extras = text.partition("[project.optional-dependencies]")[2]
    facts["extras"] = re.findall(r"^([a-z]+) = \[(.*)\]$", extras, re.MULTILINE)
    return facts


def stem(facts):
    return f"{facts['name']}-{facts['version']}"


def descriptions(facts, tag):
    """What a wheel says of itself, by the names of files."""
    metadata = "Metadata-Version: 2.1\n"
    metadata += f"Name: {facts['name']}\nVersion: {facts['version']}\nSummary: {facts['description']}\n"
    metadata += f"License: {facts['license']}\nRequires-Python: {facts['requires-python']}\n"
    for extra, packages in facts["extras"]:
        metadata += f"Provides-Extra: {extra}\n"
        for package in re.findall(r'"(.*?)"', packages):
            metadata += f'Requires-Dist: {package}; extra == "{extra}"\n'
    metadata += "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text()
    generator = f"Wheel-Version: 1.0\nGenerator: postrider\nRoot-Is-Purelib: false\nTag: {tag}\n"
    licences = {f"licenses/{path.name}": path.read_bytes() for path in sorted(ROOT.glob("LICENSE-*"))}
    return {"METADATA": metadata.encode(), "WHEEL": generator.encode(), **licences}


def installed(names):
    return [ROOT / "build" / name for name in names]


def stripped(path):
    """The bytes of a file, of an executable or library without what only debuggers read."""
    if not path.read_bytes().startswith(b"\x7fELF"):
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, path.name)
        subprocess.run(["strip", "--strip-debug", "-o", copy, path], check=True)
        return copy.read_bytes()


def platform_tag(paths):
    """The oldest glibc that all symbols are in, as the tag of a platform says it."""
    versions = {(2, 17)}
    for path in paths:
        listing = subprocess.run(["objdump", "-T", path], capture_output=True, text=True).stdout
        versions |= {(2, int(minor)) for minor in re.findall(r"GLIBC_2\.(\d+)", listing)}
    major, minor = max(versions)
    return f"manylinux_{major}_{minor}_{platform.machine()}"


class Wheel:
    """A wheel that is being written."""

    def __init__(self, folder, facts, tag):
        self.stem = stem(facts)
        self.tag = f"py3-none-{tag}"
        self.name = f"{self.stem}-{self.tag}.whl"
        self.archive = zipfile.ZipFile(folder / self.name, "w", zipfile.ZIP_DEFLATED)
        self.records = []

    def add(self, name, content, mode):
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self, facts):
        """Adds what a wheel says of itself."""
        about = f"{self.stem}.dist-info"
        for name, content in descriptions(facts, self.tag).items():
            self.add(f"{about}/{name}", content, 0o100644)
        self.add(f"{about}/RECORD", ("".join(self.records) + f"{about}/RECORD,,\n").encode(), 0o100644)
        self.archive.close()
        return self.name
