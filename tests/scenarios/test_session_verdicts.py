"""One row for each way in which a session once was called passed: from the file to the sentence and the exit code.

Each goes through the real command line (``ingest``, ``run``, ``checklist``, ``judge``), and the same verdict has to be
told by every report, by ``sessions``, by the start page and on the screen.
"""

import asyncio
import html
import json
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from benchconsole.console.cli.common import read_stored_view
from benchconsole.console.cli.start import _make_start_model
from benchconsole.console.exits import Exit
from benchconsole.console.tui.screens.fabric import make_quiet_headline
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.session_verdict import STATES
from benchconsole.console.view.stored_verdict import Outcome
from benchconsole.console.view.totals import TotalsCache
from benchconsole.probes.api import Contact, Fact, Output, Probe, Reading, Target
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.plugins.registry import ProbeCatalogue, load_probes
from benchconsole.probes.testing import FakeRemote
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Node
from tests.probes.played import PROBES, Pair, PlayedReach
from tests.scenarios.test_judging_trials import FABRIC, TRIAD, Site, stream

RUN_FABRIC = """\
schema: 1
fabric: toy
network: {mtu: 1500}
switches:
  spine: {role: spine}
  leaf[1-2]: {role: leaf}
nodes: {"n[1-8]": {}}
links:
  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[5-8]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: spine, speed: 10 Gb/s}
"""
INVENTORY, PAIRS = "    - {probe: inventory}\n", "    - {probe: iperf3, design: neighbours}\n"
TRUNKS = "    - {probe: iperf3, design: trunks}\n"
GOOD = 1.17e9
"""Byte/s of payload that 10 Gb/s carry."""


@dataclass(frozen=True, slots=True)
class Told:
    """The verdict of the last session, and the command's exit code."""

    code: int
    outcome: str
    sentence: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """``first`` is how the sentence begins; each of ``gaps`` is one of those that are named as missing."""

    code: int
    outcome: Outcome
    first: str
    gaps: tuple[str, ...] = ()


def squeeze(text: str) -> str:
    """Text without blanks, escapes and marks of Markdown: sentences are alike in it however they are wrapped."""
    return re.sub(r"[\s\\*]", "", html.unescape(text))


def read_everywhere(site: Site, code: int, monkeypatch: pytest.MonkeyPatch) -> Told:
    """The verdict of the last session, told alike by every report, list and headline."""
    db = site.folder / "s.db"
    said = {}
    for suffix in ("json", "md", "html", "txt"):
        path = site.folder / f"told.{suffix}"
        kind = "text" if suffix == "txt" else suffix
        assert site.call("report", "--format", kind, "-o", path, "--force")[0] == 0
        said[kind] = path.read_text()
    session = json.loads(said["json"])["session"]
    verdict, sentence = session["verdict"], session["summary"]
    for kind in ("md", "html", "text"):
        assert squeeze(sentence) in squeeze(said[kind]), kind
    _, shown = site.call("show")
    assert squeeze(sentence) in squeeze(shown)
    outcome = Outcome(verdict["outcome"])
    _, listed = site.call("sessions")
    assert re.search(rf" of [\d,]+ {outcome}\b", listed), listed
    counts = json.loads(site.call("sessions", "--json")[1])[-1]
    covered = json.loads(said["json"])["coverage"]
    assert covered["failed_to_run"] == counts["failed"]
    for name in ("planned", "tested", "unreachable", "skipped"):
        assert covered[name] == counts[name], name
    monkeypatch.setenv("BENCHCONSOLE_DB", str(db))
    assert _make_start_model().sessions[0].verdict.outcome is outcome
    state, lead, rest = make_quiet_headline(read_view(db), TotalsCache())
    assert (state, lead + rest) == (STATES[outcome], sentence)
    assert verdict["exit_code"] == code
    if outcome not in (Outcome.PASS, Outcome.WATCH):
        assert state is not State.PASS
        for text in (*said.values(), shown):
            assert "passed:" not in text
            assert "o fault was found" not in text
    return Told(code, outcome, sentence, tuple(verdict["missing"]))


def read_view(db: Path) -> RunView:
    with Store.open(db) as store:
        return read_stored_view(store, "last", {**load_probes(safe_mode=True).probes, **PROBES})


def check(told: Told, wanted: Wanted) -> None:
    assert (told.code, told.outcome) == (wanted.code, wanted.outcome), told
    assert told.sentence.startswith(wanted.first), told.sentence
    assert told.missing == wanted.gaps


# -- outputs that were brought in


def dd(moved: float) -> str:
    """The output of dd for a copy by hand; ``moved`` in MB/s."""
    return f"1048576000 bytes (1.0 GB, 1000 MiB) copied, {1048.576 / moved:.5f} s, {moved:.1f} MB/s\n"


