"""Checklists: what a file may say, what running a step shows, and the way of both into the record."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.console.exits import Exit
from benchconsole.console.session import checklist_file
from benchconsole.console.session.checklist_file import read_checklist_file
from benchconsole.probes.model.checklist import MOST_BYTES, Step, StepState
from benchconsole.topology.errors import TopologyError
from tests.console.test_cli import run
from tests.fabrics import SMALL

MINE = """\
schema: 1
checklist: mine
source: Plan, section 4
topology: small.yaml
steps:
  - {id: log-in, clause: "4.2", text: A user logs in.}
  - {id: answers, text: "It says yes.", run: [sh, -c, "echo yes; echo hm >&2"]}
  - {id: refuses, text: It says no., run: ["false"], timeout: 5 s}
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "small.yaml").write_text(SMALL)
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    return path


# -- the file


def test_a_file_says_its_steps(mine: Path) -> None:
    found = read_checklist_file(mine)
    assert (found.checklist.name, found.checklist.source) == ("mine", "Plan, section 4")
    assert found.topology == mine.with_name("small.yaml")
    assert found.checklist.steps == (
        Step("log-in", "A user logs in.", "4.2"),
        Step("answers", "It says yes.", "", ("sh", "-c", "echo yes; echo hm >&2")),
        Step("refuses", "It says no.", "", ("false",), 5.0),
    )


def test_the_shipped_list_is_read_and_belongs_to_the_topology_beside_it() -> None:
    found = read_checklist_file(Path(topology.__file__).parent / "examples" / "checklists" / "jetstream.yaml")
    assert len(found.checklist.steps) == 15
    assert [step.id for step in found.checklist.steps if "@" in step.id][:2] == ["launch@indiana", "launch@texas"]
    assert {step.clause for step in found.checklist.steps} == {"4.2", "4.3", "4.4", "4.5"}
    assert found.topology is not None
    assert found.topology.resolve().name == "jetstream.yaml"
    assert found.topology.exists()


def test_a_step_of_several_places_is_a_step_for_each(mine: Path) -> None:
    mine.write_text(MINE.replace('run: ["false"]', 'run: [ask, "at={at}"], at: [indiana, texas]'))
    assert read_checklist_file(mine).checklist.steps[2:] == (
        Step("refuses@indiana", "It says no. At indiana.", "", ("ask", "at=indiana"), 5.0),
        Step("refuses@texas", "It says no. At texas.", "", ("ask", "at=texas"), 5.0),
    )


@pytest.mark.parametrize(
    ("was", "becomes", "place", "said"),
    [
        ("schema: 1", "schema: 2", "1:9", "expected schema: 1"),
        ("schema: 1", "schema: true", "1:9", "expected schema: 1"),
        ("checklist: mine\n", "", "1:1", "no key 'checklist'"),
        ("checklist: mine", "checklist: a b", "2:12", "expected up to 60 letters"),
        ("checklist: mine", "checklist: 7", "2:12", "quote a number"),
        ("source: Plan, section 4", "source: [a]", "3:9", "a list"),
        ("source: Plan, section 4", "sorce: x", "3:1", "did you mean source?"),
        ("steps:\n", "steps: []\nmore:\n", "5:8", "expected a list of steps"),
        ("id: log-in, ", "", "6:5", "no key 'id'"),
        ("text: A user logs in.", "text: ''", "6:39", "expected text"),
        ("text: A user logs in.", "txt: x", "6:33", "did you mean text?"),
        ("id: answers", "id: log-in", "7:10", "'log-in' a second time"),
        ('run: ["false"]', "run: false", "8:43", "expected a list of words"),
        ('run: ["false"]', "run: []", "8:43", "expected a list of words"),
        ('run: ["false"]', "run: [sleep, 1]", "8:43", "quote numbers"),
        ('run: ["false"]', "run: ['']", "8:43", "expected a list of words"),
        ("timeout: 5 s", "timeout: 5", "8:63", "did you mean 5 s?"),
        ("timeout: 5 s", "timeout: 0 s", "8:63", "more than 0 s"),
        ("timeout: 5 s", "timeout: 25 h", "8:63", "at most 24 h"),
        ('run: ["false"], ', "", "8:38", "a timeout without a command"),
        ("text: A user logs in.", "text: A user logs in., at: indiana", "6:60", "expected a list of places"),
        ("text: A user logs in.", "text: A user logs in., at: []", "6:60", "expected a list of places"),
        ("text: A user logs in.", "text: A user logs in., at: [a, a]", "6:60", "each place once"),
        ("  - {id: log-in", "  - 3\n  - {id: log-in", "6:5", "expected a mapping with id"),
        ("schema: 1", "schema: 1\nschema: 1", "2:1", "a second time"),
        ("schema: 1", "schema: !!python/name:os.system 1", "1:9", "the tag"),
        (MINE, "", "1:1", "an empty file"),
        (MINE, "- 1", "1:1", "expected a mapping with schema"),
    ],
)
def test_every_mistake_has_its_place(mine: Path, was: str, becomes: str, place: str, said: str) -> None:
    assert was in MINE
    mine.write_text(MINE.replace(was, becomes, 1))
    with pytest.raises(TopologyError) as raised:
        read_checklist_file(mine)
    assert any(str(each).startswith(f"{mine}:{place}:") and said in str(each) for each in raised.value.problems), str(
        raised.value
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="cannot be read"):
        read_checklist_file(tmp_path / "absent.yaml")


