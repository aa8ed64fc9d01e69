"""One node: differences, results with their yardsticks, the path, the raw text behind a number."""

import pytest

from benchconsole.console.tui.queries import raw_output
from benchconsole.console.tui.queries.evidence import MarkedText, OutputText
from benchconsole.console.tui.queries.node_results import NodeResult
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.findings import FindingsScreen
from benchconsole.console.tui.screens.node import NodeScreen, make_node_headline
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.raw import RawPane
from benchconsole.console.tui.widgets.results import ResultList
from benchconsole.console.view.events import SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import NodeView, RunView, State
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Yardstick
from benchconsole.probes.model.measuring import FailedAt, Failure, Output, Reading, Result, Round, Target, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests.console.tui.fabrics import mini
from tests.console.tui.looking import begin, faulty, healthy, looking


async def test_a_failing_nic_with_its_yardstick_path_and_raw_text() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n050"))
        await look.settle()
        assert "n050 out gives 2.97 of 9.90 Gb/s" in look.lines[3]
        row = next(line for line in look.lines if line.startswith("▌✗"))
        for word in ("iperf3", "throughput to n114", "2.97 Gb/s", "9.90 Gb/s", "capacity", "30 %", "fail"):
            assert word in row
        limits = next(line for line in look.lines if "◆ limits" in line)
        assert "3.0 of 19.8" in limits
        assert any("iperf3 -c n114.data" in line and "exit 0" in line for line in look.lines)
        marked = next(line for line in look.lines if "the value was read here" in line)
        assert "2.97 Gbits/sec" in marked


async def test_what_differs_from_the_declaration_stands_above() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n093"))
        await look.settle()
        assert "1 of 1 declared fact differs" in look.text
        for row in [line for line in look.lines[4:] if "memory.total" in line]:
            assert "112 GiB" in row
            assert "128 GiB" in row


async def test_the_raw_output_of_a_node_with_a_wrong_fact_is_that_of_its_inventory() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n093"))
        await look.settle()
        row = next(line for line in look.lines if line.startswith("▌✗"))
        assert "memory.total" in row
        assert not any(line.startswith(" path") for line in look.lines)
        screen = look.app.screen
        assert isinstance(screen, NodeScreen)
        assert screen.seen is not None
        assert screen.results.chosen is not None
        wrong = next(each for each in screen.seen.verdicts if each.level is Level.FAIL)
        assert screen.results.chosen.test == wrong.test


def seen_after(failure: FailedAt | None, *, measured: bool = False) -> tuple[RunView, NodeView]:
    """A session of one test of n001, and that node: its test failed, measured, or gave facts alone."""
    fabric = mini(leaves=1, per_leaf=1)
    node = fabric.nodes[NodeId("n001")]
    test = Test("t", "inventory", Target(node), 1)
    reading = (Reading("fio.read", 1.0, Unit.BYTE_RATE, (), ""),) if measured else ()
    result = Result(test, measurements=reading, failure=Failure(failure, "gone", node.id) if failure else None)
    planned = Round(1, "inventory", "inventory", (test,), 1.0, "")
    view = advance_all(
        opened(SessionOpened("s", "", fabric, "default", (planned,), 0.0)),
        [ClosedRound(planned, (result,), CloseReason.COMPLETE, 0.0, 1.0), SessionEnded(2.0, True)],
    )
    return view, view.nodes[node.id]


@pytest.mark.parametrize(
    ("failure", "measured", "state", "sentence"),
    [
        (None, False, State.MEASURED, "n001 was tested and not judged: nothing of it was held against a threshold."),
        (None, True, State.MEASURED, "n001: inventory, measured, no criterion speaks of it"),
        (FailedAt.TIMEOUT, False, State.UNKNOWN, "n001: inventory, timed out: gone"),
        (FailedAt.CANCELLED, False, State.SKIPPED, "n001: inventory, cancelled: gone"),
    ],
)
def test_a_node_of_which_nothing_was_judged_does_not_pass(
    failure: FailedAt | None, measured: bool, state: State, sentence: str
) -> None:
    told, lead, rest = make_node_headline(*seen_after(failure, measured=measured))
    assert (told, lead + rest) == (state, sentence)


async def test_while_a_session_is_read_no_node_of_it_is_called_untested() -> None:
    story = healthy()
    view = replace(advance_all(RunView(story.fabric), list(story.events())[:1]), reading=(3, 21))
    async with looking(story) as look:
        look.app.navigation.open_node(NodeId("n001"))
        await look.settle()
        page = look.app.screen
        assert isinstance(page, NodeScreen)
        page.show(view, look.app.session.badges)
        told = make_node_headline(view, view.nodes[NodeId("n001")])
        assert told == (None, "The session is being read:", " 3 of 21 rounds.")
        (row,) = page.results.empty(120)
        assert "".join(cell.text for cell in row).strip() == "The session is being read."
        opened = replace(view, reading=(0, 0))  # a topology file: nothing is stored of it
        assert make_node_headline(opened, opened.nodes[NodeId("n001")])[1:] == ("The session is being opened.", "")


