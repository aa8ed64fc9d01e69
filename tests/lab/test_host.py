"""Identities of processes: exactly the one that was meant is signalled."""

import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest

from tests.lab.host import Identity, stat_fields


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def identify(pid: int) -> Identity:
    fields = stat_fields(pid)
    assert fields is not None
    return Identity(pid, int(fields[19]))


def test_a_process_is_signalled(child: subprocess.Popen[bytes]) -> None:
    identify(child.pid).signal(signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM


def test_a_later_process_of_the_same_number_is_not_signalled(child: subprocess.Popen[bytes]) -> None:
    Identity(child.pid, identify(child.pid).start - 1).signal(signal.SIGTERM)
    child.communicate()
    assert child.returncode == 0


def test_a_process_that_is_gone_is_no_error(child: subprocess.Popen[bytes]) -> None:
    gone = identify(child.pid)
    child.kill()
    child.wait()
    gone.signal(signal.SIGKILL)


def test_a_number_that_a_thread_has_by_now_is_no_error() -> None:
    ends = threading.Event()
    thread = threading.Thread(target=ends.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        Identity(thread.native_id, 1).signal(signal.SIGKILL)
    finally:
        ends.set()
        thread.join()
