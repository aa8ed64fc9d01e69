"""The messages of a failing mpirun, taken down from Open MPI 4.1.4 in the laboratory; its advice is cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.launch import Job
from benchconsole.probes.launch.launch_result import failure, useful_line
from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.testing import a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node

RULE = "-" * 74


def _node(index: int) -> Node:
    return replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}")


JOB = Job((_node(1), _node(2), _node(3)), ("hpcc",), 3, 20.0)

ROOT = f"{RULE}\nmpirun has detected an attempt to run as root.\n\nRunning as root is *strongly* discouraged as any mistake\n"
SLOTS = f"{RULE}\nThere are not enough slots available in the system to satisfy the 3\nslots that were requested by the application:\n"
TIME = f"{RULE}\nThe user-provided time limit for job execution has been reached:\n\n  Timeout: 20 seconds\n"
DAEMON = f"""{RULE}
ORTE has lost communication with a remote daemon.

  HNP daemon   : [[35093,0],0] on node n1
  Remote daemon: [[35093,0],2] on node 10.0.0.3

This is usually due to either a failure of the TCP network
"""
RANK = f"{RULE}\nmpirun noticed that process rank 1 with PID 0 on node n2 exited on signal 9 (Killed).\n{RULE}\n"
PROGRAM = f"""{RULE}
mpirun was unable to find the specified executable file, and therefore
did not launch the job.  This error was first reported for process
rank 1; it may have occurred for other processes as well.

Node:       n2
Executable: hpcc
{RULE}
"""
NO_HOST = f"ssh: connect to host 10.0.0.3 port 22: No route to host\n{RULE}\nORTE was unable to reliably start one or more daemons.\n"
NO_KEY = f"Host key verification failed.\n{RULE}\nORTE was unable to reliably start one or more daemons.\n"
NO_LOGIN = (
    f"bench@10.0.0.2: Permission denied (publickey).\n{RULE}\nORTE was unable to reliably start one or more daemons.\n"
)
NO_ORTED = f"bash: line 1: orted: command not found\n{RULE}\nORTE was unable to reliably start one or more daemons.\n"
NO_MODULE = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'mpi4py'\n"


@pytest.mark.parametrize(
    ("status", "said", "stage", "node", "words"),
    [
        (1, ROOT, FailedAt.REFUSED, "n1", "as_root=1"),
        (1, SLOTS, FailedAt.TOOL, "n1", "not enough slots available"),
        (110, TIME, FailedAt.TIMEOUT, "n1", "no end within 20 s"),
        (205, DAEMON, FailedAt.LOST, "n3", "lost its daemon there"),
        (137, RANK, FailedAt.KILLED, "n2", "process rank 1 with PID 0 on node n2 exited on signal 9"),
        (137, "", FailedAt.KILLED, "n1", "mpirun was killed"),
        (134, PROGRAM, FailedAt.MISSING_TOOL, "n2", "hpcc is not installed"),
        (127, NO_ORTED, FailedAt.MISSING_TOOL, "n1", "orted is not on the PATH"),
        (127, "benchconsole: mpirun: command not found\n", FailedAt.MISSING_TOOL, "n1", "mpirun is not installed"),
        (255, NO_HOST, FailedAt.UNREACHABLE, "n3", "ssh from n1: ssh: connect to host 10.0.0.3 port 22: No route to host"),
        (255, NO_KEY, FailedAt.LOGIN, "n1", "ssh from n1: Host key verification failed."),
        (255, NO_LOGIN, FailedAt.LOGIN, "n2", "ssh from n1: bench@10.0.0.2: Permission denied (publickey)."),
        (1, NO_MODULE, FailedAt.MISSING_TOOL, "n1", "python3 has no mpi4py"),
        (3, f"{RULE}\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per\n", FailedAt.TOOL, "n1", "exit status 3: rates"),
        (7, "out of cheese\n", FailedAt.TOOL, "n1", "exit status 7: out of cheese"),
    ],
)  # fmt: skip
def test_an_end_is_classified_with_its_node_and_its_useful_line(
    status: int, said: str, stage: FailedAt, node: str, words: str
) -> None:
    found = failure(Output(("sh",), b"rates\n", said.encode(), status), JOB)

    assert found is not None
    assert (found.stage, found.node) == (stage, node)
    assert words in found.detail


def _ignored(node: str, value: str) -> str:
    return (
        f"{RULE}\nWARNING: An invalid value was given for btl_tcp_if_include.  This\nvalue will be ignored.\n\n"
        f"  Local host: {node}\n  Value:      {value}\n  Message:    Did not find interface matching this subnet\n{RULE}\n"
    )


@pytest.mark.fault("X08")
def test_exit_status_0_on_another_network_is_a_failure() -> None:
    found = failure(Output(("sh",), b"rates\n", _ignored("n2", JOB.rails.data).encode(), 0), JOB)

    assert found is not None
    assert (found.stage, found.node) == (FailedAt.TOOL, "n2")
    assert "the payload may have taken another" in found.detail


def test_of_several_networks_a_node_needs_one_only() -> None:
    nodes = tuple(replace(a_node(f"n{i}", f"10.1.1.{i}"), data_address=f"10.1.{2 * i - 2}.1") for i in (1, 2))
    job = Job(nodes, ("hpcc",), 2, 20.0)
    first, second = job.rails.data.split(",")

    assert failure(Output((), b"", (_ignored("n1", second) + _ignored("n2", first)).encode(), 0), job) is None
    both = failure(Output((), b"", (_ignored("n2", second) + _ignored("n2", first)).encode(), 0), job)
    assert both is not None
    assert both.node == "n2"


def test_a_good_end_is_no_failure_whatever_else_was_said() -> None:
    assert failure(Output((), b"rates\n", b"mpirun: Forwarding signal 18 to job\n", 0), JOB) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{RULE}\n\n[n1:01010] 1 more process has sent help message x\nit broke\n", "it broke"),
        ("Traceback (most recent call last):\n  File\nValueError: bad\n", "ValueError: bad"),
        ("\x1b[31mred\n", "[31mred"),
        ("", ""),
    ],
)
def test_the_first_line_of_use(text: str, line: str) -> None:
    assert useful_line(text) == line


@settings(max_examples=60)
@given(st.binary(max_size=300), st.integers(1, 255))
def test_whatever_it_says_a_failed_end_is_a_failure_of_one_of_its_nodes(said: bytes, status: int) -> None:
    found = failure(Output((), b"", said, status), JOB)

    assert found is not None
    assert found.node in ("n1", "n2", "n3")
    assert found.detail.isprintable()