def unthreaded(triad: float) -> str:
    """The output of a STREAM that was built without OpenMP: it counts no threads; ``triad`` in GB/s."""
    lines = stream(triad).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("Number of Threads"))


CLAUSES = [
    TRIAD,
    "metric: hpl.rate, at_least: 500 GFLOP/s, source: 4.1.2",
    "metric: fio.read, at_least: 1 GB/s, source: 4.1.3",
    "metric: fio.write, at_least: 1 GB/s, source: 4.1.4",
    "metric: ping.loss, at_most: 0 %, source: 4.1.5",
    "metric: iperf3.throughput, at_least: 1 GB/s, source: 4.1.6",
]
_UNPLANNED = "not tested, no test that measures it was planned"
_NOT_ALL = "Not everything was tested and judged: "
_UNKNOWN = "Not everything was judged: "
_NOT_JUDGED = "Not judged, neither passed nor failed: nothing was held against a threshold; "


@pytest.mark.parametrize(
    ("criteria", "probe", "texts", "wanted"),
    [
        pytest.param(
            ["metric: dd.throughput, where: {operation: read}, at_least: 200 MB/s, source: 4.1.2",
             "metric: dd.throughput, where: {operation: write}, at_least: 100 MB/s, source: 4.1.2"],
            "dd", dict.fromkeys(("n1", "n2", "n3", "n4"), dd(50.0)),
            Wanted(Exit.UNTESTED, Outcome.NOT_JUDGED, _NOT_JUDGED + "4 of 4 planned tests gave a result.", (
                "criterion 4.1.2, dd.throughput operation=read: not tested, no value has these labels",
                "criterion 4.1.2, dd.throughput operation=write: not tested, no value has these labels",
            )), id="W2",
        ),
        pytest.param(
            [f"{TRIAD}, where: {{threads: 24}}"], "stream", dict.fromkeys(("n1", "n2", "n3", "n4"), unthreaded(50.5)),
            Wanted(Exit.UNTESTED, Outcome.NOT_JUDGED, _NOT_JUDGED + "4 of 4 planned tests gave a result.", (
                "criterion 4.1.1, stream.triad threads=24: not tested, no value has these labels",
            )), id="W3-without-its-label",
        ),
        pytest.param(
            CLAUSES, "stream", dict.fromkeys(("n1", "n2", "n3", "n4"), stream(100.0)),
            Wanted(Exit.UNTESTED, Outcome.INCOMPLETE, _NOT_ALL + "4 of 4 planned tests gave a result.", (
                f"criterion 4.1.2, hpl.rate: {_UNPLANNED}",
                f"criterion 4.1.3, fio.read: {_UNPLANNED}",
                f"criterion 4.1.4, fio.write: {_UNPLANNED}",
                f"criterion 4.1.5, ping.loss: {_UNPLANNED}",
                f"criterion 4.1.6, iperf3.throughput: {_UNPLANNED}",
            )), id="W5",
        ),
        pytest.param(
            [TRIAD, "metric: stream.time, where: {kernel: none}, at_most: 1 s, source: 4.1.9"],
            "stream", dict.fromkeys(("n1", "n2", "n3", "n4"), stream(100.0)),
            Wanted(Exit.UNTESTED, Outcome.INCOMPLETE, _NOT_ALL + "4 of 4 planned tests gave a result.", (
                "criterion 4.1.9, stream.time kernel=none: not tested, no value has these labels",
            )), id="W5-no-such-value",
        ),
        pytest.param(
            [TRIAD], "stream", {"n1": stream(100.0)},
            Wanted(Exit.UNTESTED, Outcome.INCOMPLETE, _NOT_ALL + "1 of 1 planned test gave a result.", (
                "no test of n[2-4] (3 nodes of the file)",
            )), id="W6",
        ),
        pytest.param(
            [f'{TRIAD}, nodes: "n[1-2]"'], "stream", {"n1": stream(100.0)},
            Wanted(Exit.UNTESTED, Outcome.INCOMPLETE, _NOT_ALL + "1 of 1 planned test gave a result.", (
                "no test of n2 (1 node of the file)", "criterion 4.1.1, stream.triad: not held against n2",
            )), id="W6-named",
        ),
        pytest.param(
            [], "stream", dict.fromkeys(("n1", "n2", "n3", "n4"), stream(1.0)),
            Wanted(Exit.UNTESTED, Outcome.NOT_JUDGED, _NOT_JUDGED + "4 of 4 planned tests gave a result."),
            id="no-criteria",
        ),
        pytest.param(
            [TRIAD], "stream", dict.fromkeys(("n1", "n2", "n3", "n4"), stream(100.0)),
            Wanted(Exit.PASSED, Outcome.PASS, "Everything was judged and passed: 4 of 4 planned tests gave a result."),
            id="passed",
        ),
        pytest.param(
            [f"{TRIAD}, target: 80 GB/s"], "stream", dict.fromkeys(("n1", "n2", "n3", "n4"), stream(70.0)),
            Wanted(Exit.PASSED, Outcome.WATCH, "Everything is above its threshold, 1 finding"), id="watch",
        ),
        pytest.param(
            [TRIAD, CLAUSES[1]], "stream", {"n1": stream(50.0), "n2": stream(100.0)},
            Wanted(Exit.BELOW, Outcome.FAIL, "Below its threshold: 1 finding; 2 of 2 planned tests gave a result.", (
                "no test of n[3-4] (2 nodes of the file)", f"criterion 4.1.2, hpl.rate: {_UNPLANNED}",
            )), id="failed",
        ),
    ],
)  # fmt: skip
def test_outputs_that_were_brought_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, criteria: list[str], probe: str, texts: Mapping[str, str],
    wanted: Wanted,
) -> None:  # fmt: skip
    site = Site(tmp_path, criteria)
    files = [tmp_path / f"{node}.txt" for node in texts]
    for path, text in zip(files, texts.values(), strict=True):
        path.write_text(text)
    code, _ = site.call("ingest", site.topology, probe, *files)
    check(read_everywhere(site, code, monkeypatch), wanted)