def test_a_headline_of_a_node_has_no_labels() -> None:
    story = healthy()
    view = advance_all(RunView(story.fabric), story.events())
    seen = view.nodes[NodeId("n001")]
    low = next(each for each in seen.verdicts if each.kind is Yardstick.CAPACITY)
    odd = low._replace(level=Level.UNKNOWN, because="the flows ended apart", labels=(("streams", "8"),))
    state, lead, rest = make_node_headline(view, replace(seen, verdicts=(odd,), state=State.UNKNOWN))
    assert state is State.UNKNOWN
    assert "streams" not in lead + rest
    assert rest.endswith("unknown, the flows ended apart")


async def test_a_node_without_differences_has_one_muted_line() -> None:
    async with looking(healthy()) as look:
        look.app.navigation.open_node(NodeId("n001"))
        await look.settle()
        assert "1 as declared: memory.total 128 GiB" in look.text


async def test_an_affected_node_names_what_drags_it_down() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n033"))
        await look.settle()
        row = next(line for line in look.lines if "leaf3 up, 16 flows" in line)
        assert "▵" in row
        assert "affected by leaf3 to" in row


async def test_a_silent_node_says_at_which_stage_it_failed() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n120"))
        await look.settle()
        assert "n120 could not be asked:" in look.lines[3]
        assert "not counted as passed" in look.lines[3]
        assert "the test failed on n120: unreachable" in look.text


@pytest.mark.parametrize("width", [80, 120, 200])
def test_columns_that_say_nothing_leave_their_room_to_the_reason(width: int) -> None:
    silent = NodeResult(
        State.UNREACHABLE, "iperf3", "to n2", "to n2", "–", "–", "", "–", "", "unreachable: no answer", "t"
    )  # fmt: skip
    listing = ResultList()
    listing.show([silent], tested=True, may_plan=True)
    assert plain_text(listing.heading(width)[0]).split()[-4:] == ["expected", "of", "exp", "verdict"]
    assert "unreachable: no answer" in plain_text(listing.row(0, width))
    listing.show([replace(silent, limit="leaf1 to spine1", source="clause 3")], tested=True, may_plan=True)
    assert ("limit" in plain_text(listing.heading(width)[0])) is (width > 100)


async def test_keys_of_a_node() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n050"))
        await look.settle()
        screen = look.app.screen
        assert isinstance(screen, NodeScreen)
        await look.press("tab")
        assert screen.raw.has_focus
        await look.press("tab", "down", "n", "y")
        assert screen.results.cursor == 0
        assert "2.97 Gb/s" in look.app.clipboard
        await look.press("Y")
        assert len(look.app.clipboard.splitlines()) == screen.results.count + 1
        await look.press("f")
        assert isinstance(look.app.screen, FindingsScreen)
        assert look.app.navigation.tabs.findings.list.cursor == 2
        await look.press("o")
        assert isinstance(look.app.screen, FabricScreen)
        assert look.app.screen.map.mark is not None
        assert look.app.screen.map.mark.node == "n050"


async def test_the_raw_screen_turns_through_the_outputs() -> None:
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n050"))
        await look.settle()
        await look.press("enter")
        screen = look.app.screen
        assert isinstance(screen, RawScreen)
        await look.press("right", "Y", "tab")
        assert screen.raw.shift in (0, 8)
        assert "iperf Done." in look.app.clipboard
        await look.press("escape")
        assert isinstance(look.app.screen, NodeScreen)


def _result(stdout: bytes, raw: str) -> tuple[Result, Reading]:
    test = faulty().rounds[0].tests[0]
    measurement = Reading("x", 1.0, Unit.ONE, (), raw, "m")
    return Result(test, (Output(("a b", "c"), stdout),), (measurement,)), measurement


def test_the_text_of_a_value_is_found_where_it_stands_last() -> None:
    found = raw_output.read_output(*_result(b"1.5 then 1.5\nlast 1.5\nend", "1.5"))
    assert found.marked == MarkedText(1, 5, 3)
    assert found.command == "'a b' c"


def test_a_value_that_cannot_be_found_is_not_marked() -> None:
    assert raw_output.read_output(*_result(b"nothing here", "1.5")).marked is None
    assert raw_output.read_output(*_result(b"nothing here", "")).marked is None


def test_a_hostile_raw_text_is_found_in_its_safe_form() -> None:
    found = raw_output.read_output(*_result(b"a \x1b[31m9\x1b[0m b", "\x1b[31m9\x1b[0m"))
    assert found.marked is not None
    assert found.lines[0][found.marked.column :].startswith("␛[31m9")


JSON = b"""{
\t"end": {
\t\t"streams": [{"bits_per_second": 111.5}, {"bits_per_second": 24705405004.8}],
\t\t"sum_sent": {"bits_per_second":\t24705405004.8},
\t\t"sum_received": {
\t\t\t"bits_per_second":\t24705405004.800001
\t\t}
\t}
}"""


