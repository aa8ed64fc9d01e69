"""Two published machines as their reports describe them: every number follows from the cabling, to 1e-9."""

from collections.abc import Iterable, Sequence
from importlib.resources import as_file, files

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from benchconsole import topology
from benchconsole.topology.capacity.expect import Expectation, expect, sample_hashes
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import compute_fairness
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, LinkId, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.routing.routes import Routes

GBPS = 1e9 / 8
EXACT = 1e-9


def example(name: str, **parameters: int) -> Fabric:
    with as_file(files("benchconsole.topology").joinpath("examples", name)) as path:
        return topology.load(path, parameters=parameters)


def gbps(described: Fabric, found: Iterable[Expectation]) -> list[float]:
    """The rates on the wire in Gb/s."""
    return [each.value / described.goodput / GBPS for each in found]


def exactly(value: object) -> object:
    return pytest.approx(value, rel=EXACT)


def flow(source: str, sink: str, leg: str | None = None) -> Flow:
    return Flow(NodeId(source), NodeId(sink), leg=None if leg is None else LinkId(leg))


def blade(number: int, chassis: int = 1) -> str:
    return f"b{chassis:02}-{number:02}"


def server(number: int) -> str:
    return f"st{(number - 1) % 20 + 1:02}"


def by_leg(switches: Sequence[int] = (1, 2)) -> list[Flow]:
    """One flow for each leg of the 16 blades of the first chassis, away from it."""
    return [
        flow(blade(number), server(number), f"{blade(number)}--mxl01-{switch}")
        for number in range(1, 17)
        for switch in switches
    ]


# A chassis: 16 blades of 2 x 10 Gb/s on two switches of 2 x 40 Gb/s each.


def test_a_chassis_gives_each_blade_half_of_its_two_legs() -> None:
    jetstream = example("jetstream.yaml")
    rates = gbps(jetstream, expect(jetstream, by_leg()))
    assert rates == exactly([5.0] * 32)


def test_with_an_uplink_down_the_legs_of_that_switch_get_half() -> None:
    jetstream = remove_elements(example("jetstream.yaml"), members={"mxl01-1--tor1": 1})
    found = expect(jetstream, by_leg())
    assert gbps(jetstream, found) == exactly([2.5, 5.0] * 16)
    assert found[0].limiting == (Direction(LinkId("mxl01-1--tor1"), "mxl01-1"),)
    assert sum(gbps(jetstream, found)) == exactly(120.0)


def test_with_a_chassis_switch_dead_the_other_gives_each_blade_half() -> None:
    jetstream = remove_elements(example("jetstream.yaml"), switches=["mxl01-1"])
    assert gbps(jetstream, expect(jetstream, by_leg([2]))) == exactly([5.0] * 16)
    either = [flow(blade(number), server(number)) for number in range(1, 17)]
    assert gbps(jetstream, expect(jetstream, either)) == exactly([5.0] * 16)


def test_one_stream_of_ten_for_each_blade_cannot_show_the_oversubscription() -> None:
    jetstream = example("jetstream.yaml")
    flows = [Flow(NodeId(blade(i)), NodeId(server(i)), demand=10 * GBPS * jetstream.goodput) for i in range(1, 17)]
    assert gbps(jetstream, expect(jetstream, flows)) == exactly([10.0] * 16)


# Top of rack: c chassis on 2 x 40 Gb/s to each of two spines.


@pytest.mark.parametrize(("per_tor", "share"), [(1, 10.0), (2, 5.0), (4, 2.5), (5, 2.0)])
def test_what_a_blade_gets_when_all_of_a_rack_leave_it(per_tor: int, share: float) -> None:
    jetstream = example("jetstream.yaml", per_tor=per_tor)
    blades = [blade(number, chassis) for chassis in range(1, per_tor + 1) for number in range(1, 17)]
    found = expect(jetstream, [flow(each, server(index)) for index, each in enumerate(blades, 1)])
    assert gbps(jetstream, found) == exactly([share] * 16 * per_tor)
    uplinks = {Direction(LinkId(f"tor1--spine{i}"), "tor1") for i in (1, 2)}
    assert all(uplinks <= set(each.limiting) for each in found)


@pytest.mark.parametrize(("per_tor", "share"), [(2, 2.5), (4, 1.25)])
def test_what_a_blade_gets_with_a_spine_dead(per_tor: int, share: float) -> None:
    jetstream = remove_elements(example("jetstream.yaml", per_tor=per_tor), switches=["spine2"])
    blades = [blade(number, chassis) for chassis in range(1, per_tor + 1) for number in range(1, 17)]
    found = expect(jetstream, [flow(each, server(index)) for index, each in enumerate(blades, 1)])
    assert gbps(jetstream, found) == exactly([share] * 16 * per_tor)


