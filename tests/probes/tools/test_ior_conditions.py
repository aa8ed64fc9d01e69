"""The conditions of IOR and mdtest by their command lines: set, at the default, or unknown."""

import pytest

from benchconsole.probes.api import Output, Target
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.ior import conditions as ior
from benchconsole.probes.tools.ior.probe import Ior
from benchconsole.probes.tools.mdtest import conditions as mdtest
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node
from tests.probes.tools.captures import output, text

_ALWAYS = {"barriers": "0", "pattern": "sequential", "segments": "1"}
_DEFAULT = _ALWAYS | {"direct": "0", "end_fsync": "0"}


@pytest.mark.parametrize(
    ("command", "labels"),
    [
        ("ior -w", _DEFAULT),
        ("ior -w -e", _DEFAULT | {"end_fsync": "1"}),
        ("ior -w -Y", _DEFAULT | {"fsync": "1"}),
        ("ior -w -B -g", _DEFAULT | {"direct": "1", "barriers": "1"}),
        ("ior -w --posix.odirect", _DEFAULT | {"direct": "1"}),
        ("ior -w --mpiio.showHints", _DEFAULT),
        ("ior -w -O summaryFormat=JSON,summaryFile=-", _DEFAULT),
        ("ior -vvv -w", _DEFAULT),
        ("ior -w -s 16 -z -D 30", _DEFAULT | {"segments": "16", "pattern": "random", "stonewall": "30"}),
        ("ior -w -D 0 -R", _DEFAULT),
        ("ior -w -O useO_DIRECT=1", {}),
        ("ior -f script", {}),
        ("ior -we", {}),
        ("ior -w -l random", {}),
        ("ior", {}),
        ("", {}),
    ],
)
def test_the_command_line_of_ior(command: str, labels: dict[str, str]) -> None:
    assert ior.read_command(command).label("write", "POSIX") == labels


@pytest.mark.parametrize(
    ("command", "api", "labels"),
    [
        ("ior -r", "MPIIO", {"method": "independent"}),
        ("ior -r -c", "MPIIO", {"method": "collective"}),
        ("ior -r -c -e", "POSIX", {"direct": "0"}),
        ("ior -r -c", None, {}),
    ],
)
def test_what_an_interface_does_not_know_is_no_label(command: str, api: str | None, labels: dict[str, str]) -> None:
    assert ior.read_command(command).label("read", api) == _ALWAYS | labels


def test_data_that_are_checked_while_they_are_read_are_told() -> None:
    """Up to 3.1 the check is a phase after the reading (``IOR.c``, ``TestIoSys``), and in no number."""
    checked = text("ior/real-3.2.1.txt").replace("ior -t 1m", "ior -R -t 1m")
    before = checked.replace("Command line        :", "Command line used:")
    for capture, verify in ((checked, {("read", "1"), ("write", None)}), (before, {("read", None), ("write", None)})):
        marks = [dict(one.labels) for one in Ior().parse(Output((), capture.encode()))]
        assert {(one["operation"], one.get("verify")) for one in marks} == verify


@pytest.mark.parametrize(
    ("key", "value", "labels"),
    [
        ("stonewallingTime", "30", {"stonewall": "30"}),
        ("stonewallingTime", "0", {}),
        ("ordering inter file", "no tasks offsets", {"reorder": "0"}),
        ("ordering inter file", "constant task offset", {"reorder": "1"}),
        ("ordering inter file", "constant task offsets = 1", {"reorder": "1"}),
        ("ordering inter file", "random task offsets >= 1, seed=0", {"reorder": "random"}),
        ("ordering inter file", "another", {}),
        ("ordering in a file", "random offsets", {"pattern": "random"}),
        ("pattern", "strided (16 segments)", {"segments": "16"}),
        ("segments", "x", {}),
    ],
)
def test_the_header_of_ior(key: str, value: str, labels: dict[str, str]) -> None:
    assert ior.read_statement(key, value) == labels


_TREE = {"access": "shared-directory", "barriers": "1", "depth": "0", "branch": "1"}


@pytest.mark.parametrize(
    ("command", "item", "operation", "labels"),
    [
        ("mdtest -n 10", "file", "create", _TREE | {"bytes": "0B", "end_fsync": "0"}),
        ("mdtest -n 10 -w 3901 -y", "file", "create", _TREE | {"bytes": "3901B", "end_fsync": "1"}),
        ("mdtest -n 10 -w 1k -e 4k -N 1", "file", "read", _TREE | {"bytes": "4KiB", "reorder": "1"}),
        ("mdtest -n 10 -N 0", "file", "stat", _TREE | {"reorder": "0"}),
        ("mdtest -n 10 -R", "directory", "stat", _TREE | {"reorder": "random"}),
        ("mdtest -n 10 -u -B -z 2 -b 8", "directory", "create",
         {"access": "unique-directory", "barriers": "0", "depth": "2", "branch": "8"}),
        ("mdtest -n 10 -w x", "file", "create", _TREE | {"end_fsync": "0"}),
        ("mdtest -n 10", "tree", "remove", _TREE),
        ("mdtest -n 10 -uB", "file", "create", {}),
        ("mdtest -n 10 -R=7", "file", "stat", {}),
        ("", "file", "stat", {}),
    ],
)  # fmt: skip
def test_the_command_line_of_mdtest(command: str, item: str, operation: str, labels: dict[str, str]) -> None:
    assert mdtest.read_command(command).label(item, operation) == labels


@pytest.mark.parametrize(("memory", "share"), [(2.0**30, "100.00 %"), (2.0**31, "50.00 %"), (None, None)])
def test_the_bytes_of_all_tasks_are_a_share_of_the_memory(memory: float | None, share: str | None) -> None:
    bare = a_node()
    facts = {} if memory is None else {"memory.total": memory}
    node: Node = replace(bare, hardware=replace(bare.hardware, facts=facts))
    reading = Ior().parse(output("ior/3.3.0.txt"))[0]  # 32 tasks of one segment of 32 MiB
    assert dict(Ior().conditions(reading, Target(node))).get("memory_share") == share
