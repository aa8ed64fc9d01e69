"""The referee's cables: paths, hashes, steered ports, and what a round measures on damaged cables."""

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchconsole.probes.api import Target
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchmarks import attribution
from benchmarks.attribution import cable_simulator
from benchmarks.attribution.cable_paths import Cabling, NoWayError
from benchmarks.attribution.cable_simulator import (
    TRUTHS,
    CableSimulator,
    Damage,
    DeviceHashes,
    HashedStream,
    SimulatedRun,
    SteeredPort,
    Truth,
)
from benchmarks.attribution.described import FABRICS, load_fabric

GBIT = 1e9 / 8 * (9000 - 52) / (9000 + 38)
"""byte/s of payload in 1 Gb/s of wire at an MTU of 9000 (docs/explanation/judging.md)."""

SMALL = """\
schema: 1
fabric: small
network: {mtu: 9000, hash: steered}
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"n[1-8]": {}}
links:
  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[5-8]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s, count: 3}
"""

IDEAL = TRUTHS["ideal"]


@pytest.fixture(scope="module")
def jetstream() -> CableSimulator:
    return CableSimulator(load_fabric("jetstream", steered=True))


def a_round(fabric: Fabric, pairs: Iterable[tuple[str, str]], sending: Sending) -> Round:
    tests = tuple(
        Test(
            f"1/iperf3/{index}",
            "iperf3",
            Target(fabric.nodes[NodeId(source)], fabric.nodes[NodeId(sink)]),
            1,
            sending=sending,
        )
        for index, (source, sink) in enumerate(pairs)
    )
    return Round(1, "iperf3", "iperf3", tests, 9.0, "")


def measure(
    simulator: CableSimulator,
    pairs: Iterable[tuple[str, str]],
    truth: Truth = IDEAL,
    damage: Damage | None = None,
    sending: Sending | None = None,
) -> list[float]:
    """Gb/s of wire of each test, without noise."""
    run = SimulatedRun(simulator, truth, damage or Damage(), 1)
    rates = run.compute_rates(a_round(simulator.cabling.fabric, pairs, sending or Sending(2)))
    return [rate / GBIT for rate in rates]


def find_cable(cabling: Cabling, source: str, end: str, member: int = 0) -> int:
    return next(
        number
        for number, each in enumerate(cabling.cables)
        if (each.source, each.end, each.member) == (source, end, member)
    )


def both_ways(cables: Iterable[int]) -> frozenset[int]:
    return frozenset(way for cable in cables for way in (cable, cable ^ 1))


def names(cabling: Cabling, path: Iterable[int]) -> list[tuple[str, str, int]]:
    return [(each.source, each.end, each.member) for each in (cabling.cables[number] for number in path)]


CHASSIS = [(f"b01-{blade:02}", f"b05-{blade:02}") for blade in range(1, 17)]


def test_blades_of_a_chassis_share_its_uplinks(jetstream: CableSimulator) -> None:
    assert measure(jetstream, CHASSIS) == pytest.approx([10.0] * 16)


def test_lost_uplink_takes_from_the_legs_on_its_switch(jetstream: CableSimulator) -> None:
    lost = both_ways([find_cable(jetstream.cabling, "mxl01-1", "tor1", 1)])
    assert measure(jetstream, CHASSIS, damage=Damage(lost)) == pytest.approx([7.5] * 16)


def test_dead_chassis_switch_leaves_half(jetstream: CableSimulator) -> None:
    lost = frozenset(jetstream.cabling.cables_at("mxl01-1"))
    assert measure(jetstream, CHASSIS, damage=Damage(lost)) == pytest.approx([5.0] * 16)


def test_blades_of_four_chassis_share_the_uplinks_of_their_rack(jetstream: CableSimulator) -> None:
    pairs = [(f"b{n:02}-{m:02}", f"b{n + 4:02}-{m:02}") for n in range(1, 5) for m in range(1, 17)]
    assert measure(jetstream, pairs) == pytest.approx([2.5] * 64)


