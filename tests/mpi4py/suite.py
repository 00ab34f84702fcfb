"""mpi4py's own test suite on one rank of a job: `suite.py TESTS RECORDS SECONDS [option of TESTS/main.py]...`

TESTS is the folder of the suite. What becomes of each test goes into a file of its own for each rank in the folder RECORDS,
a JSON object a line, because ranks that share an output cannot be told apart there and a rank that dies has no
last word. A test that takes longer than SECONDS hangs: the rank prints where it is and ends, and the
launcher ends the others, which then print where they are.
"""

import faulthandler
import json
import os
import signal
import sys
import unittest


def main():
    tests, records, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    del sys.argv[1:4]
    sys.dont_write_bytecode = True
    sys.path.insert(0, tests)
    faulthandler.enable()
    faulthandler.register(signal.SIGTERM, chain=True)
    suite = __import__("main")
    set_up = suite.setup_unittest
    classes = Classes()

    def set_up_with_classes(options):
        set_up(options)
        classes.replace()

    suite.setup_unittest = set_up_with_classes
    try:
        suite.TestProgram(module=None, testRunner=Runner(records, seconds, classes))
    except SystemExit as end:
        # Failures are in the records. The exit code only says whether the rank came to its end.
        if end.code not in (0, 1):
            raise


class Classes:
    """While two modules of the suite are imported they create a session and open a file, and ask by NotImplementedError
    whether they can test that; with any other error they cannot be imported. mpi4py raises it for functions that a
    library does not have. As long as modules are imported, it is raised for those that are not supported, too.
    """

    def replace(self):
        from mpi4py import MPI

        self.real = {"Session": MPI.Session, "File": MPI.File}
        MPI.Session = self.asking(MPI.Session, "Init")
        MPI.File = self.asking(MPI.File, "Open")

    def restore(self):
        from mpi4py import MPI

        for name, kind in self.real.items():
            setattr(MPI, name, kind)

    @staticmethod
    def asking(kind, name):
        from mpi4py import MPI

        function = getattr(kind, name)

        def call(*arguments):
            try:
                return function(*arguments)
            except MPI.Exception as error:
                if error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION:
                    raise NotImplementedError(f"{kind.__name__}.{name}") from error
                raise

        return type(kind.__name__, (kind,), {name: staticmethod(call)})


class Runner:
    """Runs the tests that the suite has collected; by then mpi4py has been imported, so the rank is known."""

    def __init__(self, records, seconds, classes):
        self.records, self.seconds, self.classes = records, seconds, classes

    def run(self, tests):
        from mpi4py import MPI

        self.classes.restore()
        name = os.path.join(self.records, f"{MPI.COMM_WORLD.Get_rank()}.jsonl")
        with open(name, "w", buffering=1, encoding="utf-8") as file:
            result = Record(file, self.seconds)
            tests.run(result)
        return result


class Record(unittest.TestResult):
    """Writes a line when a test begins and one when its outcome is known."""

    def __init__(self, file, seconds):
        super().__init__()
        self.file, self.seconds = file, seconds

    def write(self, test, outcome, text=""):
        self.file.write(json.dumps({"test": test.id(), "outcome": outcome, "text": text}) + "\n")

    def startTest(self, test):
        super().startTest(test)
        self.write(test, "started")
        faulthandler.dump_traceback_later(self.seconds, exit=True)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        super().stopTest(test)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.write(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.write(test, "failed", self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.write(test, "failed", self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.write(test, "failed", f"{subtest}\n{self._exc_info_to_string(err, test)}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.write(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.write(test, "passed")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.write(test, "failed", "it was expected to fail")


if __name__ == "__main__":
    main()