def test_a_file_without_criteria_judges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """W11: a session that failed, judged again by a file that asks nothing."""
    site = Site(tmp_path, [TRIAD])
    files = [tmp_path / f"n{number}.txt" for number in range(1, 5)]
    for path in files:
        path.write_text(stream(50.0))
    assert site.call("ingest", site.topology, "stream", *files)[0] == Exit.BELOW
    code, _ = site.call("judge", "last", "--criteria", site.write("empty.yaml"))
    wanted = Wanted(Exit.UNTESTED, Outcome.NOT_JUDGED, _NOT_JUDGED + "4 of 4 planned tests gave a result.")
    check(read_everywhere(site, code, monkeypatch), wanted)
    assert site.call("judge", "last")[0] == Exit.BELOW
    assert "fail, 4 below" in site.call("sessions")[1]


# -- runs


class Reach(PlayedReach):
    """Nodes that answer at the rate of ``rates``, else at ``GOOD``; iperf3 of a node in ``failing`` gives nothing."""

    def __init__(
        self, rates: Mapping[str, float] | None = None, failing: tuple[str, ...] = (), unreachable: tuple[str, ...] = ()
    ) -> None:
        super().__init__(GOOD, unreachable)
        self.rates, self.failing = rates or {}, failing

    async def remote(self, node: Node) -> Remote:
        found = await super().remote(node)
        if node.id not in self.remotes or (node.id not in self.rates and node.id not in self.failing):
            return found
        rate = self.rates.get(node.id, GOOD)
        answer = Output(("iperf3",), f"{rate} bytes per second\n".encode(), node=node.id)
        if node.id in self.failing:
            answer = Output(("iperf3",), b"", b"timed out\n", 1, node=node.id)
        played = FakeRemote(node.id).when("facts", answers=Output(("facts",), b"7\n", node=node.id))
        self.remotes[node.id] = played.when("iperf3", answers=answer)
        return self.remotes[node.id]


Play = Callable[..., None]


def play_nodes(monkeypatch: pytest.MonkeyPatch, reach: Reach, probes: Mapping[str, Probe] = PROBES) -> None:
    """Make the nodes and the probes of a run play."""
    common = "benchconsole.console.cli.common"
    monkeypatch.setattr(f"{common}.load_catalogue", lambda: ProbeCatalogue(probes, (), {}))
    monkeypatch.setattr(f"{common}.load_installed_probes", lambda: probes)
    monkeypatch.setattr(f"{common}.make_asking_reach", lambda *_: reach)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    return partial(play_nodes, monkeypatch)


_EVERY_NODE = tuple(f"n{number}" for number in range(1, 9))
_TOO_FAST = "the number or the description is wrong"


