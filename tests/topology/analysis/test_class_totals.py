"""Totals over node classes: known only where every class declares its part."""

from pathlib import Path

import pytest

from benchconsole.topology.analysis.class_totals import (
    TOTALS,
    ClassPart,
    add_up,
    count_classes,
    format_part,
    format_total,
    list_parts,
)
from tests.fabrics import fabric

TEXT = """\
schema: 1
fabric: x
classes:
  big: {cpu: {sockets: 2, cores: 24}, memory: 128 GiB, disk: {count: 2, size: 1 TB}, peak: 806.4 GFLOP/s}
  small: {cpu: {cores: 8}, disk: {size: 1 TB}}
nodes:
  n[1-3]: {class: big}
  m[1-2]: {class: small}
  vm1: {class: small, host: n1}
"""


def test_every_total_by_class_without_virtual_machines(tmp_path: Path) -> None:
    nodes = fabric(tmp_path, TEXT).nodes.values()
    assert {
        what: [(part.name, part.nodes, part.each) for part in list_parts(what, count_classes(nodes))] for what in TOTALS
    } == {
        "nodes": [("big", 3, 1.0), ("small", 2, 1.0)],
        "sockets": [("big", 3, 2.0), ("small", 2, None)],
        "cores": [("big", 3, 24.0), ("small", 2, 8.0)],
        "memory": [("big", 3, 2.0**37), ("small", 2, None)],
        "disk": [("big", 3, 2e12), ("small", 2, None)],
        "peak": [("big", 3, 806.4e9), ("small", 2, None)],
    }


@pytest.mark.parametrize(
    ("parts", "total"),
    [
        ((), None),
        ((ClassPart("a", 3, 24.0),), 72.0),
        ((ClassPart("a", 3, 24.0), ClassPart("b", 2, 8.0)), 88.0),
        ((ClassPart("a", 3, 24.0), ClassPart("b", 2, None)), None),
    ],
)
def test_a_part_is_never_taken_for_the_whole(parts: tuple[ClassPart, ...], total: float | None) -> None:
    assert add_up(parts) == total


@pytest.mark.parametrize(
    ("what", "value", "shown"),
    [
        ("cores", 7680, "7,680 cores"),
        ("nodes", 1, "1 node"),
        ("memory", 2.0**40, "1.00 TiB (1.10 TB)"),
        ("disk", 960e12, "960 TB"),
        ("peak", 258.048e12, "258 TFLOP/s"),
    ],
)
def test_a_total_in_words(what: str, value: float, shown: str) -> None:
    assert format_total(what, value) == shown


@pytest.mark.parametrize(
    ("what", "each", "shown"),
    [
        ("nodes", 1.0, "320 nodes of m630"),
        ("cores", 24.0, "320 nodes of m630 x 24 cores"),
        ("memory", 2.0**37, "320 nodes of m630 x 128 GiB"),
        ("peak", None, "320 nodes of m630"),
    ],
)
def test_a_part_in_words(what: str, each: float | None, shown: str) -> None:
    assert format_part(what, ClassPart("m630", 320, each)) == shown
