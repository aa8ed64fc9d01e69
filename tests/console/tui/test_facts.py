"""Facts that a node told of itself: each in its unit, those declared otherwise marked, a filter, the clipboard."""

from collections.abc import Iterator, Sequence
from typing import overload

import pytest

from benchconsole.console.tui.queries.node_facts import list_node_facts
from benchconsole.console.tui.screens.facts import FactsScreen
from benchconsole.console.tui.screens.node import NodeScreen
from benchconsole.console.view.run_view import NodeView
from benchconsole.console.view.wording import format_fact
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Fact, labels
from benchconsole.store.errors import StoreError
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests.console.tui.looking import Look, faulty, looking


async def opened(look: Look, node: str) -> FactsScreen:
    look.app.navigation.open_node(NodeId(node))
    await look.settle()
    await look.press("i")
    screen = look.app.screen
    assert isinstance(screen, FactsScreen)
    return screen


async def test_every_fact_stands_in_its_unit() -> None:
    async with looking(faulty()) as look:
        await opened(look, "n050")
        assert "n050 › facts" in look.text
        assert "6 facts" in look.text
        for words in ("6.1.0-28-amd64", "3.30 GHz", "128 GiB", "100 Gb/s", "9,000"):
            assert words in look.text
        assert next(line for line in look.lines if "nic.speed" in line).split() == [
            "nic.speed",
            "ens1f0",
            "100",
            "Gb/s",
        ]


async def test_what_is_not_as_declared_carries_its_sign_and_what_was_declared() -> None:
    async with looking(faulty()) as look:
        screen = await opened(look, "n093")
        row = next(line for line in look.lines if "memory.total" in line)
        assert row.split() == ["✗", "memory.total", "112", "GiB", "declared", "128", "GiB"]
        assert screen.table.cursor == 0
        await look.press("n")
        assert screen.table.items[screen.table.cursor].fact == "memory.total"
        await look.press("y")
        assert look.app.clipboard == "fact\tof\tvalue\nmemory.total\t\t112 GiB\n"


async def test_where_all_is_as_declared_there_is_no_fault_to_walk_to() -> None:
    async with looking(faulty()) as look:
        screen = await opened(look, "n050")
        await look.press("n")
        assert "Everything that was declared is as declared." in look.text
        assert screen.table.cursor == 0


async def test_a_filter_keeps_what_matches_and_escape_clears_it_before_it_leaves() -> None:
    async with looking(faulty()) as look:
        screen = await opened(look, "n050")
        await look.press("slash", *"nic", "enter")
        assert [row.fact for row in screen.table.items] == ["nic.speed", "nic.mtu"]
        assert "2 of 6 shown" in look.text
        await look.press("Y")
        assert look.app.clipboard.splitlines()[1:] == ["nic.speed\tens1f0\t100 Gb/s", "nic.mtu\tens1f0\t9,000"]
        await look.press("escape")
        assert screen.table.count == 6
        await look.press("escape")
        assert isinstance(look.app.screen, NodeScreen)


async def test_a_filter_that_is_not_understood_keeps_the_last_one() -> None:
    async with looking(faulty()) as look:
        screen = await opened(look, "n050")
        screen.commands["filter"].do("fact~cpu")
        assert screen.table.count == 2
        screen.commands["filter"].do("colour=red")
        await look.settle()
        assert screen.table.count == 2
        assert "fact" in screen.prompt.note[0].text


async def test_a_node_that_told_nothing_says_so() -> None:
    async with looking(faulty()) as look:
        await opened(look, "n120")
        assert "n120 has told nothing of itself yet" in look.text


class Gone(Sequence[Fact]):
    """Facts whose file has gone."""

    def __len__(self) -> int:
        return 3

    @overload
    def __getitem__(self, index: int) -> Fact: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Fact]: ...

    def __getitem__(self, index: int | slice) -> Fact | Sequence[Fact]:
        raise StoreError("the database has gone", "look for it")

    def __iter__(self) -> Iterator[Fact]:
        raise StoreError("the database has gone", "look for it")


async def test_facts_that_cannot_be_read_are_no_empty_list() -> None:
    async with looking(faulty()) as look:
        screen = await opened(look, "n050")
        view = screen.run_view
        assert view is not None
        node = view.nodes[NodeId("n050")]
        gone = replace(node, results=tuple(replace(result, facts=Gone()) for result in node.results))
        screen.paint(replace(view, nodes={**view.nodes, node.node.id: gone}))
        assert "what it told cannot be read now: the database has gone" in screen.table.nothing
        assert screen.table.count == 0


def node_of(name: str) -> NodeView:
    return faulty().view().nodes[NodeId(name)]


def test_only_the_value_that_was_judged_is_marked() -> None:
    node = node_of("n093")
    told = replace(
        node.results[0], facts=(*node.results[0].facts, Fact("memory.total", 2.0**37, Unit.BYTE, labels(of="else")))
    )
    rows = [row for row in list_node_facts(replace(node, results=(told,))) if row.fact == "memory.total"]
    assert [row.verdict.level if row.verdict else None for row in rows] == [Level.FAIL, None]


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (Fact("disk.size", 4e12, Unit.BYTE), "4.00 TB"),
        (Fact("memory.dimm_size", 2.0**34, Unit.BYTE), "16.0 GiB"),
        (Fact("memory.dimm_speed", 2.133e9, Unit.PER_SECOND), "2,133 MT/s"),
        (Fact("cpu.mhz_max", 3.3e9, Unit.PER_SECOND), "3.30 GHz"),
        (Fact("nic.speed", 12.5e9, Unit.BYTE_RATE), "100 Gb/s"),
        (Fact("irq.total", 912345678.0, Unit.ONE), "912,345,678"),
        (Fact("disk.power_on_time", 78102000.0, Unit.SECOND), "21695:00:00"),
        (Fact("os.name", "[b]De\x1b[31mbian"), "[b]De␛[31mbian"),
    ],
)
def test_a_fact_is_written_in_the_unit_of_its_kind(fact: Fact, words: str) -> None:
    assert format_fact(fact) == words
