"""Compares the modules and the library with the description of MPI 5.0 that the package pympistandard brings.

Each function that has a form in Fortran has to be in the modules, with the same arguments in the same order and, in mpi_f08, with the same INTENT,
and all its names have to be in the library. `standard.py INSTALLATION`; the last line says how many are right.
"""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

# Where the modules are right and the description is not: the buffer of a receive is written.
OTHERWISE = {("mpi_precv_init", "buf"), ("pmpi_precv_init", "buf")}
# In the module mpi they have a descriptor, or other names.
WITH_DESCRIPTOR = {"mpi_sizeof", "pmpi_sizeof"}


def described():
    origin = importlib.util.find_spec("pympistandard").origin
    return json.loads(pathlib.Path(origin).with_name("data").joinpath("apis.json").read_text())


def interfaces(path):
    """The subroutines and functions of a module: name in small letters, and arguments with their INTENT."""
    found = {}
    text = re.sub(r"&\s*\n\s*", "", path.read_text())
    pattern = r"^ *(?:[\w() =]*? )?(?:subroutine|function) (\w+)\(\s*(.*?)\)(?: bind[^\n]*)?\n(.*?)^ *end (?:subroutine|function)"
    for name, arguments, body in re.findall(pattern, text, re.M | re.S):
        intents = dict.fromkeys(arguments.replace(" ", "").split(",") if arguments.strip() else [])
        for attributes, names in re.findall(r"^ *([^!\n]*?)::(.*)$", body, re.M):
            intent = re.search(r"intent\((\w+)\)", attributes)
            for argument in re.findall(r"(\w+)(?:\([^)]*\))?", names):
                if argument in intents and intent:
                    intents[argument] = intent[1]
        found[name.lower()] = intents
    return found


def expected(function, form):
    """The arguments that the standard has, with their INTENT."""
    intents = {}
    for one in function["parameters"]:
        if f"{form}_parameter" in one["suppress"] or one["kind"] == "VARARGS":
            continue
        direction = one["param_direction"]
        open_ = (
            "f08_intent" in one["suppress"]
            or one["kind"] == "STATUS" and direction == "out"
            or one["kind"] == "BUFFER" and direction != "in"
            or one["kind"] in ("FUNCTION", "POLYFUNCTION")
        )
        intents[one["name"]] = None if open_ else direction
    return intents


def compare(installation):
    folder = installation / "share/postrider/fortran"
    modern, old = interfaces(folder / "mpi_f08.f90"), interfaces(folder / "mpi.f90")
    listing = subprocess.run(["nm", "-D", "--defined-only", installation / "lib/libmpifort_abi.so.1"], capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in listing.stdout.splitlines()}
    right, wrong = 0, []
    for key, function in described().items():
        attributes = function["attributes"]
        if attributes["callback"] or attributes["predefined_function"]:
            wanted = [f"{key}_"] if attributes["predefined_function"] else []
            wrong += [f"{name} is not in the library" for name in wanted if name not in exported]
            right += len(wanted)
            continue
        forms = [("f08", modern, ["_f08", "_f08ts"])] * attributes["f08_expressible"]
        forms += [("f90", old, [""])] * attributes["f90_expressible"]
        is_large = any(one["kind"].startswith("POLY") for one in function["parameters"])
        for form, module, endings in forms:
            for prefix in ["", "p"]:
                for twin in ["", "_c"][: 1 + (is_large and form == "f08")]:
                    problems = check(function, form, module, [f"{prefix}{key}{twin}{ending}" for ending in endings], exported, twin)
                    wrong += problems
                    right += not problems
    return right, wrong


def check(function, form, module, names, exported, twin):
    name = next((name for name in names if name in module), None)
    if name is None:
        return [f"{names[0]} is not in the module"]
    problems = []
    if f"{name}_" not in exported and name not in WITH_DESCRIPTOR:
        problems.append(f"{name}_ is not in the library")
    found, wanted = module[name], expected(function, form)
    wanted = {key: intent for key, intent in wanted.items() if twin or not large_only(function, key)}
    if list(found) != [key.replace("ierr", "ierror") if key == "ierr" else key for key in wanted]:
        problems.append(f"{name} has the arguments {list(found)}, the standard {list(wanted)}")
    elif form == "f08":
        plain = re.sub("_f08(ts)?$", "", name)
        pairs = [(key, found[key], wanted[key]) for key in wanted if (plain, key) not in OTHERWISE and key != "ierror"]
        problems += [f"{name}: {key} has INTENT {one}, the standard {other}" for key, one, other in pairs if one != other and other]
    return problems


def large_only(function, key):
    return any(one["name"] == key and one["large_only"] for one in function["parameters"])


if __name__ == "__main__":
    counted, differences = compare(pathlib.Path(sys.argv[1]))
    print(*differences, sep="\n")
    print(f"{counted} passed, {len(differences)} failed")
    sys.exit(bool(differences))
