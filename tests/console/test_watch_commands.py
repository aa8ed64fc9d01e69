"""``watch`` and ``availability`` on the command line, with played nodes and a played clock."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.session import availability_watch as watch_module
from benchconsole.store.store import Store
from tests.console.test_cli import run
from tests.console.watched import T0, PlayedClock, PlayedNodes
from tests.fabrics import SMALL


class Commands:
    """A database, a topology, and the commands on them."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str] | None = None
    ) -> None:
        self.db = folder / "s.db"
        self.topology = folder / "small.yaml"
        self.topology.write_text(SMALL)
        self.clock = PlayedClock()
        self.nodes = PlayedNodes(self.clock)
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        watch = watch_module.AvailabilityWatch

        def played(*arguments: Any, **_: Any) -> watch_module.AvailabilityWatch:
            return watch(*arguments, make_reach=self.nodes.reach, clock=self.clock)

        monkeypatch.setattr(watch_module, "AvailabilityWatch", played)

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        assert self.capsys is not None
        code = run(self.monkeypatch, *arguments, "--db", self.db)
        said = self.capsys.readouterr()
        return code, said.out, said.err

    def watch(self, *more: str) -> tuple[int, str, str]:
        return self(*self.watch_arguments, *more)

    @property
    def watch_arguments(self) -> tuple[str | Path, ...]:
        return "watch", self.topology, "--every", "30m", "--for", "10h"


