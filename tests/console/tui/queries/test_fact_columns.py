"""Columns of facts: found beside declared, what differs from peers, numbers, names, and what machines get."""

from collections.abc import Sequence
from types import MappingProxyType

import pytest

from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.queries.fact_columns import FactColumn, name_fact
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.told_readings import FactKind, Values
from benchconsole.console.tui.rows.text_rows import CellLine, plain_text
from benchconsole.console.view.run_view import NodeView
from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, Node, NodeId
from benchconsole.topology.model.fact_rule import FactRule
from benchconsole.topology.units import Unit
from tests.console.tui.fabrics import mini

GIB = 2.0**30
PLAIN = next(iter(mini().nodes.values()))


def make_nodes(count: int, hardware: Hardware, first: int = 1) -> list[Node]:
    names = [NodeId(f"n{number:02}") for number in range(first, first + count)]
    return [replace(PLAIN, id=name, hardware=hardware) for name in names]


Told = Sequence[tuple[Node, Values]]


def make_column(name: str, told: Told, unit: Unit | None = None) -> FactColumn:
    kind = FactKind(name, {node.id: values for node, values in told if values}, unit)
    return FactColumn(kind, [node for node, _ in told])


def make_row(node: Node, level: Level | None = None, metric: str = "memory.total") -> NodeRow:
    verdicts = []
    if level is not None:
        verdicts.append(
            Verdict("t", 1, "inventory", node.id, (node.id,), metric, (), level, Yardstick.HARDWARE, because="declared")
        )
    return NodeRow(NodeView(node, verdicts=tuple(verdicts)), "", NO_COLUMNS)


def read_cell(column: FactColumn, row: NodeRow) -> str:
    line = CellLine(column.width)
    column.draw(line, row, column.width, quiet=False)
    return plain_text(line.row()).strip()


DECLARED = Hardware("blade", MappingProxyType({"memory.total": 128 * GIB}))
NOTHING = Hardware("blade")


@pytest.mark.parametrize(
    ("found", "level", "hardware", "cell"),
    [
        ((110 * GIB,), Level.FAIL, DECLARED, "110 GiB ≠ 128"),
        ((126 * GIB,), Level.PASS, DECLARED, "126 GiB · 128"),
        ((128 * GIB,), Level.PASS, DECLARED, "128 GiB ·"),
        ((126 * GIB,), None, DECLARED, "126 GiB ○ 128"),
        ((), Level.UNKNOWN, DECLARED, "– ? 128 GiB"),
        ((), None, DECLARED, "– - 128 GiB"),
        ((126 * GIB,), None, NOTHING, "126 GiB"),
        ((), None, NOTHING, "–"),
    ],
)
def test_what_was_found_stands_beside_what_is_declared(
    found: Values, level: Level | None, hardware: Hardware, cell: str
) -> None:
    first, second = make_nodes(2, hardware)
    column = make_column("memory.total", [(first, found), (second, (126 * GIB,))], Unit.BYTE)
    assert read_cell(column, make_row(first, level)) == cell


def test_nothing_says_that_a_fact_is_as_declared_before_it_was_judged() -> None:
    node, *others = make_nodes(3, DECLARED)
    column = make_column("memory.total", [(each, (128 * GIB,)) for each in (node, *others)], Unit.BYTE)
    row = make_row(node)
    assert "not judged" in column.tell(row)
    declared, _ = column.parts
    assert declared.words(row) == "○ 128 GiB"
    assert column.record(row) == {
        "fact": "memory.total", "unit": "B", "found": [128 * GIB], "declared": 128 * GIB, "state": "not judged",
        "differs_from_peers": False, "usual": None, "usual_of": None,
    }  # fmt: skip