def test_server_without_its_leg_is_reached_over_the_cross_link(jetstream: CableSimulator) -> None:
    cabling = jetstream.cabling
    lost = both_ways([find_cable(cabling, "st01", "spine2")])
    paths = [path for _, path in cabling.list_paths("b01-01", "st01", lost)]
    assert {names(cabling, path)[-1][:2] for path in paths} == {("spine1", "st01")}
    crossed = Counter(names(cabling, path)[-2] for path in paths)
    assert {step for step in crossed if step[0] == "spine2"} == {("spine2", "spine1", member) for member in range(3)}


def test_lone_stream_is_on_one_leg(jetstream: CableSimulator) -> None:
    rates = measure(jetstream, [("b01-01", "b01-02")], TRUTHS["stream-hash"], sending=Sending(1))
    assert rates == pytest.approx([10.0])


def test_rate_limit_is_kept(jetstream: CableSimulator) -> None:
    for truth in (IDEAL, TRUTHS["stream-hash"]):
        rates = measure(jetstream, [("b01-01", "b01-02")], truth, sending=Sending(4, rate=3 * GBIT))
        assert rates == pytest.approx([3.0])


def test_slow_cable_holds_back_what_is_on_it_only(jetstream: CableSimulator) -> None:
    slow = find_cable(jetstream.cabling, "b01-01", "mxl01-1")
    rates = measure(jetstream, [("b01-01", "b01-02"), ("b01-03", "b01-04")], damage=Damage(left={slow: 0.1}))
    assert rates == pytest.approx([11.0, 20.0])


@pytest.mark.parametrize(
    ("port", "wanted"),
    [
        # leaf1 has 2 next hops, then 3 members, the spine 3 members down: digits of radix 2, 3, 3, the lowest first.
        (10_000, [("leaf1", "spine1", 0), ("spine1", "leaf2", 0)]),
        (10_000 + 1 + 2 * 2 + 6 * 1, [("leaf1", "spine2", 2), ("spine2", "leaf2", 1)]),
        (10_000 + 0 + 2 * 1 + 6 * 2, [("leaf1", "spine1", 1), ("spine1", "leaf2", 2)]),
    ],
)
def test_source_port_means_members(port: int, wanted: list[tuple[str, str, int]]) -> None:
    cabling = Cabling(load_text(SMALL, "small.yaml"))
    otherwise = HashedStream(DeviceHashes(1), 1, 2)
    path = cabling.path("n1", "n5", SteeredPort(port, otherwise))
    assert names(cabling, path)[1:-1] == wanted


def test_source_port_chooses_the_legs_of_a_bond_first(jetstream: CableSimulator) -> None:
    cabling, otherwise = jetstream.cabling, HashedStream(DeviceHashes(1), 1, 2)
    # 2 legs, 2 uplinks of mxl01-2, 4 cables of tor1 to the pair of spines, 2 of the spine to tor2, 4 to the pair below.
    port = 10_000 + 1 + 2 * (0 + 2 * (2 + 4 * (1 + 2 * 3)))
    path = cabling.path("b01-01", "b05-01", SteeredPort(port, otherwise))
    assert names(cabling, path) == [
        ("b01-01", "mxl01-2", 0),
        ("mxl01-2", "tor1", 0),
        ("tor1", "spine2", 0),
        ("spine2", "tor2", 1),
        ("tor2", "mxl05-2", 1),
        ("mxl05-2", "b05-01", 0),
    ]


def test_wrong_path_differs_at_one_fork() -> None:
    cabling = Cabling(load_text(SMALL, "small.yaml"))
    otherwise = HashedStream(DeviceHashes(1), 1, 2)
    path = cabling.path("n1", "n5", SteeredPort(10_000, otherwise, wrong=1))
    assert names(cabling, path)[1:-1] == [("leaf1", "spine1", 1), ("spine1", "leaf2", 0)]


