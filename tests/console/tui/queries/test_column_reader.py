"""The columns that a session offers, by name: metrics by stage, facts, of peers; and each node beside its peers."""

import json
from statistics import median

import pytest

from benchconsole.console.text.table import format_table
from benchconsole.console.tui.queries.areas import list_nodes
from benchconsole.console.tui.queries.column_reader import ChoiceError, ColumnOffers, ColumnReader
from benchconsole.console.tui.queries.measured_columns import MeasuredColumn
from benchconsole.console.tui.queries.node_columns import ColumnCache
from benchconsole.console.tui.queries.node_row import DEFAULT, NO_COLUMNS, Choice, NodeRow
from benchconsole.console.tui.queries.peer_columns import OF_PEERS, PeerShareColumn
from benchconsole.console.view.run_view import NodeView, RunView
from benchconsole.probes.model.measuring import Fact
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted
from tests.console.reports import fixture
from tests.console.tui.looking import faulty
from tests.console.tui.story import Story

SEEN = faulty().view()
OFFERS = ColumnReader().read(SEEN)
KERNEL = Choice("fact", "kernel.release")
NASTY = "\x1b]52;c;aGVsbG8=\x07\x1b[31mred\x9b2J a\u202eb line\nbreak\r\ttab"


def make_rows(view: RunView) -> list[NodeRow]:
    stages = {each.number: each.stage for each in view.plan}
    return [NodeRow(seen, "", NO_COLUMNS, stages=stages) for seen in view.nodes.values()]


def retell(story: Story, node: str, *facts: Fact) -> Story:
    """The story in which a node told these facts of itself, and nothing else."""
    first, *others = story.closed
    results = tuple(replace(each, facts=facts) if each.test.target.node.id == node else each for each in first.results)
    return replace(story, closed=[replace(first, results=results), *others])


def test_every_judged_and_measured_metric_and_every_fact_is_offered() -> None:
    told = {offer.name: (offer.group, offer.words) for offer in OFFERS.offers}
    assert told["triad"] == ("node", "127 nodes, judged: stream.triad")
    assert told["legs"][0] == "legs"
    assert told["kernel"] == ("facts", "133 nodes, 1 value: kernel.release")
    assert told["memory.total"] == ("facts", "133 nodes, 3 values: memory.total")  # a metric is called memory
    assert "of.peers" in told
    stages = dict.fromkeys(offer.choice.stage for offer in OFFERS.offers if offer.choice.stage)
    assert [*stages] == [*dict.fromkeys(each.stage for each in SEEN.plan)]


def test_as_many_nodes_are_told_of_a_judged_metric_as_have_a_number() -> None:
    rows = make_rows(SEEN)
    judged = [offer for offer in OFFERS.offers if ", judged: " in offer.words]
    for offer, column in zip(judged, OFFERS.make([each.choice for each in judged], rows), strict=True):
        number = sum(column.number(row) is not None for row in rows)
        assert offer.words.startswith(f"{counted(number, 'node')}, "), offer.name


def test_names_are_unique_and_each_leads_to_its_column() -> None:
    names = [offer.name for offer in OFFERS.offers]
    assert len(names) == len(set(names))
    for offer in OFFERS.offers:
        assert OFFERS.resolve([offer.name]) == (offer.choice,)
        (made,) = OFFERS.make([offer.choice], make_rows(SEEN)[:3])
        assert (made.choice, made.key) == (offer.choice, offer.name)


@pytest.mark.parametrize(
    ("typed", "choices"),
    [
        ("kernel", (KERNEL,)),
        ("KERNEL.release", (KERNEL,)),
        ("kernel kernel.release", (KERNEL,)),
        ("default kernel", (DEFAULT, KERNEL)),
        ("stream.triad", (Choice("metric", "stream.triad", "node"),)),
        ("mtu of.peers", (Choice("fact", "nic.mtu"), OF_PEERS)),
    ],
)
def test_a_column_is_named_by_its_short_or_its_whole_name(typed: str, choices: tuple[Choice, ...]) -> None:
    assert OFFERS.resolve(typed.split()) == choices


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("kernl", "kernl: no such column, did you mean kernel?"),
        ("nic", "nic: one of nic.mtu, nic.speed"),
        ("qqqq", "qqqq: no such column"),
    ],
)
def test_a_name_that_is_none_is_named_with_what_could_stand_there(typed: str, said: str) -> None:
    with pytest.raises(ChoiceError) as caught:
        OFFERS.resolve(["kernel", typed])
    assert str(caught.value) == said