def test_what_a_rule_asks_is_declared_too() -> None:
    rules = {"nic.txqueuelen": FactRule((10000.0,), text="10000"), "fs.available mount=/data": FactRule(text="1 TB")}
    (node,) = make_nodes(1, Hardware("blade", rules=MappingProxyType(rules)))
    column = make_column("nic.txqueuelen", [(node, (1000.0,))], Unit.ONE)
    row = make_row(node, Level.FAIL, "nic.txqueuelen")
    assert read_cell(column, row) == "1,000 ≠ 10000"
    assert column.tell(row) == "nic.txqueuelen 1,000, 10000 declared: not as declared"
    assert make_column("fs.available", [(node, (1e12,))], Unit.BYTE).describe_declared(node) == "1 TB mount=/data"


def list_unlike(told: Told, name: str = "kernel.release", unit: Unit | None = None) -> list[str]:
    column = make_column(name, told, unit)
    return [node.id for node, _ in told if column.find_unlike(make_row(node)) is not None]


@pytest.mark.parametrize(
    ("kernels", "unlike"),
    [
        (["5.14", "5.14", "5.15"], ["n03"]),
        (["5.14", "5.14", "5.14"], []),
        (["5.14", "5.15"], []),  # of two nobody knows who is usual
        (["5.14", "5.14", "5.15", "5.15"], []),  # as many told another thing
        (["5.14", "5.15", "5.16"], []),  # each its own: a serial number
        (["5.14", "5.14", ""], []),  # not told is no difference, and two that told are too few
        (["5.14", "5.14", "5.15", "5.16", "5.17"], ["n03", "n04", "n05"]),
    ],
)
def test_nodes_that_differ_from_the_most_frequent_value_of_their_class(kernels: list[str], unlike: list[str]) -> None:
    nodes = make_nodes(len(kernels), NOTHING)
    told: Told = [(node, (kernel,) if kernel else ()) for node, kernel in zip(nodes, kernels, strict=True)]
    assert list_unlike(told) == unlike


def test_peers_are_those_of_the_same_class_and_cohorts() -> None:
    one, other = make_nodes(3, NOTHING), make_nodes(3, Hardware("server"), first=4)
    told = [*((node, ("5.14",)) for node in one), *((node, ("5.15",)) for node in other)]
    assert list_unlike(told) == []
    apart = [replace(node, cohorts=(("tuning", "before"),)) for node in make_nodes(2, NOTHING, first=7)]
    assert list_unlike([*told, *((node, ("5.16",)) for node in apart)]) == []
    joined = make_nodes(2, NOTHING, first=7)
    assert list_unlike([*told, *((node, ("5.16",)) for node in joined)]) == ["n07", "n08"]


def test_what_reads_alike_does_not_differ() -> None:
    """The kernel keeps another part of the memory of each node, and disks come in any order."""
    nodes = make_nodes(4, NOTHING)
    sizes = (126.01, 126.02, 126.03, 110.0)
    told: Told = [(node, (size * GIB,)) for node, size in zip(nodes, sizes, strict=True)]
    assert list_unlike(told, "memory.total", Unit.BYTE) == ["n04"]
    disks: list[Values] = [("a", "b", "a"), ("b", "a", "a"), ("a", "a", "b"), ("a", "b")]
    assert list_unlike([*zip(nodes, disks, strict=True)], "disk.model") == ["n04"]


def test_a_node_that_differs_is_marked_in_its_cell_and_in_words() -> None:
    nodes = make_nodes(4, NOTHING)
    column = make_column("kernel.release", [*((node, ("5.14",)) for node in nodes[:3]), (nodes[3], ("5.15",))])
    row, other = make_row(nodes[3]), make_row(nodes[0])
    _, peers = column.parts
    assert (read_cell(column, row), read_cell(column, other)) == ("5.15 ◇", "5.14")
    assert (column.words(row), peers.words(other)) == ("5.15", "")
    assert peers.words(row) == "differs: 3 of 4 nodes of its class told 5.14"
    assert column.tell(row) == "kernel.release 5.15, differs: 3 of 4 nodes of its class told 5.14"


