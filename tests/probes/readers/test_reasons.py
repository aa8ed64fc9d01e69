import pytest

from benchconsole.probes.api import Output
from benchconsole.probes.readers.reasons import find_reason

SLOTS = """--------------------------------------------------------------------------
There are not enough slots available in the system to satisfy the 4
slots that were requested by the application:

  hpcc

Either request fewer procs for your application, or make more slots
available for use.
--------------------------------------------------------------------------
"""
MIDDLE = "available in the system to satisfy the 4 slots that were requested"
NEITHER = """iperf3: parameter error - must either be a client (-c) or server (-s)

Usage: iperf3 [-s|-c host]
  -p, --port  server port
  -f  format, an error if unknown
"""
ABORT = """hpl: cannot open HPL.dat
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[1234,1],0]
  Exit code:    1
--------------------------------------------------------------------------
"""


@pytest.mark.parametrize(
    ("errors", "text", "reason"),
    [
        (SLOTS, "", f"There are not enough slots {MIDDLE} by the application:"),
        (ABORT, "", "hpl: cannot open HPL.dat"),
        (NEITHER, "", "iperf3: parameter error - must either be a client (-c) or server (-s)"),
        ("usage: tool [-h]\n            [--size N]\ntool: error: argument --size: invalid int value: 'x'\n", "",
         "tool: error: argument --size: invalid int value: 'x'"),
        ("dd: unrecognized operand 'x'\nTry 'dd --help' for more information.\n", "", "dd: unrecognized operand 'x'"),
        ("", "starting\nFATAL: Cannot open file 'test_file.0' errno = 2\ndone\n",
         "FATAL: Cannot open file 'test_file.0' errno = 2"),
        ("loading\n", "FATAL: no data\n", "FATAL: no data"),
        ("first\nlast words\n", "1 2 3\n", "last words"),
        ("", "one\ntwo\n", "two"),
        ("\x1b[31merror: red\x1b[0m\n", "", "error: red"),
        ("", "", ""),
        ("-----------\n", "=========\n", ""),
        ("Usage: tool [options]\n  -x  fail early\n", "", ""),
    ],
)  # fmt: skip
def test_the_reason_is_the_sentence_of_the_tool(errors: str, text: str, reason: str) -> None:
    assert find_reason(Output((), text.encode(), errors.encode(), 1)) == reason


def test_a_long_reason_is_one_short_line() -> None:
    assert len(find_reason(Output((), b"", b"error: " + 100_000 * b"x\ty "))) <= 160
    assert find_reason(Output((), b"", b"\n" * 500_000 + b"error: at the end\n")) == "error: at the end"
