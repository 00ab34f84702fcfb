"""Programs and their files, plain and with libpostrider_overlap.so: the same output, the same end, the same bytes.

    python3 tests/overlap/files.py INSTALLATION SLOWFS FOLDER

On this machine's disk, where a variable has the layer defer what is fast, and, where file systems can be mounted, on a slow one (SLOWFS is the
program `postrider-slowfs`), where the layer decides for itself, and on one that is full.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import slow

HERE = pathlib.Path(__file__).parent
INSTALLATION, SLOWFS, FOLDER = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LIBRARY = INSTALLATION / "lib/libpostrider_overlap.so"
PROGRAM = FOLDER / "files"
STREAMS = FOLDER / "streams"
ALWAYS = {"POSTRIDER_OVERLAP_FILES": "always"}
SCENARIOS = ["rows", "elements", "vectors", "looked-at", "children", "twice", "shared", "again", "many", "refused", "around"]
SCENARIOS += ["streams", "wide", "stream-ends"]
ROW_BYTES = 8192

COPIES = "head -c 3000000 /dev/urandom > a; dd if=a of=b bs=1000 2>/dev/null; cp b c; cmp a c && rm a b c"
FOREIGN = {
    "dd": "yes postrider | head -c 2000000 > in; dd if=in of=out bs=777 status=none; dd if=in of=out2 bs=64 seek=10 status=none",
    "cp": COPIES,
    "sort": "seq 40000 | sort -r -S 100k -T . > sorted; sort -n -o sorted sorted; tail -n 1 sorted",
    "tar": "mkdir d; seq 50000 > d/x; cp d/x d/y; touch -d 2001-01-01 d/x; tar -cf t.tar --mtime=2001-01-01 --owner=0 --group=0 d; "
    "mkdir e; tar -xf t.tar -C e; stat -c %Y e/d/x; rm t.tar",
    "sqlite3": "sqlite3 base 'create table t(a); insert into t select value from generate_series(1,5000);' "
    "'update t set a = a + 1;' 'select sum(a) from t;'",
    "git": "git init -q -b main r; cd r; seq 30000 > f; git add f; git -c user.name=a -c user.email=b commit -qm x; git gc -q; "
    "git fsck; git show --stat --format=%s; cd ..; rm -rf r",
    "python3": "python3 -c \"\nimport os\nwith open('text', 'w') as f:\n  for i in range(30000): f.write(str(i))\n"
    "print(os.path.getsize('text'))\nwith open('text', 'r+b') as f:\n  f.seek(100); f.write(b'abc'); f.seek(0); print(f.read(110))\n\"",
}

failed = []
passed = 0


def check(what, holds, detail=""):
    global passed
    if holds:
        passed += 1
    else:
        failed.append(what)
        print(f"{what}: {detail}")


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def run(command, folder, variables, layer):
    """Runs a command in a new folder; returns how it ended, what it said and what it left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    environment = dict(os.environ, POSTRIDER_OVERLAP="files", **variables)
    if layer:
        environment["LD_PRELOAD"] = str(LIBRARY)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False)
    left = contents(folder)
    shutil.rmtree(folder)
    return done.returncode, done.stdout, done.stderr, left


def alike(what, command, place, variables):
    plain = run(command, place / "tried", variables, layer=False)
    layered = run(command, place / "tried", variables, layer=True)
    names = ["exit code", "output", "errors", "files"]
    wrong = [name for name, one, other in zip(names, plain, layered) if one != other]
    shown = [part if index < 3 else {name: len(data) for name, data in part.items()} for index, part in enumerate(layered)]
    check(what, not wrong, f"{wrong} differ: {plain[:3]} and {shown}")


def differential(place, name, variables):
    for scenario in SCENARIOS:
        alike(f"{scenario} on {name}", [PROGRAM, scenario], place, variables)
    alike(f"streams of C++ on {name}", [STREAMS], place, variables)
    for tool, script in FOREIGN.items():
        if shutil.which(tool):
            alike(f"{tool} on {name}", ["sh", "-c", script], place, variables)


