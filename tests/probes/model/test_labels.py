"""A measurement says what it was asked for, and is none where its tool did something else."""

from types import MappingProxyType

import pytest

from benchconsole.probes.api import ProbeOutputError, Reading, Target, Unit, labels
from benchconsole.probes.model.labels import add_labels, tell_labels
from benchconsole.probes.testing import a_node
from benchconsole.topology.copying import replace

ASKED = Target(
    a_node(), options=MappingProxyType({"tasks": 4, "block": "1 MiB", "pattern": "randrw", "rate": "8 Gb/s"})
)


def read(target: Target, **said: object) -> dict[str, str]:
    found = add_labels(Reading("ior.write", 1.0, Unit.BYTE_RATE, labels(**said)), target)
    assert list(found.labels) == sorted(found.labels)
    return dict(found.labels)


def asked(**names: str) -> Target:
    return replace(ASKED, labels=tuple(sorted(names.items())))


def test_what_was_asked_for_is_said_beside_what_was_read() -> None:
    assert read(asked(tasks="4", kind="virtual"), operation="write") == {
        "operation": "write", "tasks": "4", "kind": "virtual"
    }  # fmt: skip
    assert read(ASKED, operation="write") == {"operation": "write"}


@pytest.mark.parametrize(
    ("name", "wanted", "said"),
    [
        ("tasks", "4", "4"),
        ("tasks", "4", "4.0"),
        ("block", "1 MiB", "1048576"),
        ("block", "1 MiB", "1024 KiB"),
        ("rate", "8 Gb/s", "1 GB/s"),
        ("block", "100 MB", "95.37MiB"),
        ("block", "2 GB", "1.86GiB"),
        ("pattern", "randrw", "RandRW "),
    ],
)
def test_the_words_of_the_parser_stay_where_they_say_the_same(name: str, wanted: str, said: str) -> None:
    assert read(asked(**{name: wanted}), **{name: said}) == {name: said}


@pytest.mark.parametrize(
    ("name", "wanted", "said"),
    [
        ("tasks", "4", "2"),
        ("block", "1 MiB", "1000000"),
        ("block", "1 MiB", "1 MB"),
        ("block", "1 MiB", "1 MiB/s"),
        ("block", "100 MB", "95.36MiB"),
        ("block", "100 MB", "95MiB"),
    ],
)
def test_another_number_than_the_tool_was_told_is_no_measurement(name: str, wanted: str, said: str) -> None:
    with pytest.raises(ProbeOutputError, match=rf"found ior.write with {name}={said}, expected {name}={wanted}"):
        read(asked(**{name: wanted}), **{name: said})


def test_other_words_stand_beside_what_was_asked_for() -> None:
    assert read(asked(pattern="randrw"), pattern="random") == {"pattern": "random", "asked pattern": "randrw"}
    assert read(asked(block="1 MiB"), block="1m") == {"block": "1m", "asked block": "1 MiB"}


def test_what_the_tool_was_not_told_keeps_its_name() -> None:
    assert read(asked(clients="8"), clients=1) == {"clients": "8", "own clients": "1"}
    assert read(asked(kind="virtual"), kind="virtual") == {"kind": "virtual"}
    assert read(asked(kind="virtual"), kind="ext4") == {"kind": "virtual", "own kind": "ext4"}
    of_set = replace(asked(clients="8"), members=(a_node("n1"), a_node("n2")))
    with pytest.raises(ProbeOutputError, match="clients=4"):
        read(of_set, clients=4)


def test_a_label_that_looks_like_a_number_is_told_with_its_name() -> None:
    assert list(tell_labels(labels(block="4KiB", direct=0, pattern="random"))) == ["block=4KiB", "direct=0", "random"]


def test_nothing_but_the_labels_changes() -> None:
    reading = Reading("ior.write", 1.0, Unit.BYTE_RATE, labels(operation="write"), "1 B/s", "t#0", 7.0)
    assert add_labels(reading, asked(tasks="4")) == replace(reading, labels=labels(operation="write", tasks="4"))