def test_unsteered_policy_heeds_no_port() -> None:
    cabling = Cabling(load_text(SMALL.replace("steered", "unknown"), "small.yaml"))
    paths = {
        tuple(cabling.path("n1", "n5", SteeredPort(port, HashedStream(DeviceHashes(1), 1, 2))))
        for port in range(10_000, 10_018)
    }
    assert len(paths) == 1


@pytest.mark.parametrize("steered", [False, True])
def test_lost_member_carries_nothing_and_the_others_all(steered: bool) -> None:
    cabling = Cabling(load_text(SMALL, "small.yaml"))
    lost = both_ways([find_cable(cabling, "leaf1", "spine1", 1)])
    carried: Counter[tuple[str, str, int]] = Counter()
    for stream in range(600):
        hashed = HashedStream(DeviceHashes(1), 1, stream * 7919, lost)
        choose = SteeredPort(10_000 + stream % 18, hashed, lost) if steered else hashed
        carried.update(names(cabling, cabling.path("n1", "n5", choose, lost))[1:2])
    assert carried["leaf1", "spine1", 1] == 0
    assert set(carried) == {("leaf1", f"spine{s}", m) for s in (1, 2) for m in range(3)} - {("leaf1", "spine1", 1)}
    assert sum(carried["leaf1", "spine1", m] for m in range(3)) == pytest.approx(300, abs=50)


def test_steered_stream_stays_where_its_member_is_whole() -> None:
    cabling = Cabling(load_text(SMALL, "small.yaml"))
    lost = both_ways([find_cable(cabling, "leaf1", "spine1", 1)])
    otherwise = HashedStream(DeviceHashes(1), 1, 2, lost)
    for port in (10_000, 10_004):  # members 0 and 2 of spine1
        path = cabling.path("n1", "n5", SteeredPort(port, otherwise, lost), lost)
        assert path == cabling.path("n1", "n5", SteeredPort(port, otherwise))


def test_hash_is_even_and_each_device_has_its_own() -> None:
    cabling = Cabling(load_text(SMALL, "small.yaml"))
    up, down = Counter[int](), Counter[tuple[int, int]]()
    for stream in range(1800):
        path = cabling.path("n1", "n5", HashedStream(DeviceHashes(3), 1, stream))
        first, second = (cabling.cables[number].member for number in path[1:3])
        up[first] += 1
        down[first, second] += 1
    assert all(count == pytest.approx(600, abs=90) for count in up.values())
    assert len(down) == 9
    assert all(count == pytest.approx(200, abs=60) for count in down.values())


def test_policy_without_ports_keeps_streams_together() -> None:
    cabling = Cabling(load_text(SMALL.replace("steered", "l3"), "small.yaml"))
    paths = {tuple(cabling.path("n1", "n5", HashedStream(DeviceHashes(3), 1, stream))) for stream in range(50)}
    assert len(paths) == 1


def test_nothing_left_is_told() -> None:
    cabling = Cabling(load_text(SMALL, "small.yaml"))
    lost = frozenset(cabling.cables_at("n5"))
    with pytest.raises(NoWayError, match="leaf2"):
        cabling.path("n1", "n5", HashedStream(DeviceHashes(1), 1, 2, lost), lost)


def test_parts_of_all_paths_are_the_whole_flow(jetstream: CableSimulator) -> None:
    paths = list(jetstream.cabling.list_paths("b01-01", "b05-01"))
    assert len(paths) == len({tuple(path) for _, path in paths}) == 2 * 2 * 4 * 2 * 4
    assert sum(part for part, _ in paths) == pytest.approx(1.0)


def test_told_numbers_are_noisy_and_cut_at_line_rate(jetstream: CableSimulator) -> None:
    pairs = [(f"b{n:02}-{m:02}", f"b{n:02}-{m + 1:02}") for n in range(1, 21) for m in range(1, 16, 2)]
    planned = a_round(jetstream.cabling.fabric, pairs, Sending(4))
    closed = SimulatedRun(jetstream, IDEAL, Damage(), 7).measure(planned)
    told = [result.measurements[0].value / GBIT for result in closed.results]
    assert max(told) == pytest.approx(20.0)
    assert min(told) == pytest.approx(20 * (1 - 0.04 * 2.5), abs=1.0)
    again = SimulatedRun(jetstream, IDEAL, Damage(), 7).measure(planned)
    assert closed == again


