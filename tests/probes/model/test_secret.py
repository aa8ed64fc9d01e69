"""A process that holds a password gives its memory to nobody."""

import subprocess
import sys

import pytest

_PROGRAM = """
import ctypes, resource
from benchconsole.probes.model.secret import keep_out_of_dumps
kernel = ctypes.CDLL(None)
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
before = kernel.prctl(3, 0, 0, 0, 0)
keep_out_of_dumps()
print(before, kernel.prctl(3, 0, 0, 0, 0), *resource.getrlimit(resource.RLIMIT_CORE))
"""


@pytest.mark.fault("F43")
def test_the_memory_of_a_process_with_a_secret_is_in_no_core_file() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "1 0 0 0\n"
