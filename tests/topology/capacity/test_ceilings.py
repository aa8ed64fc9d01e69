"""Ceilings inside nodes and switches: rates against rational filling, whatever the order and the names of the file."""

import random
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.bracket import compute_bracket
from benchconsole.topology.capacity.ceiling_loads import sum_legs
from benchconsole.topology.capacity.expect import expect, expect_merged, sample_hashes
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.limit_names import list_limits, name_limit
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.ceiling import compute_pcie_rate
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.topology import referee

GIGABIT = 1.25e8


@pytest.mark.parametrize(
    ("generation", "lanes", "gigabits"),
    [
        (3, 8, 57.88 * 256 / 280),  # Neugebauer et al.: 57.88 Gb/s of packets of 256 in 280 bytes
        (2, 8, 32 * 57.88 / 62.96 * 256 / 280),
        (4, 16, 4 * 57.88 * 256 / 280),
        (5, 16, 8 * 57.88 * 256 / 280),
        (6, 16, 1024 * 236 / 256 * 256 / 280),
    ],
)
def test_pci_express_carries_what_its_packets_leave(generation: int, lanes: int, gigabits: float) -> None:
    assert compute_pcie_rate(generation, lanes) / GIGABIT == pytest.approx(gigabits, rel=1e-3)


def test_the_usual_slots_carry_the_ports_that_are_sold_for_them() -> None:
    for generation, lanes, port in ((3, 16, 100), (4, 16, 200), (5, 16, 400), (3, 8, 50)):
        assert port < compute_pcie_rate(generation, lanes) / GIGABIT < 1.1 * port


def write(ceilings: dict[str, list[str]], order: random.Random | None = None) -> Fabric:
    """Six nodes of two ports on two leaves, one spine; ``ceilings`` by device, as they are written."""
    links = [
        f'{{from: "n{node}:p{port}", to: l{1 + node % 2}, speed: 100 Gb/s}}' for node in range(6) for port in (0, 1)
    ]
    links += [f'{{from: "l{leaf}:u", to: "s:{leaf}", speed: 250 Gb/s}}' for leaf in (1, 2)]
    devices = {
        section: [f"{name}: {{{more}ceilings: {{{', '.join(ceilings.get(name, []))}}}}}" for name in names]
        for section, names, more in (
            ("nodes", [f"n{node}" for node in range(6)], ""),
            ("switches", ["l1", "l2"], ""),
            ("spines", ["s"], "role: spine, "),
        )
    }
    devices["switches"] += devices.pop("spines")
    if order is not None:
        for each in (links, *devices.values()):
            order.shuffle(each)
    head = "schema: 1\nfabric: x\nnetwork: {goodput: 100 %}\n"
    body = "".join(f"{section}: {{{', '.join(entries)}}}\n" for section, entries in devices.items())
    return load_text(head + body + "links:\n" + "".join(f"  - {link}\n" for link in links), "x.yaml")


def draw(chance: random.Random, named: str) -> dict[str, dict[str, tuple[int, tuple[str, ...]]]]:
    """Per device its ceilings: Gb/s, and the ports that pass each; a spine has a card for each leaf."""
    found: dict[str, dict[str, tuple[int, tuple[str, ...]]]] = {}
    speeds = chance.choice(((60, 90, 150), (70, 110, 230)))
    for node in range(6):
        kind = chance.choice(("", "slots", "cpu", "both"))
        own: dict[str, tuple[int, tuple[str, ...]]] = {}
        if kind in ("slots", "both"):
            own |= {f"{named}{port}": (speeds[0], (f"p{port}",)) for port in (0, 1)}
        if kind in ("cpu", "both"):
            own["cpu"] = (speeds[1], ("p0", "p1"))
        found[f"n{node}"] = own
    found["s"] = {"card": (speeds[2], ("1",))} if chance.random() < 0.5 else {"plane": (speeds[2], ("1", "2"))}
    return found


def text_of(ceilings: dict[str, dict[str, tuple[int, tuple[str, ...]]]]) -> dict[str, list[str]]:
    return {
        device: [f'{name}: {{ports: "{",".join(ports)}", rate: {rate} Gb/s}}' for name, (rate, ports) in own.items()]
        for device, own in ceilings.items()
    }