# -- running a step


def shown(step: Step, folder: Path) -> tuple[StepState, str, dict[str, bytes]]:
    mark, evidence = checklist_file.run_step(step, folder, "ann")
    assert mark.by == "ann"
    return mark.state, mark.note, {each.name: each.content for each in evidence}


def test_exit_status_0_is_a_pass_and_what_was_said_is_the_evidence(tmp_path: Path) -> None:
    state, note, evidence = shown(Step("a", "a", "", ("sh", "-c", "echo yes; echo hm >&2")), tmp_path)
    assert (state, evidence) == (StepState.PASS, {"stdout": b"yes\n", "stderr": b"hm\n"})
    assert note.startswith("exit status 0 after ")


def test_any_other_status_and_a_signal_fail(tmp_path: Path) -> None:
    state, note, _ = shown(Step("a", "a", "", ("sh", "-c", "exit 3")), tmp_path)
    assert (state, note.partition(" after")[0]) == (StepState.FAIL, "exit status 3")
    state, note, _ = shown(Step("a", "a", "", ("sh", "-c", "kill -KILL $$")), tmp_path)
    assert (state, note.partition(" after")[0]) == (StepState.FAIL, "ended by signal SIGKILL")


def test_a_command_that_cannot_be_started_leaves_the_step_not_done(tmp_path: Path) -> None:
    state, note, evidence = shown(Step("a", "a", "", (str(tmp_path / "absent"),)), tmp_path)
    assert (state, evidence) == (StepState.NOT_DONE, {})
    assert "could not be started: No such file" in note


def test_a_command_that_does_not_end_fails_and_is_ended_with_what_it_began(tmp_path: Path) -> None:
    script = "sleep 100000 & echo $! > child; echo begun; wait"
    state, note, evidence = shown(Step("a", "a", "", ("sh", "-c", script), 0.5), tmp_path)
    assert (state, evidence) == (StepState.FAIL, {"stdout": b"begun\n"})
    assert "it may take 500 ms" in note
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 20
    while _lives(child) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _lives(child)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_runs_beside_its_file_without_a_terminal_or_input(tmp_path: Path) -> None:
    (tmp_path / "own.sh").write_text("#!/bin/sh\nread -r line || echo nothing; pwd\n")
    (tmp_path / "own.sh").chmod(0o700)
    _, _, evidence = shown(Step("a", "a", "", ("./own.sh",)), tmp_path)
    assert evidence["stdout"] == f"nothing\n{tmp_path}\n".encode()


