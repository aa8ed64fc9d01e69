"""One test in words: read as the file would have it, planned as one stage, and nothing beside it."""

from pathlib import Path

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.single_test import read_single_test
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric

PROBES = load_probes(safe_mode=True).probes


@pytest.fixture
def described(tmp_path: Path) -> Fabric:
    return fabric(tmp_path, SMALL)


@pytest.mark.parametrize(
    ("words", "key", "options"),
    [
        ("iperf3 n1 n5 seconds=3", "n1>n5", {"seconds": 3}),
        ("iperf3 n5 n1 streams=2 'bitrate=1 Gb/s'", "n5>n1", {"streams": 2, "bitrate": "1 Gb/s"}),
        ("iperf3 n1 n2 reverse=1", "n1>n2", {"reverse": 1}),
        ("fio st1 'size=16 MiB' seconds=1", "st1", {"size": "16 MiB", "seconds": 1}),
        ("inventory n3", "n3", {}),
        ("stream n3", "n3", {}),
    ],
)
def test_exactly_the_test_is_planned(described: Fabric, words: str, key: str, options: dict[str, object]) -> None:
    single = read_single_test(described, PROBES, words)
    (only,) = single.keep(plan(described, single.suite, PROBES, first=7))
    (test,) = only.tests
    assert (only.number, test.round, test.target.key) == (7, 7, key)
    assert test.id.startswith("0007/")
    assert only.stage == f"{single.probe} single"
    assert {name: test.target.options[name] for name in options} == options


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("iperf3", "found 1 name, expected PROBE NODE"),
        ("iperf3 n1 n2 n3", "found 4 names"),
        ("iperf4 n1 n2", "unknown probe 'iperf4'.*did you mean iperf"),
        ("iperf3 n1 n99", "unknown node 'n99'"),
        ("iperf3 n1", "iperf3: found n1, expected a node and its peer"),
        ("iperf3 n1 n1", "n1 twice"),
        ("fio n1 n2", "found n1 and n2, expected one node"),
        ("iperf3 n1 n2 seconds=3 seconds=4", "seconds twice"),
        ("iperf3 n1 n2 design=trunks", "expected no design"),
        ("iperf3 n1 n2 seconds=soon", "seconds"),
        ("iperf3 n1 n2 seconds=1e999", "found seconds=1e999, expected a finite number"),
        ("iperf3 n1 n2 streams=-1e309", "found streams=-1e309, expected a finite number"),
        ("iperf3 n1 'n2", "No closing quotation"),
    ],
)
def test_what_it_cannot_mean_is_said(described: Fabric, words: str, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        read_single_test(described, PROBES, words)


def test_an_unknown_option_is_refused_by_the_plan(described: Fabric) -> None:
    single = read_single_test(described, PROBES, "iperf3 n1 n2 secnods=3")
    with pytest.raises(PlanError, match=r"secnods.*did you mean seconds"):
        plan(described, single.suite, PROBES)