def shares_of(
    ceilings: dict[str, dict[str, tuple[int, tuple[str, ...]]]], flow: Flow
) -> dict[tuple[str, str, str], Fraction]:
    """Half by each port, or all by the one that is named; over the spine where the leaves differ."""
    one, other = (1 + int(node[1:]) % 2 for node in (flow.source, flow.sink))
    passed: list[tuple[str, str, str, Fraction]] = []
    for node, leg, way in ((flow.source, flow.leg, "out"), (flow.sink, flow.last_leg, "in")):
        used = [leg] if leg else ["p0", "p1"]
        passed += [(str(node), port, way, Fraction(1, len(used))) for port in used]
    if one != other:
        passed += [("s", str(one), "in", Fraction(1)), ("s", str(other), "out", Fraction(1))]
    found: dict[tuple[str, str, str], Fraction] = {}
    for device, port, way, part in passed:
        found[device, port, way] = part
        for name, (_, ports) in ceilings[device].items():
            if port in ports:
                found[device, name, way] = found.get((device, name, way), Fraction()) + part
    return found


def rates_of(ceilings: dict[str, dict[str, tuple[int, tuple[str, ...]]]]) -> dict[tuple[str, str, str], Fraction]:
    found: dict[tuple[str, str, str], Fraction] = {}
    for way in ("in", "out"):
        found |= {(f"n{node}", f"p{port}", way): Fraction(100) for node in range(6) for port in (0, 1)}
        found |= {("s", str(leaf), way): Fraction(250) for leaf in (1, 2)}
        found |= {
            (device, name, way): Fraction(rate) for device, own in ceilings.items() for name, (rate, _) in own.items()
        }
    return found


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_rates_are_those_of_rational_filling_whatever_the_order_and_the_names(chance: random.Random) -> None:
    seed = chance.randint(0, 10**6)
    ceilings, renamed = (draw(random.Random(seed), named) for named in ("slot", "x"))
    asked = []
    for _ in range(chance.randint(1, 2)):
        leg, last = chance.choice(((None, None), ("p0", "p0"), ("p0", "p1"), ("p1", None)))
        names = [NodeId(f"n{node}") for node in chance.sample(range(6), 6)]
        in_order = chance.random() < 0.5
        sizes = (3, 3) if in_order else (chance.randint(1, 6), chance.randint(1, 6))
        sinks = tuple(chance.sample(names, sizes[1]))
        asked.append(FlowSet(tuple(names[: sizes[0]]), sinks, in_order, leg=leg, last_leg=last))
    flows = [flow for each in asked for flow in each]
    if not flows:
        return
    filled = referee.fill(rates_of(ceilings), [shares_of(ceilings, flow) for flow in flows])
    wanted = [float(rate) * GIGABIT for rate in filled]
    for each in (write(text_of(ceilings)), write(text_of(renamed), chance)):
        assert [rate.value for rate in expect(each, flows)] == pytest.approx(wanted, rel=1e-9)
        assert [rate.value for _, rate in expect_merged(each, asked)] == pytest.approx(wanted, rel=1e-9)


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_bounds_are_in_order_and_hashes_know_ceilings(chance: random.Random) -> None:
    ceilings = draw(chance, "slot")
    described = write(text_of(ceilings))
    names = [NodeId(f"n{node}") for node in chance.sample(range(6), 6)]
    flows = [Flow(one, other, leg="p0", last_leg="p1") for one, other in zip(names[:3], names[3:], strict=True)]
    rates = expect(described, flows)
    drawn = sample_hashes(described, flows, draws=3)
    assert drawn.slowest.mean == pytest.approx(min(rate.value for rate in rates), rel=1e-9)  # one way for each flow
    (steered, *_) = expect(described, flows, model=Model.STEERED)
    assert steered.value == pytest.approx(rates[0].value, rel=1e-9)
    found = compute_bracket(Routes(described), flows, rates, drawn)
    assert found.optimum is not None
    for bound in ("slowest", "total"):
        rising = [getattr(each, bound) for each in (found.judged, found.routing, found.optimum, found.cut)]
        assert all(low <= high * (1 + 1e-9) for low, high in pairwise(rising)), rising
    # One way for each flow: the best routing is this one, and its slowest flow the same.
    assert found.optimum.slowest == pytest.approx(found.routing.slowest, rel=1e-9)


