"""The table of wrong passes in the documentation: each trial is played, and prints the sentence that its row quotes."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Probe
from tests import plain_sqlite
from tests.probes.played import PROBES
from tests.scenarios.test_judging_trials import FABRIC, OWN_CRITERION, TRIAD, WEAK, Site, iperf3, stream
from tests.scenarios.test_session_verdicts import (
    CLAUSES,
    INVENTORY,
    PAIRS,
    RUN_FABRIC,
    TRUNKS,
    Interrupted,
    Reach,
    Telling,
    dd,
    play_nodes,
)

TABLE = Path("docs/explanation/judging.md")
ROW = re.compile(r"^\| (\S+) \| .+ \| (\d+) \| `(.+)` \|$", re.MULTILINE)
NODES = ("n1", "n2", "n3", "n4")
EVERY_NODE = tuple(f"n{number}" for number in range(1, 9))
TOO_FAST = 5e9
"""Byte/s, four times as much as 10 Gb/s carry."""

Told = tuple[int, str]
Trial = Callable[[Path, pytest.MonkeyPatch], Told]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: the trial, the exit code and the sentence that it prints."""

    trial: str
    code: int
    sentence: str


def read_rows() -> list[Row]:
    section = TABLE.read_text().partition("\n## Wrong passes\n")[2].partition("\n## ")[0]
    return [Row(trial, int(code), sentence) for trial, code, sentence in ROW.findall(section)]


def show(site: Site, told: Told) -> Told:
    """With everything that ``show`` prints of the session afterwards."""
    code, shown = site.call("show")
    assert code == 0, shown
    return told[0], f"{told[1]} {shown}"


def ingest(criteria: Iterable[str], probe: str, text: str, nodes: Iterable[str] = NODES) -> Trial:
    """One output of each node, brought in together."""

    def play(folder: Path, _: pytest.MonkeyPatch) -> Told:
        site = Site(folder, tuple(criteria))
        files = [folder / f"{node}.txt" for node in nodes]
        for path in files:
            path.write_text(text)
        return show(site, site.call("ingest", site.topology, probe, *files))

    return play


def edit(criterion: str, value: str) -> Trial:
    """Four sound nodes; in the file of the session the numbers of n1 are changed by hand, and it is judged again."""

    def play(folder: Path, _: pytest.MonkeyPatch) -> Told:
        ingest([criterion], "stream", stream(100.0))(folder, _)
        with closing(plain_sqlite.connect(folder / "s.db")) as connection:
            of = "result_id = (SELECT min(id) FROM result)"
            connection.execute(f"UPDATE measurement SET value = {value} WHERE {of}")  # noqa: S608 - texts of this test
        site = Site(folder, [criterion])
        return show(site, site.call("judge", "last"))

    return play


def ingest_flow(criterion: str, rate: float) -> Trial:
    """One flow of iperf3 from n1 to n2, at so many Gb/s."""

    def play(folder: Path, _: pytest.MonkeyPatch) -> Told:
        site = Site(folder, [criterion])
        return show(site, site.ingest("iperf3", iperf3(rate), "--node", "n1", "--peer", "n2"))

    return play


def check(criterion: str) -> Trial:
    return lambda folder, _: (site := Site(folder, [criterion])).call("check", site.topology)


