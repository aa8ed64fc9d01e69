"""Loads of the links of one rack: which measurements speak of one link, and which of all of them together."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from benchconsole.console.tui.queries import view_queries
from benchconsole.console.view.run_view import LinkView, RunView, State
from benchconsole.probes.judging.link_state import RackLoad
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import LinkId

TEXT = """\
schema: 1
fabric: rack
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}, "s[1-4]": {role: spine}}
nodes: {"n[1-2]": {}}
links:
  - {from: "n[1-2]", to: leaf, speed: 8 Gb/s, network: flat}
  - {from: leaf, to: "s[1-4]", speed: 8 Gb/s, network: flat}
"""
FULL = 1e9
UPLINKS = [LinkId(f"leaf--s{number}") for number in (1, 2, 3, 4)]


def load(links: Mapping[LinkId, LinkView]) -> RackLoad:
    described = load_text(TEXT, "rack.yaml")
    view = RunView(described, links=MappingProxyType(links))
    return view_queries.find_rack_load(view, [described.links[name] for name in UPLINKS])


def shared(expected: float, measured: float) -> dict[LinkId, LinkView]:
    """All four as one test saw them that expected so much of their sum; shares of one link."""
    return {name: LinkView(State.PASS, measured * FULL, expected * FULL) for name in UPLINKS}


@pytest.mark.parametrize(
    ("expected", "total"),
    [
        (3.59, 4 * 1.8 / 3.59),  # less than 90 % of the four: it says nothing of their sum, each got its share
        (3.6, 1.8),
        (3.61, 1.8),
    ],
)
def test_a_test_speaks_of_all_links_of_a_rack_from_90_per_cent_on(expected: float, total: float) -> None:
    found = load(shared(expected, 1.8))
    assert found.total == pytest.approx(total * FULL)
    assert list(found.links.values()) == pytest.approx([total / 4 * FULL] * 4)


@pytest.mark.parametrize(
    ("expected", "own"),
    [(1.0, 0.6), (1.05, 0.6), (1.051, 0.6 / 1.051)],  # more than its own capacity: it is a part of a sum
)
def test_a_test_speaks_of_one_link_up_to_5_per_cent_above_its_capacity(expected: float, own: float) -> None:
    found = load({UPLINKS[0]: LinkView(State.PASS, 0.6 * FULL, expected * FULL)})
    assert found.links[UPLINKS[0]] == pytest.approx(own * FULL)
    assert found.total == pytest.approx(own * FULL)
    assert found.links[UPLINKS[1]] is None


def test_nothing_is_known_of_links_without_a_number() -> None:
    found = load({})
    assert found.total is None
    assert set(found.links.values()) == {None}


def test_a_link_that_a_finding_is_about_keeps_its_own_load() -> None:
    """The others share the rest of the sum by what they carry as built."""
    blame = Finding(Suspect.LINK, UPLINKS[0], "", "", Level.FAIL, Confidence.LIKELY, (), ())
    seen = shared(4.0, 2.0)
    seen[UPLINKS[0]] = LinkView(State.FAIL, 0.2 * FULL, FULL, finding=blame)
    found = load(seen)
    assert found.total == pytest.approx(2.0 * FULL)
    assert list(found.links.values()) == pytest.approx([0.2 * FULL, 0.6 * FULL, 0.6 * FULL, 0.6 * FULL])


@pytest.mark.parametrize(
    ("total", "blamed", "others"),
    [
        (3.20, 0.2, 1.0),  # all that is left fills the other three: the bound
        (3.23, 0.2, 1.0),  # they carry no more than they can, whatever the sum says
        (3.17, 0.2, 0.99),
        (0.93, 0.9, 0.01),
        (0.90, 0.9, 0.0),
        (0.87, 0.9, 0.0),  # and no less than nothing
    ],
)
def test_what_the_others_carry_is_between_nothing_and_all_they_can(total: float, blamed: float, others: float) -> None:
    """The sum and the link of the finding were measured in different rounds."""
    blame = Finding(Suspect.LINK, UPLINKS[0], "", "", Level.FAIL, Confidence.LIKELY, (), ())
    seen = shared(4.0, total)
    seen[UPLINKS[0]] = LinkView(State.FAIL, blamed * FULL, FULL, finding=blame)
    assert list(load(seen).links.values()) == pytest.approx([blamed * FULL, *[others * FULL] * 3])


STORED = TEXT + "storage: {lake: {servers: n2}}\n"


@pytest.mark.parametrize(
    ("suspect", "element", "nodes", "nodes_at", "links", "place"),
    [
        (Suspect.LAG, "leaf--s1", ("n1",), (), ("leaf--s1",), "leaf--s1"),
        (Suspect.NIC, "n1", ("n1",), ("n1",), ("n1--leaf",), "n1"),
        (Suspect.SWITCH, "s2", ("n1",), (), (), "s2"),
        (Suspect.LINK, "leaf--s3", ("n1",), (), (), "leaf--s3"),
        (Suspect.SYSTEM, "lake", ("n1",), (), (), "n2"),
        (Suspect.SET, "n[1-2]", ("n1", "n2"), (), (), "n1"),
        (Suspect.GATEWAY, "n2", ("n1", "n2"), ("n2",), (), "n2"),
        (Suspect.FABRIC, "n1>n2", (), (), (), ""),
    ],
)
def test_each_kind_of_suspect_has_its_place_on_the_map(
    suspect: Suspect,
    element: str,
    nodes: tuple[str, ...],
    nodes_at: tuple[str, ...],
    links: tuple[str, ...],
    place: str,
) -> None:
    view = RunView(load_text(STORED, "rack.yaml"))
    finding = Finding(
        suspect, element, element, "slow", Level.FAIL, Confidence.LIKELY, nodes, (), nodes_at=nodes_at, links=links
    )
    assert view_queries.find_place(view, finding) == place