def test_the_limit_is_named_in_both_devices() -> None:
    described = write({"n0": ["slot: {ports: p0, pcie: {generation: 3, lanes: 8}}"], "n1": ["cpu: {rate: 50 Gb/s}"]})
    (rate,) = expect(described, [Flow(NodeId("n0"), NodeId("n2"), leg="p0")])
    assert [name_limit(described, each) for each in list_limits(rate)] == ["n0 slot out (PCIe 3.0 x8)"]
    (rate,) = expect(described, [Flow(NodeId("n0"), NodeId("n1"))])
    assert rate.value == pytest.approx(50 * GIGABIT)
    assert [name_limit(described, each) for each in list_limits(rate)] == ["n1 cpu in"]


def test_a_lag_passes_a_card_with_the_members_that_are_on_it() -> None:
    text = (
        "schema: 1\nfabric: x\nnetwork: {goodput: 100 %}\nnodes: {a: {}, b: {}}\nswitches: {l: {}, m: {}, s: "
        '{role: spine, ceilings: {"card[1-2]": {ports: "1/1,2/1", rate: 30 Gb/s}}}}\nlinks:\n'
        '  - {from: a, to: l, speed: 200G}\n  - {from: b, to: m, speed: 200G}\n  - {from: m, to: "s:3/1", speed: 200G}\n'
        '  - {from: l, to: "s:1/1,2/1", speed: 100G, count: 2}\n'
    )
    described = load_text(text, "x.yaml")
    flow = [Flow(NodeId("a"), NodeId("b"))]
    assert expect(described, flow)[0].value == pytest.approx(60 * GIGABIT)
    assert expect(described, flow, model=Model.HASH)[0].value == pytest.approx(30 * GIGABIT)
    sprayed = load_text(text.replace("goodput: 100 %", "goodput: 100 %, routing: spray"), "x.yaml")
    (rate,) = expect(sprayed, flow)
    assert rate.value == pytest.approx(60 * GIGABIT)
    assert {name_limit(sprayed, each) for each in list_limits(rate)} == {"s card1 in", "s card2 in"}


def test_servers_have_what_their_ceilings_leave_of_their_ports() -> None:
    ceilings = {"n0": ['"slot[0-1]": {ports: "p[0-1]", rate: 80 Gb/s}', "cpu: {rate: 120 Gb/s}"]}
    described = write(ceilings)
    legs = described.links_at["n0"]
    assert sum_legs(described, "n0", legs) == pytest.approx(120 * GIGABIT)
    assert sum_legs(described, "n0", legs[:1]) == pytest.approx(80 * GIGABIT)
    assert sum_legs(described, "n1", described.links_at["n1"]) == pytest.approx(200 * GIGABIT)


@pytest.mark.parametrize("ports", ["1", "[2-3]", "4", "[1-4]", "[3-4]"])
def test_nodes_below_different_cards_of_their_switch_are_not_alike(ports: str) -> None:
    described = load_text(
        f'schema: 1\nfabric: x\nnodes: {{"n[1-4]": {{}}, t: {{}}}}\nswitches: {{l: {{ceilings: {{card: {{ports: "{ports}", '
        'rate: 30G}}}}\nlinks: [{from: "n[1-4],t", to: "l:[1-5]", speed: 100G}]\n',
        "x.yaml",
    )
    asked = [FlowSet(tuple(NodeId(f"n{number}") for number in range(1, 5)), (NodeId("t"),))]
    flows = [flow for each in asked for flow in each]
    wanted = [rate.value for rate in expect(described, flows)]
    assert [rate.value for _, rate in expect_merged(described, asked)] == pytest.approx(wanted, rel=1e-9)