def reported(place, scenario, name, variables):
    """What the report says of a file of a scenario."""
    report = FOLDER / "report"
    for old in FOLDER.glob("report.*"):
        old.unlink()
    run([PROGRAM, scenario], place / "tried", dict(variables, POSTRIDER_OVERLAP_REPORT=str(report)), layer=True)
    (path,) = FOLDER.glob("report.*")
    (file,) = [file for file in json.loads(path.read_text())["files"] if file["path"].endswith("/" + name)]
    path.unlink()
    return file


def is_deferred(place, name, variables):
    """The layer does something at all, and its report says what."""
    file = reported(place, "rows", "rows", variables)
    good = file["calls"] == 64 and file["deferred"] > 50 and file["system_calls"] < 10 and file["plain"] is None
    check(f"report on {name}", good, file)
    file = reported(place, "streams", "left open", variables)
    check(f"report of a stream on {name}", file["calls"] > 20 and file["deferred"] > file["calls"] / 2, file)


def killed(place, name, variables):
    """A process that is killed leaves what it had written at some moment."""
    chance = random.Random(21)
    for number in range(12):
        folder = place / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        environment = dict(os.environ, LD_PRELOAD=str(LIBRARY), POSTRIDER_OVERLAP="files", **variables)
        scenario = ["endless", "endless-stream"][number % 2]
        process = subprocess.Popen([PROGRAM, scenario], cwd=folder, env=environment)
        try:
            process.wait(chance.uniform(0.02, 0.3))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        path = folder / "endless"
        data = path.read_bytes() if path.exists() else b""
        whole = b"".join(
            bytes((row * 31 + i * 7) & 255 for i in range(256)) * (ROW_BYTES // 256)
            for row in range(-(-len(data) // ROW_BYTES))
        )
        check(f"killed, {number}, on {name}", data == whole[: len(data)], f"{len(data)} bytes are no beginning")
        shutil.rmtree(folder)


def full(place):
    """A full disk is told by the call that it is full for, and what was told to be written is there."""
    mounted = place / "full"
    mounted.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", mounted]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        print("no file system can be mounted: without a full disk")
        return
    try:
        alike("full disk", [PROGRAM, "endless"], mounted, ALWAYS)
        alike("full disk for a stream", [PROGRAM, "endless-stream"], mounted, ALWAYS)
    finally:
        subprocess.run(["umount", mounted], check=True)


def on_slow(folder):
    """On a slow file system, where nothing is forced."""
    with slow.mounted(SLOWFS, folder, 500) as place:
        if place is None:
            return
        for scenario in SCENARIOS:
            alike(f"{scenario} on a slow one", [PROGRAM, scenario], place, {})
        alike("streams of C++ on a slow one", [STREAMS], place, {})
        is_deferred(place, "a slow one", {})
        killed(place, "a slow one", {})


def failing(folder):
    """A file system that fails in the middle is told, by a later call or by the end of the process, and what came before is there."""
    for scenario in ["endless", "endless-stream", "rows"]:
        with slow.mounted(SLOWFS, folder, 200, "--fail-after", "300000") as place:
            if place is None:
                return
            code, said, complaint, left = run([PROGRAM, scenario], place / "tried", {}, layer=True)
        told = b"Input/output error" in said + complaint
        data = left.get("rows", left.get("endless", b""))
        whole = b"".join(
            bytes((row * 31 + i * 7) & 255 for i in range(256)) * (ROW_BYTES // 256)
            for row in range(-(-len(data) // ROW_BYTES))
        )
        # A block of a mebibyte that has no room fails as a whole: only the first, plain calls are sure to be there.
        good = code != 0 and told and ROW_BYTES < len(data) <= 300000 and data == whole[: len(data)]
        check(f"{scenario} on a file system that fails", good, f"{code}, {said}, {complaint}, {len(data)} bytes")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O1", "-Wall", "-o", PROGRAM, HERE / "programs/files.c"], check=True)
    subprocess.run(["c++", "-O1", "-Wall", "-o", STREAMS, HERE / "programs/streams.cc"], check=True)
    differential(FOLDER, "a disk, forced", ALWAYS)
    differential(FOLDER, "a disk", {})
    is_deferred(FOLDER, "a disk, forced", ALWAYS)
    killed(FOLDER, "a disk, forced", ALWAYS)
    full(FOLDER)
    on_slow(FOLDER)
    failing(FOLDER)
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(bool(failed))


main()
