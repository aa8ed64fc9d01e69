"""The report is held against the faults that are planted in the laboratory."""

import random
from collections.abc import Callable, Iterator

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId, NodeRole
from benchmarks.attribution.faults import FaultKind
from benchmarks.laboratory.planting import FABRICS, KINDS, PlantedFault
from tests.lab import faults
from tests.lab.files import topology
from tests.lab.plan import Plan

DRAWS = 40


@pytest.fixture(scope="module", params=FABRICS)
def fabric(request: pytest.FixtureRequest) -> Fabric:
    return load_text(topology(Plan(FABRICS[request.param].spec)), "topology.yaml")


def draw(fabric: Fabric, kind: str) -> Iterator[PlantedFault]:
    for seed in range(DRAWS):
        yield KINDS[kind](fabric, random.Random(seed))


@pytest.mark.parametrize(
    ("kind", "injected", "expected"),
    [
        ("slow-nic", faults.SlowNic, FaultKind.NIC_ONE_WAY),
        ("slow-leaf", faults.SlowSwitch, FaultKind.SWITCH),
        ("loss", faults.CableLoss, FaultKind.NIC),
    ],
)
def test_a_device_is_planted_and_expected_with_all_its_cables(
    fabric: Fabric, kind: str, injected: type[faults.Fault], expected: FaultKind
) -> None:
    shares = {"slow-nic": 30, "slow-leaf": 50, "loss": 2}
    for planted in draw(fabric, kind):
        (fault,), (told,) = planted.injected, planted.expected
        assert isinstance(fault, injected)
        assert isinstance(fault, faults.SlowNic | faults.SlowSwitch | faults.CableLoss)
        device = fault.switch if isinstance(fault, faults.SlowSwitch) else fault.node
        assert (told.cables.kind, told.cables.element, fault.percent) == (expected, device, shares[kind])
        assert told.cables.cables == {(link.id, at) for link in fabric.links_at[device] for at in range(link.count)}
        assert planted.harmed == {"", device}
        if isinstance(fault, faults.SlowNic):
            assert told.words == rf"\b{fault.direction} only\b"


@pytest.mark.parametrize(("kind", "percent"), [("member-down", 0), ("member-half", 50), ("member-slow", 10)])
def test_a_member_is_planted_and_expected_as_one_cable_of_its_lag(fabric: Fabric, kind: str, percent: int) -> None:
    seen = set()
    for planted in draw(fabric, kind):
        (fault,), (told,) = planted.injected, planted.expected
        assert isinstance(fault, faults.MemberDown | faults.MemberSlow)
        assert (fault.percent if isinstance(fault, faults.MemberSlow) else 0) == percent
        assert told.cables.kind is (FaultKind.CABLE if percent else FaultKind.MEMBER_LOST)
        assert told.cables.cables == {(f"{fault.switch_a}--{fault.switch_b}", fault.member - 1)}
        assert told.cables.links <= fabric.links.keys()
        seen.add((fault.switch_b, fault.member))
    assert seen == {(spine, member) for spine in ("spine1", "spine2") for member in (1, 2)}


@pytest.mark.parametrize(
    ("kind", "injected", "is_late"),
    [
        ("nic-down", faults.NicDown, False),
        ("dead-node", faults.KillNode, True),
        ("dead-sshd", faults.DeadSshd, True),
    ],
)
def test_a_node_without_numbers_is_told_by_its_failures(
    fabric: Fabric, kind: str, injected: Callable[[str], faults.Fault], is_late: bool
) -> None:
    for planted in draw(fabric, kind):
        (fault,) = planted.injected
        assert fault == injected(planted.node)
        assert fabric.nodes[NodeId(planted.node)].role is NodeRole.COMPUTE
        assert (planted.expected, planted.is_late) == ((), is_late)
        assert planted.words


def test_a_slow_server_has_a_lost_member_on_the_way_to_it(fabric: Fabric) -> None:
    for planted in draw(fabric, "storage-and-lag"):
        slow, pulled = planted.injected
        assert isinstance(slow, faults.SlowNic)
        assert isinstance(pulled, faults.MemberDown)
        assert fabric.nodes[NodeId(slow.node)].role is NodeRole.STORAGE
        (cable,) = fabric.links_at[slow.node]
        assert pulled.switch_b == cable.b
        assert [each.cables.kind for each in planted.expected] == [FaultKind.NIC_ONE_WAY, FaultKind.MEMBER_LOST]
        assert planted.harmed == {"", slow.node, f"{pulled.switch_a}--{pulled.switch_b}"}