def test_of_a_flood_the_beginning_is_kept_and_its_name_says_so(tmp_path: Path) -> None:
    size = MOST_BYTES + 5
    _, _, evidence = shown(Step("a", "a", "", ("head", "-c", str(size), "/dev/zero")), tmp_path)
    ((name, content),) = evidence.items()
    assert name == f"stdout (the first {MOST_BYTES:,} of {size:,} bytes)"
    assert content == bytes(MOST_BYTES)


# -- the command


class Commands:
    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.file = file
        self.db = file.with_name("s.db")
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        return self.run("checklist", self.file, *arguments)

    def run(self, *arguments: str | Path) -> tuple[int, str, str]:
        code = run(self._monkeypatch, *arguments, "--db", self.db)
        said = self._capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def on(mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(mine, monkeypatch, capsys)


def test_a_file_is_shown_without_storing_anything(on: Commands) -> None:
    code, out, _ = on()
    assert code == Exit.PASSED
    assert out.startswith("mine: Plan, section 4; 3 steps: 3 not done\n? log-in, 4.2: not done\n    A user logs in.\n")
    assert "    $ sh -c 'echo yes; echo hm >&2'" in out
    assert not on.db.exists()


def test_from_nothing_to_all_that_was_asked(on: Commands) -> None:
    code, out, _ = on("--label", "accept")
    assert (code, "3 not done" in out) == (Exit.UNTESTED, True)
    code, out, _ = on("--session", "accept", "--run", "--by", "ann")
    assert (code, "3 steps: 1 fail, 1 not done, 1 pass" in out) == (Exit.BELOW, True)
    shot = on.file.with_name("shot.png")
    shot.write_bytes(b"\x89PNG\x00")
    digest = hashlib.sha256(b"\x89PNG\x00").hexdigest()
    more = ("--state", "pass", "--note", "seen by two", "--by", "bob", "--attach", shot)
    code, out, _ = on("--session", "accept", "--step", "log-in", *more)
    assert code == Exit.BELOW
    assert "· log-in, 4.2: pass by bob, " in out
    assert f"    shot.png, 5 B, SHA-256 {digest}\n" in out
    code, out, _ = on(
        "--session", "accept", "--step", "refuses", "--state", "not-applicable", "--note", "no such thing"
    )
    assert code == Exit.PASSED
    assert "no such thing; the newest of 2 entries" in out
    assert on("--session", "accept", "--fetch", digest[:9], "-o", on.file.with_name("back.png"))[0] == Exit.PASSED
    assert on.file.with_name("back.png").read_bytes() == b"\x89PNG\x00"
    code, _, err = on("--session", "accept", "--fetch", digest[:9], "-o", on.file.with_name("back.png"))
    assert (code, "File exists" in err) == (Exit.BAD_INPUT, True)


def test_nothing_but_not_applicable_is_no_pass(on: Commands) -> None:
    on("--label", "accept")
    for step in ("log-in", "answers", "refuses"):
        code, _, _ = on("--session", "accept", "--step", step, "--state", "not-applicable", "--note", "moved")
    assert code == Exit.UNTESTED


def test_one_step_can_be_run_alone_and_again(on: Commands) -> None:
    on("--label", "accept")
    _, out, _ = on("--session", "accept", "--run", "--step", "answers")
    assert "3 steps: 2 not done, 1 pass" in out
    _, out, _ = on("--session", "accept", "--run", "--step", "answers")
    assert "the newest of 2 entries" in out


def test_the_steps_of_one_place_are_run_and_marked_apart(on: Commands) -> None:
    on.file.write_text(MINE.replace('run: ["false"]', 'run: [test, "{at}", "=", indiana], at: [indiana, texas]'))
    on("--label", "accept")
    code, out, _ = on("--session", "accept", "--run", "--at", "indiana")
    assert (code, "4 steps: 3 not done, 1 pass" in out) == (Exit.UNTESTED, True)
    code, out, _ = on("--session", "accept", "--run", "--step", "refuses", "--at", "texas")
    assert (code, "4 steps: 1 fail, 2 not done, 1 pass" in out) == (Exit.BELOW, True)
    code, out, _ = on("--session", "accept", "--step", "refuses@texas", "--state", "pass")
    assert "refuses@texas: pass by" in out
    assert "It says no. At texas." in out
    assert "refuses@texas" not in on("--at", "indiana")[1]
    for wrong, said in (
        (("--at", "ohio"), "no step is checked at 'ohio', expected one of indiana, texas"),
        (("--session", "accept", "--run", "--step", "answers", "--at", "texas"), "no step 'answers@texas'"),
    ):
        code, _, err = on(*wrong)
        assert (code, said in err) == (Exit.BAD_INPUT, True)


def test_a_step_that_says_something_else_now_is_not_done(on: Commands) -> None:
    on("--label", "accept", "--run")
    on.file.write_text(MINE.replace("echo yes;", "echo no;").replace("Plan, section 4", "Plan, section 5"))
    _, out, _ = on("--session", "accept")
    assert "mine: Plan, section 5; 3 steps: 1 fail, 2 not done" in out
    on.file.write_text(MINE)
    _, out, _ = on("--session", "accept")
    assert "3 steps: 1 fail, 1 not done, 1 pass" in out


def test_a_report_tells_of_every_step_and_its_verdict_counts_them(on: Commands) -> None:
    on("--label", "accept", "--run", "--by", "ann")
    _, out, _ = on.run("report")
    text = " ".join(out.split())
    assert "✗ A check failed; no test was planned." in text
    assert "Checked by hand or by script: mine, 3 steps: 1 fail, 1 not done, 1 pass." in text
    assert "· answers: pass by ann, " in out
    assert "? log-in, 4.2: not done" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--session", "x", "--label", "y"], "--session with --label"),
        (["--label", ""], "--label needs a text"),
        (["--run"], "need --session or --label"),
        (["--step", "log-in", "--state", "pass"], "need --session or --label"),
        (["--session", "accept", "--state", "pass"], "--state needs --step"),
        (["--session", "accept", "--step", "log-in"], "--step needs --state"),
        (["--session", "accept", "--run", "--note", "x"], "--run finds the state itself"),
        (["--session", "accept", "--note", "x"], "--note and --attach need"),
        (["--session", "accept", "--step", "log-in", "--state", "not-applicable"], "needs a --note"),
        (["--session", "accept", "--step", "login", "--state", "pass"], "did you mean log-in?"),
        (["--session", "accept", "--step", "log-in", "--state", "pass", "--by", " "], "expected a name"),
        (["--session", "accept", "--step", "log-in", "--state", "pass", "--attach", "absent"], "expected a plain file"),
        (["--session", "accept", "--step", "log-in", "--state", "maybe"], "maybe"),
        (["--session", "accept", "--run", "--step", "log-in"], "none of these steps has a command"),
        (["--session", "accept", "--fetch", "ab"], "need each other"),
        (["--session", "accept", "--fetch", "ab", "-o", "x"], "0 attachments begin with 'ab'"),
        (["--session", "nosuch"], "no session is called"),
        (["--label", "accept"], "is called accept already"),
    ],
)
def test_what_does_not_go_together_is_refused(on: Commands, arguments: list[str], said: str) -> None:
    on("--label", "accept")
    code, _, err = on(*arguments)
    assert (code, said in err) == (Exit.BAD_INPUT, True), err
    _, out, _ = on("--session", "accept")
    assert "3 not done" in out


def test_a_label_needs_a_topology(on: Commands) -> None:
    on.file.write_text(MINE.replace("topology: small.yaml\n", ""))
    code, _, err = on("--label", "accept")
    assert (code, "names no topology" in err) == (Exit.BAD_INPUT, True)


def test_a_file_that_is_too_large_is_not_kept(on: Commands) -> None:
    on("--label", "accept")
    large = on.file.with_name("large")
    with large.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    code, _, err = on("--session", "accept", "--step", "log-in", "--state", "pass", "--attach", large)
    assert (code, "say in --note where it lies" in err) == (Exit.BAD_INPUT, True)