def test_parts_are_counted_and_the_lowest_is_the_number() -> None:
    first, second, third = make_nodes(3, NOTHING)
    column = make_column("disk.size", [(first, (2e12, 2e12, 1e12)), (second, (2e12,)), (third, ())], Unit.BYTE)
    rows = [make_row(node) for node in (first, second, third)]
    assert read_cell(column, rows[0]) == "2 × 2.00 TB, 1 × 1.00 TB"
    assert column.words(rows[0]) == "2.00 TB, 1.00 TB"
    assert [column.number(row) for row in rows] == [1e12, 2e12, None]
    assert sorted(rows, key=column.sort_key) == rows
    many = make_column("disk.model", [(first, tuple("abcdef"))])
    assert read_cell(many, rows[0]) == "1 × a, 1 × b, 1 × c, 1 × d, 2 more"


def test_words_sort_as_people_count_and_what_is_not_told_last() -> None:
    nodes = make_nodes(4, NOTHING)
    values: list[Values] = [("5.14",), (), ("5.9",), ("5.2",)]
    column = make_column("kernel.release", [*zip(nodes, values, strict=True)])
    ranked = sorted(map(make_row, nodes), key=column.sort_key)
    assert [column.words(row) for row in ranked] == ["5.2", "5.9", "5.14", ""]


def test_a_long_value_is_cut_and_its_mark_is_not() -> None:
    nodes = make_nodes(4, NOTHING)
    told: Told = [*((node, ("x" * 300,)) for node in nodes[:3]), (nodes[3], ("y" * 300,))]
    column = make_column("kernel.command_line", told)
    assert read_cell(column, make_row(nodes[3])).endswith("y… ◇")
    assert column.width <= 40


def test_a_short_name_gives_way_to_another_column() -> None:
    assert name_fact("memory.total") == "memory"
    assert name_fact("memory.total", {"memory"}) == "memory.total"
    assert name_fact("memory.total", {"memory", "memory.total"}) == "fact memory.total"
    assert name_fact("a\x1bb") == "a␛b"


def test_what_is_no_number_is_none_for_machines() -> None:
    (node,) = make_nodes(1, replace(NOTHING))
    record = make_column("cpu.mhz_max", [(node, (float("nan"), 2e9))], Unit.PER_SECOND).record(make_row(node))
    assert isinstance(record, dict)
    assert record["found"] == [None, 2e9]


def test_a_cell_that_is_drawn_again_is_the_same_until_its_node_is_judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = make_nodes(3, DECLARED)
    column = make_column("memory.total", [(node, (126 * GIB,)) for node in nodes], Unit.BYTE)
    row, drawn = make_row(nodes[0], Level.PASS), [0]
    whole = FactColumn._draw_cell

    def count(self: FactColumn, *given: NodeRow | int, quiet: bool) -> object:
        drawn[0] += 1
        return whole(self, *given, quiet=quiet)  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr(FactColumn, "_draw_cell", count)
    assert [read_cell(column, row) for _ in range(3)] == ["126 GiB · 128"] * 3
    assert drawn == [1]
    assert read_cell(column, make_row(nodes[1], Level.PASS)) == "126 GiB · 128"
    assert read_cell(column, make_row(nodes[0], Level.FAIL)) == "126 GiB ≠ 128"
    tones = []
    for quiet in (False, True):
        line = CellLine(column.width)
        column.draw(line, make_row(nodes[0], Level.PASS), column.width, quiet=quiet)
        tones.append([piece.tone for piece in line.row()])
    assert tones[0] != tones[1]


def test_a_cell_is_cut_where_the_line_ends() -> None:
    nodes = make_nodes(3, DECLARED)
    column = make_column("memory.total", [(node, (126 * GIB,)) for node in nodes], Unit.BYTE)
    line = CellLine(9)
    column.draw(line.to(2), make_row(nodes[0], Level.PASS), column.width, quiet=False)
    assert plain_text(line.row()).startswith("  126 ")
    assert line.at == measure_width(plain_text(line.row())) <= 9