@pytest.mark.parametrize(
    ("stages", "reach", "outcome", "first", "gaps"),
    [
        pytest.param(
            INVENTORY, Reach(), Outcome.NOT_JUDGED, _NOT_JUDGED + "8 of 8 planned tests gave a result.", (),
            id="inventory-only",
        ),
        pytest.param(
            PAIRS, Reach(dict.fromkeys(_EVERY_NODE, 5e9)), Outcome.INCOMPLETE,
            _UNKNOWN, (r"\d+ results could not be judged, such as n\d>n\d, .*" + _TOO_FAST,), id="all-unknown",
        ),
        pytest.param(
            PAIRS, Reach({"n1": 5e9}), Outcome.INCOMPLETE,
            _UNKNOWN, (r"\d results? could not be judged.* n1>n\d, .*" + _TOO_FAST,), id="some-unknown",
        ),
        pytest.param(
            INVENTORY + PAIRS, Reach(unreachable=_EVERY_NODE), Outcome.NOT_JUDGED,
            "Not judged, neither passed nor failed: nothing was measured; 0 of ",
            (r"\d+ tests could not reach the node: n\[1-8\]",), id="nothing-reached",
        ),
        pytest.param(
            TRUNKS, Reach(failing=("n1", "n2")), Outcome.INCOMPLETE,
            _NOT_ALL, (r"\d tests? ran and gave no result: n\[?1.*", r"\d results? could not be judged.*"), id="W13",
        ),
        pytest.param(
            INVENTORY + PAIRS, Reach(), Outcome.PASS, "Everything was judged and passed: ", (), id="passed"
        ),
    ],
)  # fmt: skip
def test_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, play: Play, stages: str, reach: Reach, outcome: Outcome,
    first: str, gaps: tuple[str, ...],
) -> None:  # fmt: skip
    play(reach)
    site = Site(tmp_path, text=f"{RUN_FABRIC}suites:\n  default:\n{stages}")
    code, said = site.call("run", site.topology)
    told = read_everywhere(site, code, monkeypatch)
    assert (told.code, told.outcome) == (Exit.PASSED if outcome is Outcome.PASS else Exit.UNTESTED, outcome), said
    assert told.sentence.startswith(first)
    assert len(told.missing) == len(gaps), told.missing
    for gap, pattern in zip(told.missing, gaps, strict=True):
        assert re.fullmatch(pattern, gap), gap
    assert squeeze(told.sentence) in squeeze(said)
    if outcome is not Outcome.PASS:
        assert site.call("run", site.topology, "--allow-untested")[0] == Exit.PASSED


def test_a_checklist_that_nobody_worked_on_is_not_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of 0 of 0 tests was a pass on the start page."""
    site = Site(tmp_path)
    steps = "schema: 1\nchecklist: mine\ntopology: site.yaml\nsteps:\n  - {id: one, text: Look at it.}\n"
    path = tmp_path / "mine.yaml"
    path.write_text(steps)
    assert site.call("checklist", path, "--label", "by hand")[0] == Exit.UNTESTED
    told = read_everywhere(site, Exit.UNTESTED, monkeypatch)
    first = "Not judged, neither passed nor failed: nothing was measured; no test was planned."
    check(told, Wanted(Exit.UNTESTED, Outcome.NOT_JUDGED, first, ("checklist mine: 1 step not done",)))
    marking = ("--session", "by hand", "--step", "one", "--by", "ann", "--state")
    for state, outcome in (("fail", Outcome.FAIL), ("pass", Outcome.PASS)):
        code, _ = site.call("checklist", path, *marking, state)
        assert read_everywhere(site, code, monkeypatch).outcome is outcome


class Telling(Probe):
    """An inventory that tells the processor of its node."""

    name = "inventory"
    summary = "one fact"

    def command(self, target: Target) -> list[str]:
        return ["facts", target.node.id]

    def parse(self, output: Output) -> Sequence[Reading | Fact]:
        return (Fact("cpu.model", "Xeon"),)


class Interrupted(Pair):
    """The operator presses ctrl-c as soon as the first of these tests runs."""

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()
        return ()


@pytest.mark.parametrize(("pair", "state"), [(Interrupted(), State.SKIPPED), (Pair(), State.PASS)])
def test_a_node_is_not_drawn_as_passed_because_its_inventory_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, play: Play, pair: Probe, state: State
) -> None:
    """Its facts are as declared, and every other test of it was never begun."""
    play(Reach(), {"inventory": Telling(), "iperf3": pair})
    classes = "classes: {blade: {cpu: {model: Xeon}}}\n"
    text = FABRIC.replace('{"n[1-4]": {}}', '{"n[1-4]": {class: blade}}')
    site = Site(tmp_path, text=f"{text}{classes}suites:\n  default:\n{INVENTORY}{PAIRS}")
    code, _ = site.call("run", site.topology)
    passed = state is State.PASS
    assert code == (Exit.PASSED if passed else Exit.INTERRUPTED)
    told = read_everywhere(site, Exit.PASSED if passed else Exit.UNTESTED, monkeypatch)
    assert told.outcome is (Outcome.PASS if passed else Outcome.INCOMPLETE)
    assert ("8 tests not run: n[1-4]" in told.missing) is not passed
    assert {seen.state for seen in read_view(tmp_path / "s.db").nodes.values()} == {state}
    assert ("· pass 4" in site.call("show")[1]) is passed
