"""A slow file system for tests."""

import contextlib
import subprocess


@contextlib.contextmanager
def mounted(slowfs, place, delay_us, *options):
    """The directory of a file system at which each request waits so long, or None where none can be mounted."""
    source, target = place / "slow-source", place / "slow"
    for folder in (source, target):
        folder.mkdir(exist_ok=True)
    command = [slowfs, source, target, "--delay-us", str(delay_us), "--until-input-ends", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if not server.stdout.readline():
            print("no file system can be mounted: without a slow one")
            yield None
            return
        yield target
        server.stdin.close()
        server.wait(30)