def run(stages: str, reach: Reach, probes: Mapping[str, Probe] = PROBES, fabric: str = RUN_FABRIC) -> Trial:
    def play(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
        play_nodes(monkeypatch, reach, probes)
        site = Site(folder, text=f"{fabric}suites:\n  default:\n{stages}")
        return show(site, site.call("run", site.topology))

    return play


def judge_by(criteria: Iterable[str]) -> Trial:
    """50 GB/s on every node, of which the file asks 65, judged again by a file with ``criteria``."""

    def play(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
        ingest([TRIAD], "stream", stream(50.0))(folder, monkeypatch)
        site = Site(folder, [TRIAD])
        return show(site, site.call("judge", "last", "--criteria", site.write("other.yaml", tuple(criteria))))

    return play


def measure_again(folder: Path, _: pytest.MonkeyPatch) -> Told:
    site = Site(folder, [TRIAD])
    site.ingest("stream", stream(50.0), "--node", "n1", "--at", "2026-11-21T10:02:00Z")
    again = ("--session", "last", "--at", "2026-11-21T10:40:00Z")
    return show(site, site.ingest("stream", stream(100.0), "--node", "n1", *again))


def measure_again_undated(folder: Path, _: pytest.MonkeyPatch) -> Told:
    site = Site(folder, [TRIAD])
    site.ingest("stream", stream(50.0), "--node", "n1")
    return show(site, site.ingest("stream", stream(100.0), "--node", "n1", "--session", "last"))


def ingest_flows(folder: Path, _: pytest.MonkeyPatch) -> Told:
    """Two outputs of flows that did not share the NIC."""
    site = Site(folder)
    files = []
    for number, rate in enumerate((4.7, 4.71)):
        files.append(folder / f"flow{number}.json")
        files[-1].write_text(iperf3(rate))
    return show(site, site.call("ingest", site.topology, "iperf3", *files, "--node", "n1", "--peer", "n2"))


def begin_checklist(folder: Path, _: pytest.MonkeyPatch) -> Told:
    site = Site(folder)
    path = folder / "mine.yaml"
    path.write_text("schema: 1\nchecklist: mine\ntopology: site.yaml\nsteps:\n  - {id: one, text: Look at it.}\n")
    return show(site, site.call("checklist", path, "--label", "by hand"))


READ = "metric: dd.throughput, where: {operation: read}, at_least: 200 MB/s, source: 4.1.2"
BLADES = "classes: {blade: {cpu: {model: Xeon}}}\n"
BLADE_FABRIC = FABRIC.replace('{"n[1-4]": {}}', '{"n[1-4]": {class: blade}}') + BLADES
TRIALS: Mapping[str, Trial] = MappingProxyType({
    "W1": judge_by([WEAK]),
    "W2": ingest([READ], "dd", dd(50.0)),
    "W3": check(f"{TRIAD}, where: {{thraeds: 24}}"),
    "W4": check("metric: ior.throughput, at_least: 80 %, of: capacity"),
    "W5": ingest(CLAUSES, "stream", stream(100.0)),
    "W6": ingest([TRIAD], "stream", stream(100.0), ["n1"]),
    "W7": ingest_flow(OWN_CRITERION, 80.0),
    "W8-udp": ingest_flow(f"{OWN_CRITERION}, where: {{protocol: udp}}", 3.0),
    "W8-n4": ingest_flow(f"{OWN_CRITERION}, nodes: n4", 3.0),
    "W9": ingest_flow(OWN_CRITERION, 3.0),
    "W10": measure_again,
    "W10-undated": measure_again_undated,
    "W10-flows": ingest_flows,
    "W11": judge_by([]),
    "W12": check(f"{TRIAD}, round: 100 GB/s"),
    "W13": run(TRUNKS, Reach(failing=("n1", "n2"))),
    "W14": check(f"{TRIAD}, target: 40 GB/s"),
    "W15": check("metric: ping.rtt, at_least: 1 ms"),
    "all-unknown": run(PAIRS, Reach(dict.fromkeys(EVERY_NODE, TOO_FAST))),
    "edited-inf": edit(TRIAD, "9e999"),
    "edited-large": edit(TRIAD, "1e30"),
    "edited-less": edit("metric: stream.time, at_most: 1 s, source: 4.1.1", "-1"),
    "edited-text": edit(TRIAD, "'nan'"),
    "inventory-only": run(INVENTORY, Reach()),
    "none-planned": begin_checklist,
    "none-reached": run(INVENTORY + PAIRS, Reach(unreachable=EVERY_NODE)),
    "one-unknown": run(PAIRS, Reach({"n1": TOO_FAST})),
    "not-run": run(INVENTORY + PAIRS, Reach(), {"inventory": Telling(), "iperf3": Interrupted()}, BLADE_FABRIC),
})  # fmt: skip


def test_the_table_has_every_trial() -> None:
    assert [row.trial for row in read_rows()] == list(TRIALS)


@pytest.mark.parametrize("row", read_rows(), ids=lambda row: row.trial)
def test_a_trial_prints_what_its_row_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Row) -> None:
    code, said = TRIALS[row.trial](tmp_path, monkeypatch)
    assert (code, row.sentence in said) == (row.code, True), said
    assert "o fault was found" not in said
    assert row.trial == "W1" or "passed:" not in said
