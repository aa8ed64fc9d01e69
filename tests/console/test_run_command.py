"""``run`` over played nodes: what is left out is told, recorded and no success; cohorts go in from both doors."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from benchconsole.console.cli import open as opening
from benchconsole.console.cli.common import read_topology
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.run_limits import ALLOCATION_SPARE
from benchconsole.console.view.session_control import Proposal
from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.plugins.registry import ProbeCatalogue
from benchconsole.probes.reach.slurm.slurm_reach import Wish
from benchconsole.store.store import Store
from benchconsole.topology.errors import RoutingError, SelectionError
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from tests import plain_sqlite
from tests.console.test_cli import run
from tests.fabrics import SMALL
from tests.probes.played import PROBES, Pair, PlayedReach

TEXT = SMALL.replace(
    "    - {probe: iperf3, design: neighbours}\n    - {probe: iperf3, design: trunks}\n",
    "    - {probe: inventory}\n    - {probe: rude}\n",
)
CAPPED = "caps: {link: 50 %}\n"


class Rude(Pair):
    """Sends as fast as it goes."""

    name = "rude"
    metrics = (PROBES["iperf3"].metrics[0].__class__("rude.rate", PROBES["iperf3"].metrics[0].unit, "what arrived"),)
    safety = Safety.LOADS


@pytest.fixture(autouse=True)
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes and nodes that are played."""
    probes: Mapping[str, Probe] = {**PROBES, "rude": Rude()}
    monkeypatch.setattr("benchconsole.console.cli.common.load_catalogue", lambda: ProbeCatalogue(probes, (), {}))
    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", lambda *_: PlayedReach())
    monkeypatch.setattr("benchconsole.console.cli.common.load_installed_probes", lambda: probes)


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(TEXT + CAPPED)
    return path


