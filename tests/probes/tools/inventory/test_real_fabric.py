"""The real diagnostics of InfiniBand against a simulated fabric: what stands in its file is what is read."""

import os
import shutil
from collections.abc import Iterator

import pytest

from benchconsole.probes.api import Fact, ProbeOutputError, Unit, labels
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.inventory import fabric

pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin") for tool in ("ibsim", "ibstat"))
    and not os.environ.get("CI"),
    reason="NOT TESTED: infiniband-diags or ibsim-utils is not installed here (in CI this fails)",
)

NARROW = {
    "PortCounters.PortXmitData": 1000,
    "PortCounters.PortRcvData": 2**32 - 1,
    "PortCounters.PortXmitPkts": 17,
    "PortCounters.PortRcvPkts": 23,
    "PortCounters.SymbolErrorCounter": 65535,
    "PortCounters.LinkDownedCounter": 3,
    "PortCounters.PortXmitDiscards": 65534,
    "PortCounters.ExcessiveBufferOverrunErrors": 15,
}
WIDE = {
    "PortCountersExtended.PortXmitData": 4_711_000_000_000,
    "PortCountersExtended.PortRcvData": 2**32 - 1,
    "PortCountersExtended.PortXmitPkts": 9_223_372_036,
}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[fabric.Fabric]:
    """The fabric with both cables active, and counters on the first adapter."""
    with fabric.simulated(tmp_path_factory.mktemp("fabric")) as started:
        for node in fabric.LIDS:
            started.activate(node)
        started.count("n1", {**NARROW, **WIDE})
        yield started


def told(source: str, text: str) -> dict[tuple[str, str], str | float]:
    return {(one.fact, " ".join(label for _, label in one.labels)): one.value for one in SOURCES[source](text)}


@pytest.mark.parametrize("node", sorted(fabric.LIDS))
def test_an_active_port_has_the_rate_of_its_cable(up: fabric.Fabric, node: str) -> None:
    found = told("ibstat", up.ask(node, "ibstat"))
    assert found["ib.rate", "ibsim0 1"] == fabric.RATES[node]
    assert (found["ib.state", "ibsim0 1"], found["ib.physical_state", "ibsim0 1"]) == ("Active", "LinkUp")


def test_a_port_without_cable_has_no_rate(up: fabric.Fabric) -> None:
    text = up.ask("n3", "ibstat")
    assert "Rate: 10\n" in text
    found = told("ibstat", text)
    assert found["ib.state", "ibsim0 1"] == "Down"
    assert not any(name == "ib.rate" for name, _ in found)


def test_narrow_counters_that_stand_at_their_end_are_left_out(up: fabric.Fabric) -> None:
    found = told("perfquery", up.ask("n1", "perfquery"))
    planted = {key: value for key, value in found.items() if value}
    assert planted == {
        ("ib.sent", "12 1"): 4 * 1000.0,
        ("ib.sent_packets", "12 1"): 17.0,
        ("ib.received_packets", "12 1"): 23.0,
        ("ib.counter", "LinkDownedCounter 12 1"): 3.0,
        ("ib.counter", "PortXmitDiscards 12 1"): 65534.0,
    }
    assert ("ib.received", "12 1") not in found
    assert ("ib.counter", "SymbolErrorCounter 12 1") not in found
    assert ("ib.counter", "ExcessiveBufferOverrunErrors 12 1") not in found


def test_wide_counters_are_words_of_four_bytes(up: fabric.Fabric) -> None:
    found = SOURCES["perfquery"](up.ask("n1", "perfquery", "-x"))
    marks = labels(lid=fabric.LIDS["n1"], port=1)
    assert Fact("ib.sent", 4.0 * WIDE["PortCountersExtended.PortXmitData"], Unit.BYTE, marks) in found
    assert Fact("ib.received", 4.0 * (2**32 - 1), Unit.BYTE, marks) in found
    assert Fact("ib.sent_packets", 9_223_372_036.0, Unit.ONE, marks) in found


def test_without_an_adapter_nothing_is_told() -> None:
    with pytest.raises(ProbeOutputError):
        SOURCES["ibstat"](fabric.alone("ibstat"))