def test_the_metrics_of_every_table_are_one_choice_where_all_of_them_are_there() -> None:
    assert OFFERS.default
    assert OFFERS.expand((DEFAULT, KERNEL)) == (*OFFERS.default, KERNEL)
    assert OFFERS.contract((*OFFERS.default, KERNEL)) == (DEFAULT, KERNEL)
    assert OFFERS.contract((*OFFERS.default[1:], KERNEL)) == (*OFFERS.default[1:], KERNEL)


def test_a_metric_without_a_verdict_says_so_and_has_the_median_of_its_numbers() -> None:
    view = replace(SEEN, verdicts={})
    offers = ColumnReader().read(view)
    (column,) = offers.make(offers.resolve(["stream.triad"]), make_rows(view))
    assert isinstance(column, MeasuredColumn)
    assert column.bound == "not judged"
    values = {str(row.view.node.id): column.number(row) for row in make_rows(view)}
    assert values["n093"] == 87.9e9
    assert values["m1"] is None
    record = column.record(next(row for row in make_rows(view) if row.view.node.id == "n093"))
    assert record == {
        "metric": "stream.triad", "stage": "node", "unit": "B/s", "value": 87.9e9, "expected": None, "state": None,
    }  # fmt: skip


def read_share(view: RunView, metric: str) -> tuple[PeerShareColumn, dict[str, NodeRow]]:
    offers, rows = ColumnReader().read(view), make_rows(view)
    *_, share = offers.make(offers.resolve([metric, "of.peers"]), rows)
    assert isinstance(share, PeerShareColumn)
    return share, {row.view.node.id: row for row in rows}


def test_each_node_stands_beside_the_median_of_its_peers() -> None:
    share, rows = read_share(SEEN, "triad")
    found = (row.worst.get(("stream.triad", "node")) for row in rows.values())
    middle = median(verdict.value for verdict in found if verdict is not None and verdict.value is not None)
    assert share.number(rows["n093"]) == pytest.approx(87.9e9 / middle)
    assert share.words(rows["n093"]) == f"{100 * 87.9e9 / middle:.1f}"
    assert (share.words(rows["m1"]), share.number(rows["m1"])) == ("–", None)
    name = rows["n093"].view.node.hardware.name
    assert share.tell(rows["n093"]) == f"of peers: triad median {middle / 1e9:.1f} GB/s of 127 nodes of {name}"
    assert share.record(rows["n093"]) == {
        "of": "triad", "share": share.number(rows["n093"]), "median": middle, "peers": 127,
    }  # fmt: skip