# The spines: 3 x 40 Gb/s between them, 27 servers with a leg on each.

CROSS = Direction(LinkId("spine1--spine2"), "spine2")


def to_servers(count: int) -> tuple[Fabric, list[Flow]]:
    """The fabric whose servers lost their legs on the second spine, and a flow to each from the racks in turn."""
    jetstream = remove_elements(example("jetstream.yaml"), legs=["spine2"])
    names = [*(f"st{i:02}" for i in range(1, 21)), *(f"mgmt{i}" for i in range(1, 8))][:count]
    racks = [
        [blade(number, chassis) for chassis in range(4 * r - 3, 4 * r + 1) for number in (1, 2)] for r in range(1, 6)
    ]
    sources = [racks[index % 5][index // 5] for index in range(count)]
    return jetstream, [flow(source, name) for source, name in zip(sources, names, strict=True)]


def test_all_servers_on_one_spine_are_held_up_by_the_cross_link() -> None:
    jetstream, flows = to_servers(27)
    found = expect(jetstream, flows)
    assert gbps(jetstream, found) == exactly([80 / 9] * 27)
    assert sum(gbps(jetstream, found)) == exactly(240.0)
    assert {each.limiting for each in found} == {(CROSS,)}


def test_the_storage_servers_alone_are_not() -> None:
    jetstream, flows = to_servers(20)
    found = expect(jetstream, flows)
    assert gbps(jetstream, found) == exactly([10.0] * 20)
    routes = Routes(jetstream)
    rates = gbps(jetstream, found)
    across = sum(routes.shares_of(each)[CROSS] * rate for each, rate in zip(flows, rates, strict=True))
    assert across == exactly(100.0)
    assert jetstream.links[CROSS.link].capacity / GBPS == exactly(120.0)


def test_free_routing_would_give_every_server_its_leg() -> None:
    jetstream, flows = to_servers(27)
    assert most_by_any_routing(jetstream, flows) == exactly(270.0)
    whole = example("jetstream.yaml")
    assert most_by_any_routing(whole, flows[:1]) == exactly(20.0)


def most_by_any_routing(described: Fabric, flows: Sequence[Flow]) -> float:
    """Gb/s that all flows can carry together if they may be routed at will: a linear program over arcs."""
    ends = {node for each in flows for node in (each.source, each.sink)}
    kept = [
        link
        for link in described.links.values()
        if all(end in described.switches or end in ends for end in (link.a, link.b))
    ]
    arcs = [(source, link.other(source), link.capacity / GBPS) for link in kept for source in (link.a, link.b)]
    devices = {name: index for index, name in enumerate(sorted({end for arc in arcs for end in arc[:2]}))}
    size = len(arcs)
    rows, columns, values, gain = [], [], [], np.zeros(size * len(flows))
    for number, each in enumerate(flows):
        for index, (source, sink, _) in enumerate(arcs):
            column = number * size + index
            gain[column] = (source == each.source) - (sink == each.source)
            for device, sign in ((source, 1.0), (sink, -1.0)):
                if device not in (each.source, each.sink):
                    rows.append(number * len(devices) + devices[device])
                    columns.append(column)
                    values.append(sign)
    balance = coo_array((values, (rows, columns)), shape=(len(flows) * len(devices), size * len(flows)))
    across = coo_array(
        (np.ones(size * len(flows)), (np.tile(np.arange(size), len(flows)), np.arange(size * len(flows)))),
        shape=(size, size * len(flows)),
    )
    right = [capacity for *_, capacity in arcs]
    answer = linprog(-gain, A_ub=across.tocsr(), b_ub=right, A_eq=balance.tocsr(), b_eq=np.zeros(balance.shape[0]))
    return float(-answer.fun)


# Thirty clients of 10 Gb/s over a LAG of twelve, and a line of 100 Gb/s behind it.

LAG = Direction(LinkId("vdx-sea--mlxe-sea"), "vdx-sea")
FAR_LAG = Direction(LinkId("vdx-ind--mlxe-ind"), "mlxe-ind")
LINE = Direction(LinkId("mlxe-sea--mlxe-ind"), "mlxe-sea")
NO_LINE = {LINE: 1e6 * GBPS}
LOADS = (5, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 0)


def clients(numbers: Iterable[int]) -> list[Flow]:
    return [flow(f"c-sea{number:02}", f"c-ind{number:02}") for number in numbers]


def test_an_even_hash_fills_the_lag_and_then_the_line() -> None:
    sc11 = example("sc11-lag.yaml")
    flows = clients(range(1, 31))
    alone = gbps(sc11, expect(sc11, flows, model=Model.STEERED, capacity=NO_LINE))
    assert sorted(alone) == exactly([10 / 3] * 18 + [5.0] * 12)
    assert sum(alone) == exactly(120.0)
    behind = gbps(sc11, expect(sc11, flows, model=Model.STEERED))
    assert behind == exactly([10 / 3] * 30)
    assert sum(behind) == exactly(100.0)


def test_members_as_the_port_counters_tell_them() -> None:
    sc11 = example("sc11-lag.yaml")
    flows = clients(range(1, 31))
    seen = [member for member, load in enumerate(LOADS) for _ in range(load)]
    known = {index: {LAG: member} for index, member in enumerate(seen)}
    alone = expect(sc11, flows, members=known, capacity=NO_LINE)
    assert sum(gbps(sc11, alone)) == exactly(110.0)
    assert alone[0].parts == (LinkPart(LAG, member=0),)
    assert {each.model for each in alone} == {Model.MEMBERS.value}
    behind = expect(sc11, flows, members=known)
    rates = gbps(sc11, behind)
    assert sorted(rates) == exactly([2.0] * 5 + [2.5] * 8 + [10 / 3] * 9 + [5.0] * 8)
    assert sum(rates) == exactly(100.0)
    assert compute_fairness(np.array(rates)) == pytest.approx(0.9009, abs=5e-5)


def test_what_unknown_hashes_leave_of_the_lag() -> None:
    """Means and percentiles of 4,000 hashes; 1,000 come within a standard error of them."""
    sc11 = example("sc11-lag.yaml")
    flows = clients(range(1, 31))
    found = sample_hashes(sc11, flows, draws=1000, seed=11)
    scale = sc11.goodput * GBPS
    assert found.aggregate.mean / scale == pytest.approx(88.3, abs=0.7)
    assert found.aggregate.p5 / scale == pytest.approx(76.3, abs=2.0)
    same = sample_hashes(sc11, flows, draws=1000, seed=11, model=Model.POLARISED)
    assert same.aggregate.mean / scale == pytest.approx(99.6, abs=0.2)
    assert found.barrier.mean / scale == pytest.approx(53, abs=1)
    assert same.barrier.mean / scale == pytest.approx(58, abs=1)
    near = sample_hashes(
        sc11, flows, draws=1000, seed=12, capacity={**NO_LINE, FAR_LAG: 1e6 * GBPS}, model=Model.POLARISED
    )
    assert near.aggregate.mean / scale == pytest.approx(111.18, abs=0.7)


# The line in two VLANs of 50 Gb/s.


@pytest.mark.parametrize(
    ("odd", "in_odd", "in_even", "rates"),
    [
        (15, 4, 4, (10.0, 10.0)),
        (15, 5, 4, (10.0, 10.0)),
        (15, 15, 15, (10 / 3, 10 / 3)),
        (16, 16, 14, (25 / 8, 25 / 7)),
        (20, 20, 10, (5 / 2, 5.0)),
        (27, 27, 3, (50 / 27, 10.0)),
        (30, 30, 0, (5 / 3, 0.0)),
    ],
)
def test_a_line_of_two_vlans(odd: int, in_odd: int, in_even: int, rates: tuple[float, float]) -> None:
    sc11 = example("sc11.yaml", odd=odd)
    flows = clients([*range(1, in_odd + 1), *range(odd + 1, odd + 1 + in_even)])
    found = expect(sc11, flows)
    assert gbps(sc11, found) == exactly([rates[0]] * in_odd + [rates[1]] * in_even)
    full = {number for number, count in ((265, in_odd), (266, in_even)) if count >= 5}
    assert {part.vlan for each in found for part in each.parts} == full


def test_totals_of_the_two_vlans() -> None:
    total = []
    for odd, in_odd, in_even in (
        (15, 4, 4),
        (15, 5, 4),
        (15, 15, 15),
        (16, 16, 14),
        (20, 20, 10),
        (27, 27, 3),
        (30, 30, 0),
    ):
        sc11 = example("sc11.yaml", odd=odd)
        flows = clients([*range(1, in_odd + 1), *range(odd + 1, odd + 1 + in_even)])
        total.append(sum(gbps(sc11, expect(sc11, flows))))
    assert total == exactly([80.0, 90.0, 100.0, 100.0, 100.0, 80.0, 50.0])
