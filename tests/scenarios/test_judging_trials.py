"""Ways to be told "passed" where nothing passed: from a topology file and outputs of tools to the sentence.

Each goes through the real command line: ``ingest``, ``judge``, ``show``, ``report``, ``check``.
"""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command as benchconsole
from benchconsole.console.exits import BadInput, Exit
from benchconsole.topology.errors import TopologyError

TRANSCRIPTS = Path("tests/probes/tools/transcripts")
FABRIC = """\
schema: 1
fabric: toy
switches: {leaf: {role: leaf}}
nodes: {"n[1-4]": {}}
links: [{from: "n[1-4]", to: leaf, speed: 10 Gb/s}]
"""


class Site:
    """A folder with a topology file and a database, and the commands on them."""

    def __init__(self, folder: Path, criteria: Sequence[str] = (), text: str = FABRIC) -> None:
        self.folder = folder
        self.topology = self.write("site.yaml", criteria, text)

    def write(self, name: str, criteria: Sequence[str] = (), text: str = FABRIC) -> Path:
        path = self.folder / name
        path.write_text(
            text + "".join(["criteria:\n", *(f"  - {{{each}}}\n" for each in criteria)] if criteria else [])
        )
        return path

    def call(self, *arguments: str | Path) -> tuple[int, str]:
        """The exit code, and everything that was said; also of errors that the entry point words."""
        db = ["--db", str(self.folder / "s.db")] if arguments[0] != "check" else []
        done = CliRunner().invoke(benchconsole, [*map(str, arguments), *db])
        if isinstance(done.exception, (BadInput, TopologyError)):
            return Exit.BAD_INPUT, str(done.exception)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, " ".join(done.output.split())

    def ingest(self, probe: str, text: str, *options: str) -> tuple[int, str]:
        path = self.folder / "output.txt"
        path.write_text(text)
        return self.call("ingest", self.topology, probe, path, *options)

    def report(self) -> dict[str, Any]:
        """The JSON report of the last session."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        (self.folder / "out").mkdir()
        code, said = self.call("report", "-o", self.folder / "out" / "r.json")
        assert code == 0, said
        found: dict[str, Any] = json.loads((self.folder / "out" / "r.json").read_text())
        return found

    def verdicts(self) -> list[dict[str, Any]]:
        """The verdicts of the last session, from its JSON report."""
        found: list[dict[str, Any]] = self.report()["verdicts"]
        return found


def stream(triad: float) -> str:
    """The output of STREAM; ``triad`` in GB/s."""
    printed = (TRANSCRIPTS / "stream" / "5.10-24-threads.txt").read_text()
    least = 3 * 80_000_000 * 8 / (triad * 1e9)
    times = f"{least * 1.01:.6f}     {least:.6f}     {least * 1.02:.6f}"
    return printed.replace("112293.1     0.017312     0.017098     0.017655", f"{triad * 1e3:.1f}     {times}")


def iperf3(rate: float) -> str:
    """The output of iperf3 for one stream of so many Gb/s, in one second."""
    printed = (TRANSCRIPTS / "iperf3" / "tcp1-3.12.txt").read_text()
    moved = rate / 8 * 1e9 / 2**30
    return printed.replace("18.7 Gbits", f"{rate:.2f} Gbits").replace("2.18 GBytes", f"{moved:.2f} GBytes")


TRIAD = "metric: stream.triad, at_least: 65 GB/s, source: 4.1.1"
WEAK = "metric: stream.triad, at_least: 40 GB/s, source: 4.1.1"
OWN_CRITERION = "metric: iperf3.throughput, at_least: 1 Mb/s, source: 5.1.1"


def test_a_judgement_with_other_criteria_prints_them_and_says_so(tmp_path: Path) -> None:
    """W1: 50 GB/s, of which the file asks 65, judged by a file that asks 40."""
    site = Site(tmp_path, [TRIAD])
    assert site.ingest("stream", stream(50.0), "--node", "n1")[0] == Exit.BELOW
    weak = site.write("weak.yaml", [WEAK])
    code, said = site.call("judge", "last", "--criteria", weak)
    assert code == Exit.UNTESTED  # three nodes of the file have no output
    _, shown = site.call("show")
    report = site.folder / "r.md"
    site.call("report", "-o", report)
    for text in (said, shown, " ".join(report.read_text().replace("\\", "").split())):
        assert "with the criteria of weak.yaml, which are not those of the file of the session" in text
        assert "stream.triad: at least 40.0 GB/s, not as the file: at least 65.0 GB/s" in text
    assert "at least 40.0 GB/s" in report.read_text().partition("criteria")[2]
    assert [(row["level"], row["required"]) for row in site.verdicts() if row["metric"] == "stream.triad"] == [
        ("pass", 40e9)
    ]
    code, said = site.call("judge", "last")
    assert code == Exit.BELOW
    assert "with the criteria of the file of the session" in said
    assert [(row["level"], row["required"]) for row in site.verdicts() if row["metric"] == "stream.triad"] == [
        ("fail", 65e9)
    ]


def test_what_is_measured_after_a_judgement_is_held_against_its_criteria(tmp_path: Path) -> None:
    site = Site(tmp_path, [TRIAD])
    site.ingest("stream", stream(50.0), "--node", "n1")
    site.call("judge", "last", "--criteria", site.write("weak.yaml", [WEAK]))
    code, _ = site.ingest("stream", stream(45.0), "--node", "n2", "--session", "last")
    assert code == Exit.UNTESTED  # two nodes of the file have no output
    assert [row["required"] for row in site.verdicts() if row["metric"] == "stream.triad"] == [40e9, 40e9]


def test_criteria_that_name_nodes_of_another_machine_are_refused(tmp_path: Path) -> None:
    site = Site(tmp_path, [TRIAD])
    site.ingest("stream", stream(70.0), "--node", "n1")
    other = site.write("other.yaml", [f"{WEAK}, nodes: m1"], FABRIC.replace("n[1-4]", "m[1-4]"))
    code, said = site.call("judge", "last", "--criteria", other)
    assert code == Exit.BAD_INPUT
    assert "names m1, expected nodes of toy" in said
    assert site.call("show")[0] == 0


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ([OWN_CRITERION], ["metric: iperf3.throughput, at_least: 80 %, of: capacity"]),
        ([], ["metric: iperf3.throughput, at_least: 95 %, of: capacity"]),
        (["metric: iperf3.throughput, at_least: 80 %, of: capacity"], [OWN_CRITERION]),
    ],
)
def test_a_judgement_by_capacity_leaves_a_session_that_can_be_shown(
    tmp_path: Path, own: Sequence[str], other: Sequence[str]
) -> None:
    """C1: it ended with ValueError, and so did every later command on that session."""
    site = Site(tmp_path, own)
    site.ingest("iperf3", iperf3(5.0), "--node", "n1", "--peer", "n2")
    code, said = site.call("judge", "last", "--criteria", site.write("other.yaml", other))
    assert code == Exit.BELOW, said
    for command in ("show", "report", "judge"):
        assert site.call(command)[0] in (Exit.PASSED, Exit.BELOW)


def test_what_no_node_could_run_here_is_shown_all_the_same(tmp_path: Path) -> None:
    """C2: outputs of another time, on nodes whose addresses no launcher would take."""
    shutil.copy("topology/examples/llnl.yaml", tmp_path / "llnl.yaml")
    site = Site(tmp_path)
    site.topology = tmp_path / "llnl.yaml"
    text = (TRANSCRIPTS / "ior" / "3.3.0.txt").read_text()
    site.ingest("ior", text, "--members", "alc[001-004]")
    code, said = site.call("show")
    assert code == 0
    assert "ior.throughput" in said
    assert site.call("report")[0] == 0


_IMPOSSIBLE = "80.0 Gb/s over n1 out, which carries 10.0 Gb/s as described: the number or the description is wrong"


@pytest.mark.parametrize(
    ("criteria", "rate", "code", "levels", "because"),
    [
        pytest.param([OWN_CRITERION], 80.0, Exit.UNTESTED, ["unknown", "unknown"], _IMPOSSIBLE, id="W7"),
        pytest.param(
            [f"{OWN_CRITERION}, where: {{protocol: udp}}"], 3.0, Exit.BELOW, ["fail"], "below 80 %", id="W8-udp"
        ),
        pytest.param([f"{OWN_CRITERION}, nodes: n4"], 3.0, Exit.BELOW, ["fail"], "below 80 %", id="W8-n4"),
        pytest.param([OWN_CRITERION], 3.0, Exit.BELOW, ["pass", "fail"], "32 % of expected, below 80 %", id="W9"),
        pytest.param([OWN_CRITERION], 9.3, Exit.UNTESTED, ["pass", "pass"], "99 % of expected", id="W9-whole"),
    ],
)
def test_no_criterion_hides_what_the_fabric_says(
    tmp_path: Path, criteria: Sequence[str], rate: float, code: int, levels: Sequence[str], because: str
) -> None:
    """W7: 80 Gb/s over a port of 10. W8: a criterion on other tests. W9: a weak criterion beside a low flow."""
    site = Site(tmp_path, criteria)
    found, said = site.ingest("iperf3", iperf3(rate), "--node", "n1", "--peer", "n2")
    assert found == code, said
    assert ("Nothing that was judged is below its threshold" in said) is (code == Exit.UNTESTED)
    rows = [row for row in site.verdicts() if row["metric"] == "iperf3.throughput"]
    assert [row["level"] for row in rows] == levels
    assert because in rows[-1]["reason"]


def test_a_failure_that_was_repeated_stays_in_the_report(tmp_path: Path) -> None:
    """W10: 50 GB/s, then 100 GB/s, in one session."""
    site = Site(tmp_path, [TRIAD])
    site.ingest("stream", stream(50.0), "--node", "n1", "--at", "2026-11-21T10:02:00Z")
    code, _ = site.ingest("stream", stream(100.0), "--node", "n1", "--session", "last", "--at", "2026-11-21T10:40:00Z")
    assert code == Exit.UNTESTED  # three nodes of the file have no output
    _, shown = site.call("show")
    sentence = "50.0 GB/s failed at 2026-11-21 10:02:00 UTC, then 100 GB/s passed at 2026-11-21 10:40:00 UTC"
    assert f"n1 stream.triad array_size=610.35MiB, threads=24, times=10: {sentence}" in shown
    report = site.folder / "r.md"
    site.call("report", "-o", report)
    assert sentence in report.read_text()
    levels = [(row["superseded"], row["level"]) for row in site.verdicts() if row["metric"] == "stream.triad"]
    assert levels == [(True, "fail"), (False, "pass")]
    (listed,) = json.loads(site.call("sessions", "--json")[1])
    assert [listed[name] for name in ("planned", "tested", "fails", "watches")] == [1, 1, 0, 0]


@pytest.mark.parametrize(("first", "second"), [(50.0, 100.0), (100.0, 50.0)])
def test_an_older_output_replaces_no_newer_one(tmp_path: Path, first: float, second: float) -> None:
    site = Site(tmp_path, [TRIAD])
    at = "2026-11-21T10:{}:00Z"
    code, _ = site.ingest("stream", stream(first), "--node", "n1", "--at", at.format(40))
    older = ("--node", "n1", "--session", "last", "--at", at.format("02"))
    refused, said = site.ingest("stream", stream(second), *older)
    assert refused == Exit.BAD_INPUT
    assert "found outputs of 2026-11-21 10:02:00 UTC, and n1 of 2026-11-21 10:40:00 UTC in the session" in said
    assert site.call("judge")[0] == code
    assert site.ingest("stream", stream(second), "--node", "n2", *older[2:])[0] == 1  # another node of that time
    assert site.ingest("stream", stream(second), "--node", "n1", "--session", "last", "--at", at.format(40))[0] != 2


def test_what_passes_under_other_conditions_replaces_no_failure(tmp_path: Path) -> None:
    """50 GB/s with 16 threads fails; 100 GB/s with 24 threads is another test of the node."""
    site = Site(tmp_path, [TRIAD])

    def run_fewer(triad: float) -> str:
        return re.sub("(Threads [a-z]+) = 24", r"\1 = 16", stream(triad))

    early, late = ("--at", "2026-11-21T10:02:00Z"), ("--at", "2026-11-21T10:40:00Z")
    assert site.ingest("stream", run_fewer(50.0), "--node", "n1", *early)[0] == 1
    code, said = site.ingest("stream", stream(100.0), "--node", "n1", "--session", "last", *late)
    assert code == 1
    assert "2 of 2 planned tests" in said
    assert "50.0 GB/s, asked 65.0 GB/s" in said
    code, _ = site.ingest("stream", run_fewer(100.0), "--node", "n1", "--session", "last", *late)
    assert code == Exit.UNTESTED  # three nodes of the file have no output
    assert "then 100 GB/s passed" in site.call("show")[1]


def test_an_output_that_lacks_what_failed_replaces_nothing(tmp_path: Path) -> None:
    """Of 24 sizes one fails; an output with the other 23 would leave none that does."""
    site = Site(tmp_path, ["metric: imb.latency, at_most: 1 ms, source: 5.2.1"])
    printed = (TRANSCRIPTS / "imb" / "2017-u2-pingpong.txt").read_text()
    pair, into = ("--node", "n1", "--peer", "n2"), ("--session", "last", "--at", "2026-11-21T10:40:00Z")
    assert site.ingest("imb", printed, *pair, "--at", "2026-11-21T10:02:00Z")[0] == 1
    fewer = "".join(line for line in printed.splitlines(keepends=True) if "1130.92" not in line)
    code, said = site.ingest("imb", fewer, *pair, *into)
    assert code == Exit.BAD_INPUT
    assert "found an output of n1>n2 without imb.bandwidth" in said
    assert "size=4194304" in said
    assert " and 2 more, which that of " in said
    assert site.call("judge")[0] == 1
    mended = re.sub("1130.92 +3536.94", f"930.92   {4 / 930.92e-6:.2f}", printed)
    assert site.ingest("imb", mended, *pair, *into)[0] == Exit.UNTESTED  # other nodes of the file have no output
    assert "then 931 µs passed" in site.call("show")[1]


@pytest.mark.parametrize(
    ("criterion", "sentence"),
    [
        pytest.param(
            "metric: stream.triad, at_least: 65 GB/s, where: {thraeds: 24}",
            "unknown label 'thraeds' of stream.triad, expected one of",
            id="W3",
        ),
        pytest.param(
            "metric: ior.throughput, at_least: 80 %, of: capacity",
            "capacity, of which ior.throughput is no share, expected one of",
            id="W4",
        ),
        pytest.param(
            "metric: stream.triad, at_least: 65 GB/s, round: 100 GB/s",
            "a step of 100 GB/s, expected at most a tenth of the bound (6.50 GB/s): a coarser step decides by itself",
            id="W12",
        ),
        pytest.param(
            "metric: stream.triad, at_least: 65 GB/s, target: 40 GB/s",
            "a target of 40 GB/s, which is worse than at_least 65 GB/s, expected the better of the two as target",
            id="W14",
        ),
        pytest.param(
            "metric: ping.rtt, at_least: 1 ms",
            "at_least on ping.rtt, expected at_most: less of it is better",
            id="W15",
        ),
        pytest.param(
            "metric: iperf3.throughput, at_least: 80 %, of: peak",
            "peak, of which iperf3.throughput is no share, expected a metric in FLOP/s",
            id="peak",
        ),
        pytest.param(
            "metric: stream.triad, at_least: 80 %, of: rtt",
            "rtt, of which stream.triad is no share, expected a metric in s, as round trips are",
            id="rtt",
        ),
    ],
)
def test_a_criterion_that_cannot_be_right_is_refused_before_anything_passes(
    tmp_path: Path, criterion: str, sentence: str
) -> None:
    site = Site(tmp_path, [criterion])
    line = len(FABRIC.splitlines()) + 2
    for code, said in (
        site.call("check", site.topology),
        site.call("run", site.topology, "--dry-run"),
        site.ingest("stream", stream(50.5), "--node", "n1"),
    ):
        assert code == Exit.BAD_INPUT
        assert f"site.yaml:{line}:" in said
        assert sentence in said


def test_a_stage_that_a_run_would_refuse_is_refused_by_check(tmp_path: Path) -> None:
    site = Site(tmp_path, text=f"{FABRIC}suites: {{default: [{{probe: dd, size: 1 mb}}]}}\n")
    code, said = site.call("check", site.topology)
    assert code == Exit.BAD_INPUT
    assert "site.yaml:6:38: dd option size: found '1 mb', expected a size such as 128 GiB or 4 TB" in said


def test_a_report_in_no_known_format_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path, [TRIAD])
    site.ingest("stream", stream(70.0), "--node", "n1")
    code, said = site.call("report", "-o", tmp_path / "r.xlsx")
    assert code == Exit.BAD_INPUT
    assert "found the ending .xlsx" in said
    assert "expected one of .html (html), .md (md), .csv (csv), .json (json), .txt (text)" in said
    assert not (tmp_path / "r.xlsx").exists()


@pytest.mark.parametrize(
    ("where", "levels"),
    [
        ("{threads: 24}", ["fail"]),
        ("{threads: '> 23'}", ["fail"]),
        ("{threads: '> 24'}", []),
        ("{nodes: '< 2'}", ["fail"]),
        ("{nodes: '> 1'}", []),
    ],
)
def test_a_condition_compares_by_value(tmp_path: Path, where: str, levels: Sequence[str]) -> None:
    site = Site(tmp_path, [f"{TRIAD}, where: {where}"])
    site.ingest("stream", stream(50.0), "--node", "n1")
    assert [row["level"] for row in site.verdicts()] == levels


@pytest.mark.parametrize("where", ["threads > 24", "nodes > 1"])
def test_a_condition_that_nothing_meets_is_said_to_be_not_tested(tmp_path: Path, where: str) -> None:
    name, _, condition = where.partition(" ")
    site = Site(tmp_path, [TRIAD, f"{WEAK}, where: {{{name}: '{condition}'}}"])
    code, said = site.ingest("stream", stream(70.0), "--node", "n1")
    assert code == Exit.UNTESTED
    assert f"criterion 4.1.1, stream.triad {where}: not tested, no value has these labels" in said


@pytest.mark.parametrize(
    ("where", "orders"),
    [
        ("{memory_share: '>= 50 %'}", ["20000"]),
        ("{memory_share: '< 50 %'}", ["8640", "8640"]),
        ("{memory_share: '> 90 %'}", []),
    ],
)
def test_a_small_matrix_does_not_meet_a_clause_on_the_memory_it_takes(
    tmp_path: Path, where: str, orders: Sequence[str]
) -> None:
    text = FABRIC.replace('nodes: {"n[1-4]": {}}', 'classes: {a: {memory: 4 GiB}}\nnodes: {"n[1-4]": {class: a}}')
    site = Site(tmp_path, [f"metric: hpl.rate, at_least: 1 GFLOP/s, where: {where}"], text)
    site.ingest("hpl", (TRANSCRIPTS / "hpl" / "2.1-two-tests.txt").read_text(), "--node", "n1")
    assert [row["labels"]["n"] for row in site.verdicts() if row["metric"] == "hpl.rate"] == orders