INVENTORY = b"""benchconsole-0123456789abcdef begin meminfo
MemFree:            1024 kB
MemTotal:    117440512 kB
SwapTotal:             0 kB

benchconsole-0123456789abcdef end meminfo 0
benchconsole-0123456789abcdef begin lscpu
{"lscpu": [{"field": "Model name:", "data": "A 1"}]}
benchconsole-0123456789abcdef end lscpu 0
"""


def _read_inventory(metric: str, text: str, probe: str = "inventory") -> OutputText:
    """The output of an inventory, marked for a verdict on ``metric``."""
    wrong = next(each for closed in faulty().closed for each in closed.verdicts if each.metric == "memory.total")
    test = replace(faulty().rounds[0].tests[0], id=wrong.test, probe=probe)
    result = Result(test, (Output(("sh",), b"of before"), Output(("sh",), INVENTORY)))
    return raw_output.read_output(result, verdict=wrong._replace(metric=metric, text=text, labels=(), probe=probe))


def test_the_line_that_told_a_fact_is_marked() -> None:
    found = _read_inventory("memory.total", "112 GiB")
    assert (found.place, found.marked) == (1, MarkedText(2, 0, len("MemTotal:    117440512 kB")))


def test_of_a_source_that_is_read_as_a_whole_the_heading_is_marked() -> None:
    found = _read_inventory("cpu.model", "A 1")
    assert found.marked == MarkedText(6, 0, len("benchconsole-0123456789abcdef begin lscpu"), is_heading=True)


def test_a_fact_that_nothing_told_is_not_marked() -> None:
    assert _read_inventory("nic.speed", "10 Gb/s").marked is None
    assert _read_inventory("memory.total", "112 GiB", probe="another").marked is None


@pytest.mark.parametrize(
    ("text", "is_marked"), [("112 GiB", True), ("112 GiB, 96 GiB", True), ("96 GiB, 112 GiB", False), ("", False)]
)
def test_of_several_values_the_first_that_the_verdict_shows_is_marked(text: str, is_marked: bool) -> None:
    assert (_read_inventory("memory.total", text).marked is not None) is is_marked


async def test_enter_on_a_wrong_fact_leads_to_the_line_that_told_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_output, "find_measurement", lambda *_: None)  # a fact is none
    async with looking(faulty()) as look:
        look.app.navigation.open_node(NodeId("n093"))
        await look.settle()
        view = look.app.session.view
        page = look.app.screen
        assert view is not None
        assert isinstance(page, NodeScreen)
        assert page.results.chosen is not None
        wrong = page.results.chosen.verdict
        assert wrong is not None
        await look.press("enter")
        raw = look.app.screen
        assert isinstance(raw, RawScreen)
        assert raw.verdict == wrong
        raw.verdict = wrong._replace(probe="inventory", labels=())
        result = replace(view.results[wrong.test], outputs=(Output(("sh",), INVENTORY),))
        raw.paint(replace(view, results={**view.results, wrong.test: result}))
        (marked,) = [line for line in lines_of(raw.raw) if "the value was read here" in line]
        assert "MemTotal:    117440512 kB" in marked
        raw.verdict = wrong._replace(probe="inventory", labels=(), metric="cpu.model", text="A 1")
        raw.paint(replace(view, results={**view.results, wrong.test: result}))
        (marked,) = [line for line in lines_of(raw.raw) if "the value was read from what follows" in line]
        assert "begin lscpu" in marked


def test_without_a_verdict_the_first_fact_that_is_no_pass_counts() -> None:
    wrong = next(each for closed in faulty().closed for each in closed.verdicts if each.metric == "memory.total")
    told = [wrong._replace(probe="inventory", level=level) for level in (Level.PASS, Level.FAIL, Level.FAIL)]
    view = replace(opened(begin(faulty())), verdicts={wrong.test: tuple(told), "other": (wrong,)})
    assert raw_output.find_worst_fact(view, wrong.test) is told[1]
    assert raw_output.find_worst_fact(view, "other") is None
    assert raw_output.find_worst_fact(view, "none") is None


def lines_of(pane: RawPane) -> list[str]:
    return [plain_text(row) for row in pane.draw(120, 20)]


def test_a_value_named_by_its_keys_is_found_below_them() -> None:
    found = raw_output.read_output(*_result(JSON, "end.sum_received.bits_per_second 24705405004.8"))
    assert found.marked is not None
    assert found.marked.line == 5
    marked = found.lines[5][found.marked.column : found.marked.column + found.marked.length]
    assert marked == "24705405004.800001"
    assert raw_output.read_output(*_result(JSON, "end.nothing 7")).marked is None


async def test_what_limits_is_shown_whole_on_a_wide_screen() -> None:
    async with looking(faulty(), (200, 60)) as look:
        look.app.navigation.open_node(NodeId("n050"))
        await look.settle()
        results = look.app.screen.results  # type: ignore[attr-defined]
        widths = {name: wide for name, _, wide, _ in results._columns(200)}
        assert widths["limit"] == max([14, *(len(each.limit) for each in results.items)])
        assert all(each.limit in look.text for each in results.items)