def test_hosts_differ_where_they_are_spread(jetstream: CableSimulator) -> None:
    rates = measure(jetstream, [(f"b01-{m:02}", f"b01-{m + 8:02}") for m in range(1, 9)], TRUTHS["ideal+spread"])
    assert len(set(rates)) == 8
    assert all(16.0 < rate <= 20.0 for rate in rates)


@pytest.mark.parametrize(("truth", "least", "most"), [("stream-hash", 0, 0), ("wrong-paths", 15, 46)])
def test_a_tenth_of_steered_streams_takes_a_wrong_path(
    jetstream: CableSimulator, truth: str, least: int, most: int
) -> None:
    fabric = jetstream.cabling.fabric
    pairs = [(f"b01-{m:02}", f"b{n:02}-{m:02}") for n in range(2, 21) for m in range(1, 17)]
    planned = a_round(fabric, pairs, Sending(1, source_port=10_000))
    run = SimulatedRun(jetstream, TRUTHS[truth], Damage(), 5)
    otherwise = HashedStream(DeviceHashes(1), 1, 2)
    meant = [jetstream.cabling.path(source, sink, SteeredPort(10_000, otherwise)) for source, sink in pairs]
    wrong = sum(run.find_paths(test) != [path] for test, path in zip(planned.tests, meant, strict=True))
    assert least <= wrong <= most


def test_unknown_hash_heeds_no_port(jetstream: CableSimulator) -> None:
    (test,) = a_round(jetstream.cabling.fabric, [("b01-01", "b05-01")], Sending(1, source_port=10_000)).tests
    runs = [SimulatedRun(jetstream, TRUTHS["unknown-hash"], Damage(), seed) for seed in range(20)]
    assert len({tuple(run.find_paths(test)[0]) for run in runs}) > 10


@pytest.mark.parametrize("sending", [Sending(directions=Directions.BOTH), Sending(bulk=False)])
def test_what_is_not_simulated_is_refused(jetstream: CableSimulator, sending: Sending) -> None:
    with pytest.raises(ValueError, match="only bulk tests"):
        measure(jetstream, [("b01-01", "b01-02")], sending=sending)


def test_fabric_that_is_not_routed_is_refused() -> None:
    text = SMALL.replace('{from: "n[5-8]", to: leaf2', '{from: "n[5-8]", to: "leaf[1-2]"')
    with pytest.raises(ValueError, match="2 switches that are no pair"):
        Cabling(load_text(text, "small.yaml"))


@pytest.mark.parametrize("name", FABRICS)
def test_every_fabric_of_the_benchmark_is_routed(name: str) -> None:
    fabric = load_fabric(name, steered=False)
    nodes = list(fabric.nodes)
    paths = list(Cabling(fabric).list_paths(nodes[0], nodes[len(nodes) // 2]))
    assert len(paths) > 1


FORBIDDEN = (
    "benchconsole.topology.capacity",
    "benchconsole.topology.routing",
    "benchconsole.topology.tables",
    "benchconsole.probes.judging",
    "benchconsole.probes.planning",
    "benchconsole.store",
    "benchconsole.console",
)


@pytest.mark.parametrize("module", ["cable_simulator", "cable_paths", "water_filling", "faults"])
def test_referee_shares_no_code_with_what_it_judges(module: str) -> None:
    folder = Path(attribution.__file__).parent
    tree = ast.parse((folder / f"{module}.py").read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert [name for name in imported if name.startswith(FORBIDDEN)] == []
    assert "benchmarks.attribution.water_filling" in {
        node.module
        for node in ast.walk(ast.parse(Path(cable_simulator.__file__).read_text()))
        if isinstance(node, ast.ImportFrom)
    }
