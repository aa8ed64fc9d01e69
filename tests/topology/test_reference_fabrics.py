"""The ten fabrics of the reference page: every rate and optimum against a referee, and the page against the output."""

import importlib.util
import itertools
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest

from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.selection import select
from tests.topology import referee

DOCUMENTS = Path(__file__).parents[2] / "docs" / "reference"


def load_writer() -> ModuleType:
    found = importlib.util.spec_from_file_location("fabric_page", DOCUMENTS / "fabric_page.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["fabric_page"] = module
    found.loader.exec_module(module)
    return module


WRITER: Any = load_writer()
ASKED = [(name, question) for name, (_, questions) in WRITER.FABRICS.items() for question in questions]


@cache
def ask(name: str, question: Any) -> Any:
    return ask_once(name, question)


ask_once = WRITER.ask
WRITER.ask = ask


def described(name: str, question: Any) -> Fabric:
    """The fabric without what is down, and without its network for management."""
    whole = load_text(WRITER.text_of(name, question.routing), f"{name}.yaml")
    links = {each: link for each, link in whole.links.items() if link.network != "mgmt"}
    switches = [each for each in question.without if each in whole.switches]
    cut = [LinkId(each.replace(" to ", "--")) for each in question.without if " to " in each]
    left = part_ports(remove_elements(whole, switches=switches, links=cut), question)
    return replace(left, links=MappingProxyType({each: left.links[each] for each in links if each in left.links}))


def part_ports(fabric: Fabric, question: Any) -> Fabric:
    """Where a question names ports, each port is a device of its own with one cable: ``g01:p1``."""
    if ":" not in question.flows:
        return fabric
    links = {
        each: replace(link, a=f"{link.a}:{link.ports_a[0]}") if link.ports_a else link
        for each, link in fabric.links.items()
    }
    return replace(fabric, links=MappingProxyType(links))


def list_ends(fabric: Fabric, text: str) -> list[str]:
    nodes, colon, port = text.partition(":")
    return [f"{node}{colon}{port}" for node in select(fabric, nodes)]


def pairs_of(fabric: Fabric, name: str, question: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for flow in question.flows.split():
        source, _, sink = flow.partition(">")
        ends = list_ends(fabric, source), list_ends(fabric, sink)
        found += zip(*ends, strict=True) if WRITER.is_paired(question, name) else itertools.product(*ends)
    return found


def mlag_paths(fabric: Fabric, source: str, sink: str) -> list[tuple[Fraction, Sequence[str]]]:
    """By hand: a bonded node sends half by each of the pair, which leaves by its own uplink or else by its twin's."""
    homes = {"o1": ["tora"], "o2": ["torb"]}.get(source, ["tora", "torb"])
    if sink == "o2":
        return [(Fraction(1), [source, "tora", "torb", sink])]
    up = {"tora--spine": ["tora", "spine"]} if "tora--spine" in fabric.links else {}
    by_a = up.get("tora--spine", ["tora", "torb", "spine"])
    ways = {"tora": by_a, "torb": ["torb", "spine"]}
    return [(Fraction(1, len(homes)), [source, *ways[home], sink]) for home in homes]


def shares_of(fabric: Fabric, name: str, question: Any, source: str, sink: str) -> referee.Shares:
    rule = question.routing
    if name == "dragonfly" and rule != "shortest":
        find = referee.valiant if rule == "valiant" else referee.minimal
        return referee.walk(fabric, find(fabric, source, sink))
    if name == "torus":
        return referee.walk(fabric, referee.dimension_order(source, sink, 4))
    if name == "mlag":
        return referee.walk(fabric, mlag_paths(fabric, source, sink))
    weighted = name == "two-sites" and rule != "shortest"
    return referee.walk(fabric, referee.least_hops(fabric, source, sink, weighted), weighted)


@pytest.mark.parametrize(("name", "question"), ASKED, ids=lambda each: str(getattr(each, "flows", each)))
def test_every_number_is_that_of_the_referee(name: str, question: Any) -> None:
    fabric = described(name, question)
    pairs = pairs_of(fabric, name, question)
    found = ask(name, question)
    filled = referee.fill(referee.rates_of(fabric), [shares_of(fabric, name, question, a, b) for a, b in pairs])
    rates = [flow["expected_bps"] for flow in found["flows"]]
    assert rates == pytest.approx([float(rate) * 8 for rate in filled], rel=1e-9)
    bracket = found["bracket"]
    best = referee.optimum(referee.rates_of(fabric), pairs, fabric.switches)
    assert bracket["optimum"]["slowest_bps"] == pytest.approx(best * 8, rel=1e-9)
    for bound in ("slowest_bps", "total_bps"):
        rising = [bracket[each][bound] for each in ("unlucky", "routing", "optimum", "cut")]
        assert all(low <= high * (1 + 1e-9) for low, high in itertools.pairwise(rising))


def test_the_page_is_what_the_program_says() -> None:
    assert WRITER.PAGE.read_text() == WRITER.make_page(), "run: python docs/reference/fabric_page.py"


def test_there_are_ten_and_each_file_is_short() -> None:
    files = sorted((DOCUMENTS / "fabrics").glob("*.yaml"))
    assert [file.stem for file in files] == sorted(WRITER.FABRICS)
    assert len(files) == 10
    assert all(len(file.read_text().splitlines()) <= 35 for file in files)