@pytest.fixture
def on(memory_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(memory_path, monkeypatch, capsys)


@pytest.fixture(scope="module")
def quiet_watch(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The database of a watch in which every node answered every sample."""
    folder = tmp_path_factory.mktemp("quiet")
    with pytest.MonkeyPatch.context() as monkeypatch:
        commands = Commands(folder, monkeypatch)
        assert run(monkeypatch, *commands.watch_arguments, "--db", commands.db) == Exit.PASSED
    return commands.db.read_bytes()


@pytest.fixture
def watched(on: Commands, quiet_watch: bytes) -> Commands:
    """The commands on a copy of that database."""
    on.db.write_bytes(quiet_watch)
    return on


def fails_from(on: Commands, first: int, last: int, *nodes: str) -> None:
    """These nodes do not answer samples ``first`` to ``last``."""

    def before(due: float) -> None:
        number = round((due - T0) / 1800)
        on.nodes.down = set(nodes) if first <= number <= last else set()

    on.clock.before = before


def test_a_line_for_each_sample_and_a_verdict_of_what_they_add_up_to(on: Commands) -> None:
    fails_from(on, 4, 6, "n3", "n4")
    code, out, _ = on.watch("--label", "stability")
    assert code == Exit.PASSED
    lines = out.splitlines()
    assert lines[0] == "2023-11-14 22:13:20 UTC  sample 0 of 20: 10 of 10 up"
    assert "sample 4 of 20: 8 of 10 up; n[3-4]: unreachable" in lines[4]
    assert len(lines) == 22
    code, out, _ = on("availability", "stability")
    assert code == Exit.PASSED
    # Six of 200 half hours without an answer, in two of them they came back; two more in which they went.
    assert "system (10)" in out
    assert "PASSED: the system was up 96.000 % of the time at worst; at least 95.000 % is asked." in out
    assert on("availability", "stability", "--at-least", "98%")[0] == Exit.UNTESTED
    assert on("availability", "stability", "--at-least", "98.5%")[0] == Exit.BELOW
    code, out, _ = on("availability", "stability", "--each")
    assert code == Exit.BELOW
    assert "FAILED" in out
    assert "8 more nodes without an outage" in out


def test_a_report_on_a_watch_passes_nothing_by_its_last_sample(on: Commands) -> None:
    fails_from(on, 4, 9, "n1", "n2", "n3", "n4", "n5")
    on.watch()
    _, out, _ = on("report")
    assert "○ Not judged, neither passed nor failed" in out
    assert "what the samples of a watch add up to is said by: benchconsole availability" in " ".join(out.split())


def test_a_reboot_is_named_where_outages_are_counted(on: Commands) -> None:
    on.clock.before = lambda due: on.nodes.boots.update(n2=1) if due >= T0 + 8 * 1800 else None
    on.watch()
    _, out, _ = on("availability")
    (line,) = [line for line in out.splitlines() if line.startswith(("? n2", "· n2"))]
    assert "  1 (1 reboot), MTBF 10:00:00" in line


def test_the_answer_for_programs(on: Commands) -> None:
    fails_from(on, 4, 5, "n3")
    on.watch()
    code, out, _ = on("availability", "last", "--json")
    found = json.loads(out)
    assert (code, found["level"]) == (0, "pass")
    node = next(each for each in found["nodes"] if each["name"] == "n3")
    assert node["share"] == pytest.approx(0.9, abs=1e-4)
    assert (node["worst"], node["best"]) == (pytest.approx(0.85, abs=1e-4), pytest.approx(0.95, abs=1e-4))
    assert [round(each["seconds"]) for each in node["outages"]] == [3600]
    assert found["schedule"]["every"] == 1800.0
    assert found["service"] is None


def test_excluded_time_is_recorded_with_its_reason_and_counts_until_it_is_taken_back(on: Commands) -> None:
    fails_from(on, 4, 9, "n1", "n2", "n3", "n4", "n5")
    on.watch()
    assert on("availability")[0] == Exit.BELOW
    span = "2023-11-14T23:40Z/2023-11-15T03:20Z"
    code, out, _ = on("availability", "last", "--exclude", f"{span} new firmware on leaf1", "--by", "Ann")
    assert code == Exit.PASSED
    assert "excluded: 2023-11-14 23:40:00 UTC to 2023-11-15 03:20:00 UTC by Ann: new firmware on leaf1" in out
    assert on("availability")[0] == Exit.PASSED
    assert "by Ann: new firmware on leaf1" in on("report")[1]
    assert on("availability", "last", "--withdraw", span, "--by", "Bob")[0] == Exit.BELOW
    assert "by Bob" in on("report")[1]
    code, _, err = on("availability", "last", "--withdraw", span)
    assert (code, "found nothing excluded" in err) == (Exit.BAD_INPUT, True)


def test_nothing_is_recorded_where_one_exclusion_cannot_be_read(watched: Commands) -> None:
    good = "2023-11-14T23:40Z/2023-11-15T03:20Z works"
    code, _, err = watched("availability", "last", "--exclude", good, "--exclude", "2023-11-14T23:40Z works")
    assert (code, "nothing was recorded" in err) == (Exit.BAD_INPUT, True)
    with Store.open(watched.db) as store:
        assert not store.session(store.find_session("last")).read_notes()


def test_a_service_is_held_against_the_rest(on: Commands) -> None:
    fails_from(on, 4, 9, "st1")
    on.watch()
    code, out, _ = on("availability", "last", "--service", "st1", "--within", "2 %")
    assert code == Exit.BELOW
    assert "system (9)" in out
    assert "it may stay 2.000 % of all time behind" in out
    assert on("availability", "last", "--service", "st1", "--within", "40%")[0] == Exit.PASSED
    assert on("availability", "last", "--service", "st2")[0] == Exit.PASSED
    assert on("availability", "last", "--service", "n[1-8],st[1-2]")[0] == Exit.BAD_INPUT


def test_what_goes_on_says_what_it_missed(on: Commands) -> None:
    interrupted: list[float] = []

    def before(due: float) -> None:
        if round((due - T0) / 1800) == 6 and not interrupted:
            interrupted.append(due)
            signal.raise_signal(signal.SIGINT)

    on.clock.before = before
    assert on.watch("--label", "w")[0] == Exit.INTERRUPTED
    on.clock.at = T0 + 9.5 * 1800
    code, out, _ = on("watch", on.topology, "--session", "w")
    assert (code, "sample 10 of 20" in out.splitlines()[0]) == (Exit.PASSED, True)
    code, out, _ = on("availability", "w")
    assert code == Exit.UNTESTED
    assert "not sampled 20:00:00" in out  # ten nodes, four half hours each
    assert "NOT KNOWN: the system was up between 79.999 % and 100.000 % of the time" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--every", "10"], "expected a time such as 30s"),
        (["--every", "0s"], "expected a time such as 30s"),
        (["--every", "1 week"], "expected a time such as 30s"),
        (["--every", "7m", "--for", "1h"], "whole number of times"),
        (["--every", "1h", "--for", "30m"], "whole number of times"),
        (["--suite", "default"], "expected stages of availability"),
        (["--suite", "nosuch"], "no such suite"),
        (["-w", "n99"], "n99"),
        (["--session", "last", "--every", "1m"], "leave the other options out"),
        (["--session", "nosuch"], "no session is called"),
    ],
)
def test_a_watch_that_cannot_be_meant_is_refused(on: Commands, arguments: list[str], said: str) -> None:
    code, _, err = on("watch", on.topology, *arguments)
    assert (code, said in err) == (Exit.BAD_INPUT, True), err
    with Store.open(on.db) as store:
        assert store.list_sessions() == ()


@pytest.mark.parametrize(
    "arguments",
    [["--at-least", "95"], ["--at-least", "x"], ["--within", "3"], ["--service", "n99"], ["--exclude", "x"]],
)
def test_a_question_that_cannot_be_meant_is_refused(watched: Commands, arguments: list[str]) -> None:
    assert watched("availability", "last", *arguments)[0] == Exit.BAD_INPUT


def test_a_session_of_another_kind_is_no_watch(on: Commands) -> None:
    assert on("ingest", on.topology, "availability", _sample(on), "--node", "n1")[0] in (0, 3)
    code, _, err = on("availability")
    assert (code, "is no watch" in err) == (Exit.BAD_INPUT, True)
    code, _, err = on("watch", on.topology, "--session", "last")
    assert (code, "is no watch" in err) == (Exit.BAD_INPUT, True)


def test_a_file_that_has_changed_is_not_gone_on_with(watched: Commands) -> None:
    watched.topology.write_text(SMALL + "# changed\n")
    code, _, err = watched("watch", watched.topology, "--session", "last")
    assert (code, "another text" in err) == (Exit.BAD_INPUT, True)


def _sample(on: Commands) -> Path:
    path = on.db.with_name("sample.txt")
    path.write_text(
        "benchconsole-availability 1\nboot_id=00000000-0000-0000-0000-000000000000\nuptime=1.00\n"
        "benchconsole-availability end\n"
    )
    return path


RECORDS = "nodes,start,end\nn3,2023-11-15T02:00Z,2023-11-15T05:00Z\nn4,2023-11-15T04:00Z,2023-11-15T06:00Z\n"
SPAN = ("--nodes", "n[1-8]", "--from", "2023-11-15T00:00Z", "--to", "2023-11-16T00:00Z")


def test_records_of_a_site_are_evaluated_and_go_into_an_acceptance(on: Commands, tmp_path: Path) -> None:
    table = tmp_path / "outages.csv"
    table.write_text(RECORDS)
    code, out, _ = on("availability", "--records", table, *SPAN)
    assert code == Exit.PASSED
    assert out.startswith(f"availability of {table} (sha256 ")
    assert "as recorded" in out.splitlines()[0]
    assert "PASSED: the system was up 97.395 % of the time at worst; at least 95.000 % is asked." in out
    code, out, _ = on("availability", "--records", table, *SPAN, "--nodes-up", "7")
    assert code == Exit.PASSED
    assert "PASSED: 7 of 8 nodes were up at once 95.833 % of the time at worst; at least 95.000 % is asked." in out
    code, out, _ = on("availability", "--records", table, *SPAN, "--nodes-up", "100%", "--json")
    assert code == Exit.BELOW
    record = json.loads(out)
    assert (record["session"], record["asked"]["nodes_up"], record["system"]["down"]) == (None, 8, 4 * 3600.0)
    assert record["records"]["file"] == str(table)
    answer = tmp_path / "answer.json"
    answer.write_text(out)
    assert on("ingest", on.topology, "availability", answer, "--node", "n1", "--label", "a")[0] in (0, 3)
    assert run(on.monkeypatch, "parse", "availability", answer, "--json") == Exit.PASSED
    assert on.capsys is not None
    (told,) = json.loads(on.capsys.readouterr().out)
    assert told["value"] == pytest.approx(1 - 4 / 24)
    assert {name: told["labels"][name] for name in ("nodes", "nodes_up", "seconds")} == {
        "nodes": "8", "nodes_up": "8", "seconds": "86400",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected whom and which time it covers"),
        ((*SPAN[:4], "--to", "2023-11-16T00:00"), "expected moments with their zone"),
        ((*SPAN, "--nodes-up", "9"), "expected a number from 1 to 8"),
        ((*SPAN, "--nodes-up", "0.5"), "expected a number from 1 to 8"),
        (("--nodes", "n[1-2]", *SPAN[2:]), "outages.csv:2: unknown node n3"),
        ((*SPAN, "--withdraw", "x"), "expected one of them"),
    ],
)
def test_records_that_cannot_be_meant_are_refused(
    on: Commands, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    table = tmp_path / "outages.csv"
    table.write_text(RECORDS)
    code, _, err = on("availability", "--records", table, *arguments)
    assert code == Exit.BAD_INPUT
    assert said in err


def test_so_many_nodes_of_a_watch_can_be_asked_for(on: Commands) -> None:
    fails_from(on, 4, 6, "n3", "n4")
    on.watch("--label", "stability")
    code, out, _ = on("availability", "stability", "--nodes-up", "8")
    assert (code, "PASSED: 8 of 10 nodes were up at once 100.000 %" in out) == (Exit.PASSED, True)
    assert on("availability", "stability", "--nodes-up", "9")[0] == Exit.BELOW