@pytest.mark.parametrize(("kept", "words"), [(1, "-"), (2, "-"), (3, "100.0")])
def test_of_fewer_than_three_peers_there_is_no_median(kept: int, words: str) -> None:
    named = [name for name, seen in SEEN.nodes.items() if any(v.metric == "stream.triad" for v in seen.verdicts)]
    nodes = {name: seen for name, seen in SEEN.nodes.items() if name in named[1 : kept + 1]}
    share, rows = read_share(replace(SEEN, nodes=nodes), "triad")
    middle = sorted(rows.values(), key=lambda row: row.worst["stream.triad", "node"].value or 0)[kept // 2]
    assert share.words(middle) == words
    assert (share.number(middle) is None) is (words == "-")
    assert f"{kept} node" in share.tell(middle)


@pytest.mark.parametrize(
    ("values", "words", "shares"),
    [
        ((0.0, 0.0, 5e9), ["100.0", "100.0", "median 0"], [1.0, 1.0, None]),
        ((0.0, 4e9, 8e9), ["0.0", "100.0", "200.0"], [0.0, 1.0, 2.0]),
        ((0.0, 5e9), ["-", "-"], [None, None]),
    ],
)
def test_of_a_median_of_zero_there_is_no_share(
    values: tuple[float, ...], words: list[str], shares: list[float | None]
) -> None:
    named = [name for name, seen in SEEN.nodes.items() if any(v.metric == "stream.triad" for v in seen.verdicts)]
    nodes: dict[NodeId, NodeView] = {}
    for name, value in zip(named[1:], values, strict=False):
        seen = SEEN.nodes[name]
        verdicts = (v._replace(value=value) if v.metric == "stream.triad" else v for v in seen.verdicts)
        nodes[name] = replace(seen, verdicts=tuple(verdicts))
    share, rows = read_share(replace(SEEN, nodes=nodes), "triad")
    assert [share.words(row) for row in rows.values()] == words
    assert [share.number(row) for row in rows.values()] == shares
    assert [share.tell(row).endswith("; nothing is a share of 0") for row in rows.values()] == [
        each == "median 0" for each in words
    ]


def ask_again(story: Story, node: str, *facts: Fact) -> Story:
    """The story with a last round in which one node was asked once more, and told these facts."""
    first = story.closed[0]
    asked = next(each for each in first.results if each.test.target.node.id == node)
    test = replace(asked.test, id="again", round=99)
    made = replace(first.round, number=99, tests=(test,))
    closed = replace(
        first, round=made, results=(replace(asked, test=test, facts=facts),), verdicts=(), started=first.started + 500
    )
    return replace(story, rounds=[*story.rounds, made], closed=[*story.closed, closed])


def test_what_a_node_told_before_and_not_again_is_gone() -> None:
    view = ask_again(faulty(), "n001", Fact("kernel.release", "6.6"), Fact("bios.version", "2.1")).view()
    rows = {str(row.view.node.id): row for row in make_rows(view)}
    kernel, mtu = ColumnReader().read(view).make([KERNEL, Choice("fact", "nic.mtu")], [*rows.values()])
    assert [kernel.words(rows[name]) for name in ("n001", "n002")] == ["6.6", "6.1.0-28-amd64"]
    assert [mtu.words(rows[name]) for name in ("n001", "n002")] == ["", "9,000"]


def test_each_answer_is_read_once() -> None:
    reader = ColumnReader()
    reader.read(SEEN)
    assert reader.count == 133
    reader.read(SEEN)
    assert reader.count == 133
    reader.read(ask_again(faulty(), "n001", Fact("kernel.release", "6.6")).view())
    assert reader.count > 133


def test_facts_of_a_test_and_of_its_load_are_no_columns() -> None:
    facts = (Fact("load.cpu", 0.5), Fact("memory.hop", "a"))  # after the probe that told them
    names = [o.name for o in ColumnReader().read(retell(faulty(), "n001", *facts).view()).offers if o.group == "facts"]
    assert not {"load.cpu", "memory.hop"} & {*names}


def test_the_keys_of_a_table_stay_when_more_metrics_are_listed() -> None:
    cache = ColumnCache()
    few, every = cache.list_columns(SEEN), cache.list_columns(SEEN, every=True)
    assert every[: len(few)] == few
    assert len({column.key for column in every}) == len(every)


def test_show_prints_chosen_columns_with_their_parts() -> None:
    area = list_nodes(SEEN, ("memory.total", "kernel", "triad", "of.peers"))
    (row,) = area.filter("node=n093").rows
    assert (row.words("memory.total"), row.words("memory.total.declared")) == ("112 GiB", "≠ 128 GiB")
    assert "nodes of its class told 128 GiB" in row.words("memory.total.peers")
    assert [each.record["node"] for each in area.filter("memory.total<120 GiB & node~n").rows] == ["n093"]
    assert [each.record["node"] for each in area.filter("memory.total.peers~differs").rows] == ["n093"]
    assert len(area.filter("kernel~6.1").rows) == 133
    assert len(area.filter("kernel!=6.1.0-28-amd64").rows) == len(area.rows) - 133
    assert area.filter("of.peers<90").rows == (row,)
    columns = row.record["columns"]
    assert isinstance(columns, dict)
    assert list(columns) == ["memory.total", "kernel", "triad", "of.peers"]
    assert columns["memory.total"]["found"] == [112 * 2.0**30]
    assert "triad of peers %" in [column.heading for column in area.table.columns]
    assert "columns" not in list_nodes(SEEN).rows[0].record


def test_hostile_facts_are_text_and_records_are_json() -> None:
    story = retell(faulty(), "n001", Fact("kernel.release", NASTY), Fact(f"odd.{NASTY}", NASTY))
    view = story.view()
    names = [offer.name for offer in ColumnReader().read(view).offers]
    assert all(name.isprintable() and " " not in name for name in names)
    area = list_nodes(view, tuple(names))
    for line in format_table(area.filter("node=n001").table, 200):
        assert line.isprintable(), repr(line)
    json.dumps(area.records, allow_nan=False)


def test_a_session_without_results_offers_nothing() -> None:
    offers: ColumnOffers = ColumnReader().read(fixture.empty())
    assert (offers.offers, offers.default) == ((), ())
    assert list_nodes(fixture.empty(), ("default",)).rows == ()
