"""The build backend of the wheel (PEP 517): packs the installation that `cargo xtask build` makes.

What a wheel keeps under NAME.data/data goes to the prefix of the environment: bin, lib and include, as with other MPI wheels. There
`bin/postrider` finds everything else by its own place. A wheel has no symbolic links, so the other names of the
executable are scripts. The Octave package stays out: it is built for one version of Octave.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Names under which the executable does something else, with the subcommand.
NAMES = {"mpicc": "cc", "mpicxx": "c++", "mpic++": "c++", "mpiexec": "run", "mpirun": "run"}
LIBRARIES = ["lib/libmpi_abi.so", "lib/libmpi_abi.so.1", "lib/libmpi.so.12"]
FILES = ["bin/postrider", *LIBRARIES, "include/mpi.h", "include/mpi_other_names.h"]
SCRIPT = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/postrider" {} "$@"
"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the project and packs it. Returns the name of the file."""
    subprocess.run(["cargo", "xtask", "build"], cwd=ROOT, check=True)
    facts = project()
    wheel = Wheel(pathlib.Path(wheel_directory), facts, platform_tag(installed(FILES)))
    for name, path in zip(FILES, installed(FILES)):
        wheel.add(f"{wheel.stem}.data/data/{name}", stripped(path), path.stat().st_mode)
    for name, subcommand in NAMES.items():
        wheel.add(f"{wheel.stem}.data/data/bin/{name}", SCRIPT.format(subcommand).encode(), 0o100755)
    for path in sorted((ROOT / "python/postrider").glob("*.py")):
        wheel.add(f"postrider/{path.name}", path.read_bytes(), 0o100644)
    return wheel.close(facts)


def project():
    """Name, version and the rest of what pyproject.toml says that a wheel repeats. Python 3.9 has no parser for it."""
    text = (ROOT / "pyproject.toml").read_text()
    facts = dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))
    extras = text.partition("[project.optional-dependencies]")[2]
    facts["extras"] = re.findall(r"^([a-z]+) = \[(.*)\]$", extras, re.MULTILINE)
    return facts


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
        self.stem = f"{facts['name']}-{facts['version']}"
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
        metadata = "Metadata-Version: 2.1\n"
        metadata += f"Name: {facts['name']}\nVersion: {facts['version']}\nSummary: {facts['description']}\n"
        metadata += f"License: {facts['license']}\nRequires-Python: {facts['requires-python']}\n"
        for extra, packages in facts["extras"]:
            metadata += f"Provides-Extra: {extra}\n"
            for package in re.findall(r'"(.*?)"', packages):
                metadata += f'Requires-Dist: {package}; extra == "{extra}"\n'
        metadata += "Description-Content-Type: text/markdown\n\n" + (ROOT / "README.md").read_text()
        generator = f"Wheel-Version: 1.0\nGenerator: postrider\nRoot-Is-Purelib: false\nTag: {self.tag}\n"
        self.add(f"{about}/METADATA", metadata.encode(), 0o100644)
        self.add(f"{about}/WHEEL", generator.encode(), 0o100644)
        for licence in sorted(ROOT.glob("LICENSE-*")):
            self.add(f"{about}/licenses/{licence.name}", licence.read_bytes(), 0o100644)
        self.add(f"{about}/RECORD", ("".join(self.records) + f"{about}/RECORD,,\n").encode(), 0o100644)
        self.archive.close()
        return self.name