def test_what_no_cap_could_hold_is_told_in_the_plan(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", "--dry-run") == Exit.PASSED
    said = capsys.readouterr().out
    assert "left out: rude is not run: it keeps no rate, and a cap holds links at 50 %" in said
    assert "rude neighbours" not in said


def test_what_was_left_out_is_recorded_and_no_success(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    db, events = tmp_path / "s.db", tmp_path / "events.jsonl"
    assert run(monkeypatch, "run", topology, "--db", db, "--jsonl", events) == Exit.UNTESTED
    said = capsys.readouterr()
    assert "left out: rude is not run" in said.out
    assert "left out: rude is not run" in said.err
    noticed = [json.loads(line) for line in events.read_text().splitlines() if "left out" in line]
    assert [each["reason"] for each in noticed] == ["capped"]
    with Store.open(db) as store:
        kinds = [note.kind for note in store.session(store.find_session("last")).read_notes()]
    assert kinds == ["left out (capped)", "waves"]  # under a cap it goes in waves
    assert run(monkeypatch, "run", topology, "--db", db, "--resume", "last") == Exit.UNTESTED
    assert run(monkeypatch, "run", topology, "--db", db, "--allow-untested") == Exit.PASSED


@pytest.mark.fault("F25", "F26", "F30")
@pytest.mark.parametrize(("make", "why"), [("newer", "a newer program has written it"), ("damaged", "is damaged")])
def test_a_database_that_takes_nothing_is_bad_input_and_starts_nothing(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    make: str, why: str,
) -> None:  # fmt: skip
    db = tmp_path / "s.db"
    Store.open(db).close()
    with closing(plain_sqlite.connect(db)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'fact'").fetchone()
        if make == "newer":
            connection.execute("PRAGMA user_version = 999")
    if make == "damaged":
        spoilt = bytearray(db.read_bytes())
        spoilt[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
        db.write_bytes(spoilt)
    reach = PlayedReach()
    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", lambda *_: reach)
    assert run(monkeypatch, "run", topology, "--db", db) == Exit.BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line
    assert reach.asked == []


@pytest.mark.parametrize("key", ["config", "identity"])
def test_a_file_to_log_in_with_that_is_missing_starts_nothing_and_stops_no_plan(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    topology.write_text(topology.read_text() + f"ssh: {{{key}: own_file}}\n")
    db = tmp_path / "s.db"
    reach = PlayedReach()
    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", lambda *_: reach)
    assert run(monkeypatch, "run", topology, "--db", db, "--dry-run") == Exit.PASSED
    capsys.readouterr()
    for words in (("run", topology), ("watch", topology, "--every", "1 s", "--for", "1 s")):
        assert run(monkeypatch, *words, "--db", db) == Exit.BAD_INPUT
        assert f"ssh: {key}: {tmp_path / 'own_file'}: No such file or directory" in capsys.readouterr().err
    assert reach.asked == []
    with Store.open(db) as store:
        assert store.list_sessions() == ()
    (tmp_path / "own_file").touch()
    assert run(monkeypatch, "run", topology, "--db", db, "--allow-untested") == Exit.PASSED


def test_a_suite_that_runs_whole_is_a_success(topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topology.write_text(TEXT.replace("    - {probe: rude}\n", "    - {probe: iperf3}\n"))
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db") == Exit.PASSED


class Parting(PlayedReach):
    """Its nodes answer, and who sees to them does not when it is closed."""

    async def close(self) -> None:
        await super().close()
        raise RemoteError(Failure(FailedAt.TIMEOUT, "squeue: no end within 30 s", NodeId("head")))


def test_a_goodbye_that_fails_is_told_and_the_verdict_counts(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topology.write_text(TEXT.replace("    - {probe: rude}\n", "    - {probe: iperf3}\n"))
    monkeypatch.setattr("benchconsole.console.cli.common.make_asking_reach", lambda *_: Parting())
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db") == Exit.PASSED
    assert "the way to the nodes was not closed as it should be: head: timed out: squeue" in capsys.readouterr().out


@pytest.mark.parametrize("error", [PlanError("no rounds"), RoutingError("no way"), SelectionError("no nodes")])
def test_bad_input_that_shows_when_a_run_has_begun_does_not_say_that_nothing_was_started(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:  # fmt: skip
    topology.write_text(TEXT.replace("    - {probe: rude}\n", "    - {probe: iperf3}\n"))

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("benchconsole.console.session.judged_rounds.JudgedRounds.plan_confirmation", refuse)
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db") == Exit.INTERNAL
    assert f"{error}; the run was stopped, what was shown as judged is kept" in capsys.readouterr().err


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch) -> list[SessionController]:
    """The controllers that the screen would be given; no terminal is needed."""
    found: list[SessionController] = []

    def made(make: Callable[[], SessionController], **_: object) -> int:
        found.append(make())
        return 0

    monkeypatch.setattr("benchconsole.console.tui.app.console_app.run", made)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("benchconsole.console.cli.log_options.keep_records_off_the_screen", lambda: None)
    return found


async def proposed(conductor: SessionController) -> Proposal:
    try:
        return await conductor.propose(None)
    finally:
        await conductor.close()


def test_the_screen_takes_cohorts_for_what_it_will_run(
    topology: Path, tmp_path: Path, conducted: list[SessionController]
) -> None:
    assert opening.open_console(str(topology), tmp_path / "s.db", cohorts=["phase=after"]) == 0
    proposal = asyncio.run(proposed(conducted[0]))
    labels = {test.target.labels for each in proposal.rounds for test in each.tests}
    assert labels == {(("phase", "after"),)}
    assert any("rude is not run" in line for line in proposal.notes.held_back)


def test_the_screen_refuses_cohorts_that_are_none_and_those_for_a_stored_session(
    topology: Path, tmp_path: Path, conducted: list[SessionController]
) -> None:
    with pytest.raises(BadInput, match="--cohort phase: expected DIMENSION=NAME"):
        opening.open_console(str(topology), tmp_path / "s.db", cohorts=["phase"])
    with pytest.raises(BadInput, match="--cohort with a stored session"):
        opening.open_console("last", tmp_path / "s.db", cohorts=["phase=after"])
    assert conducted == []


def test_stages_are_taken_and_left_by_name_and_recorded(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topology.write_text(TEXT)
    db = tmp_path / "s.db"
    assert run(monkeypatch, "run", topology, "--db", db, "--dry-run", "--without", "rude") == Exit.PASSED
    said = capsys.readouterr().out
    assert "inventory" in said
    assert "rude" not in said
    assert run(monkeypatch, "run", topology, "--db", db, "--only", "inventory", "--label", "part") != Exit.BAD_INPUT
    with Store.open(db) as store:
        session = store.session(store.find_session("part"))
        assert session.describe().new.options == {"only": "inventory"}
        assert {each.stage for each in session.read_plan(conducted_fabric(topology))} == {"inventory"}
    assert run(monkeypatch, "run", topology, "--db", db, "--only", "inventroy") == Exit.BAD_INPUT
    assert "did you mean inventory" in capsys.readouterr().err


def test_one_test_is_run_alone_and_takes_nothing_of_a_suite(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topology.write_text(TEXT)
    db = tmp_path / "s.db"
    run(monkeypatch, "run", topology, "--db", db, "--test", "rude n1 n5", "--label", "pair")
    with Store.open(db) as store:
        session = store.session(store.find_session("pair"))
        assert (session.describe().new.suite, dict(session.describe().new.options)) == (
            "single test", {"test": "rude n1 n5"},
        )  # fmt: skip
        (only,) = session.read_plan(conducted_fabric(topology))
        assert [test.target.key for test in only.tests] == ["n1>n5"]
    for option in (("--suite", "default"), ("-w", "n1"), ("--only", "rude"), ("--resume", "last")):
        capsys.readouterr()
        assert run(monkeypatch, "run", topology, "--db", db, "--test", "rude n1 n5", *option) == Exit.BAD_INPUT
        assert "--test with " in capsys.readouterr().err


@pytest.mark.parametrize("minutes", ["-1", "1441", "soon", "nan"])
def test_minutes_are_refused_in_the_words_of_the_screen(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], minutes: str
) -> None:
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", f"--confirm={minutes}") == Exit.BAD_INPUT
    assert f"--confirm {minutes}, expected minutes from 0 to 1,440" in capsys.readouterr().err


def conducted_fabric(topology: Path) -> Fabric:
    """The fabric of the file, to read a plan against."""
    return read_topology(topology, {**PROBES, "rude": Rude()})


# -- limits of one run


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--cap", "60%"), "--cap 60% is looser than the cap of the file, expected at most 50%"),
        (("--cap", ""), "a share of each link"),
        (("--tests-at-once", "0"), "--tests-at-once 0, expected a whole number from 1"),
        (("--within", "15 s"), "--within 15 s, expected more than the 15 s that are kept for the end"),
        (("--within", ""), "--within: found ''"),
        (("--until", "soon"), "--until soon, expected a time of the clock"),
        (("--within", "2 h", "--until", "06:00"), "--within and --until, expected one of them"),
        (("--resume", "last", "--cap", "40%"), "--cap with --resume; a session goes on as it was begun"),
        (("--resume", "last", "--tests-at-once", "2"), "--tests-at-once with --resume"),
        (("--resume", "last", "--suite", "default"), "--suite with --resume; a session goes on as it was begun"),
        (("--resume", "last", "-w", "n1"), "--nodes with --resume"),
        (("--resume", "last", "-x", "n1"), "--exclude with --resume"),
        (("--resume", "last", "--label", "after"), "--label with --resume"),
    ],
)
def test_limits_that_are_none_start_nothing(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...], words: str,
) -> None:  # fmt: skip
    assert run(monkeypatch, "run", topology, "--db", tmp_path / "s.db", *options) == Exit.BAD_INPUT
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_cap_of_the_run_leaves_out_what_one_of_the_file_does(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topology.write_text(TEXT)
    db = tmp_path / "s.db"
    assert run(monkeypatch, "run", topology, "--db", db, "--cap", "12.5 %", "--tests-at-once", "4") == Exit.UNTESTED
    assert "rude is not run: it keeps no rate, and a cap holds links at 12.5 %" in capsys.readouterr().err
    with Store.open(db) as store:
        session = store.session(store.find_session("last"))
        assert session.describe().new.options == {"cap.link": 0.125, "tests.at_once": 4}
        assert max(len(each.tests) for each in session.read_plan(conducted_fabric(topology))) == 4
    assert run(monkeypatch, "report", "last", "--db", db, "-o", "-", "--format", "md") == Exit.PASSED
    said = capsys.readouterr().out
    assert "load no link above 12.5 % one way" in said
    assert "rounds were planned with at most 4 tests" in said


class Long(Pair):
    """The played probe, as one that is expected to take a while."""

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        return 100.0


def test_a_time_limit_ends_the_run_and_resume_goes_on_to_the_end(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    probes: Mapping[str, Probe] = {**PROBES, "iperf3": Long()}
    monkeypatch.setattr("benchconsole.console.cli.common.load_catalogue", lambda: ProbeCatalogue(probes, (), {}))
    monkeypatch.setattr("benchconsole.console.cli.common.load_installed_probes", lambda: probes)
    topology.write_text(TEXT.replace("    - {probe: rude}\n", "    - {probe: iperf3}\n"))
    db = tmp_path / "s.db"
    assert run(monkeypatch, "run", topology, "--db", db, "--dry-run", "--within", "1 min") == Exit.PASSED
    said = capsys.readouterr().out
    assert "time limit: round 1, inventory, is the last that fits in 1:00; 2 rounds left for another run" in said
    assert run(monkeypatch, "run", topology, "--db", db, "--within", "1 min") == Exit.UNTESTED
    ended = capsys.readouterr()
    assert "stopped at its time limit, 2 of 3 rounds left" in ended.out
    again = ended.err.partition("stopped at its time limit, 2 of 3 rounds left; go on with: benchconsole ")[2].split()
    assert again[:3] == ["run", str(topology), "--resume"]
    assert again[4:] == ["--db", str(db)]
    resumed = tuple(again)
    assert run(monkeypatch, *resumed, "--confirm", "1") == Exit.BAD_INPUT
    assert "--confirm with --resume; a session goes on as it was begun" in capsys.readouterr().err
    assert run(monkeypatch, *resumed, "--dry-run", "--within", "1 min") == Exit.PASSED
    assert "time limit: no round fits in 1:00: the first takes about 1:55" in capsys.readouterr().out
    assert run(monkeypatch, *resumed, "--within", "2 min", "--allow-untested") == Exit.PASSED
    capsys.readouterr()
    with Store.open(db) as store:
        session = store.session(store.find_session("last"))
        assert sorted(number for number, _ in session.list_closed_rounds()) == [1, 2, 3]
        assert [note.text.partition(":")[0] for note in session.read_notes()] == [
            "within 1 min", "--allow-untested was given", "within 2 min",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "seconds", "words"),
    [
        ((), 404.0, "twice the time of the plan, 6:44"),
        (("--within", "2 min"), 120.0, "the time limit, 2:00"),
        (("--within", "2 h"), 404.0, "twice the time of the plan, 6:44"),
    ],
)
def test_an_allocation_lasts_no_longer_than_the_time_limit(
    topology: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    limit: tuple[str, ...], seconds: float, words: str,
) -> None:  # fmt: skip
    probes: Mapping[str, Probe] = {**PROBES, "iperf3": Long()}
    monkeypatch.setattr("benchconsole.console.cli.common.load_catalogue", lambda: ProbeCatalogue(probes, (), {}))
    asked: list[Wish] = []

    def give(_session: str, _nodes: Sequence[Node], wish: Wish, _door: object) -> PlayedReach:
        asked.append(wish)
        return PlayedReach()

    monkeypatch.setattr("benchconsole.console.cli.run.through_slurm", give)
    topology.write_text(TEXT.replace("    - {probe: rude}\n", "    - {probe: iperf3}\n"))
    command: list[str | Path] = ["run", topology, "--db", tmp_path / "s.db", "--through", "slurm:debug", *limit]
    assert run(monkeypatch, *command, "--dry-run") == Exit.PASSED
    said = capsys.readouterr().out
    assert f": {words}, and 15:00 to spare" in next(line for line in said.splitlines() if "allocation: " in line)
    assert asked == []
    run(monkeypatch, *command)
    (wish,) = asked
    assert wish.partition == "debug"
    assert wish.seconds == pytest.approx(seconds + ALLOCATION_SPARE, abs=30.0)
