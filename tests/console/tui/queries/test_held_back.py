"""The release of a held-back stage or test, by the reason that plans and nodes really give, as notes keep it."""

from functools import partial
from pathlib import Path

import pytest

from benchconsole.console.session.metadata import TESTS_AT_ONCE, SessionChoice
from benchconsole.console.session.next_rounds import plan_suite
from benchconsole.console.session.run_limits import describe_time_stop
from benchconsole.console.session.safety import SafetyPolicy
from benchconsole.console.tui.actions import find_key, use_keymap
from benchconsole.console.tui.queries.held_back import is_held, list_held_back
from benchconsole.console.view.events import LEFT_OUT, SPARED, make_noticed, name_omission
from benchconsole.console.view.reducer import advance
from benchconsole.console.view.run_view import NotJudged, RunView
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.planning.caps import withhold
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from tests.console.session.test_controller import WIPING, Loading, Wiping
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES

STEPS = SMALL.replace(
    "    - {probe: iperf3, design: neighbours}\n",
    "    - {probe: iperf3, sweep: {queue: [1, 2]}, steps: {queue: {run: [ip, '{value}'], undo: [ip, '0']}}}\n",
)


def release(view: RunView, told: Omission, *, may_run: bool = True, kind: str = LEFT_OUT) -> str:
    """The words on the release of an omission, which a screen has from the note that the store keeps."""
    told_view = advance(view, make_noticed(name_omission(kind, told.reason), told.words, 1.0))
    assert told_view.left_out + told_view.spared == (told,)
    (held,) = list_held_back(told_view, (), may_run=may_run)
    assert held.why
    assert (held.tests, held.reason) == (0, told.reason.value)
    return held.release


@pytest.fixture
def view(tmp_path: Path) -> RunView:
    return RunView(fabric(tmp_path, SMALL))


def test_a_disk_is_released_by_its_serial_number(tmp_path: Path, view: RunView) -> None:
    described = fabric(tmp_path, WIPING)
    proposed = plan_suite(described, SessionChoice(), {**PROBES, "wipe": Wiping()}, "default", first=1)
    (told,) = proposed.left_out
    assert release(view, told).startswith("R, then c: type the serial number")
    assert release(view, told, may_run=False).startswith("benchconsole run asks")


def test_steps_are_released_by_an_option(tmp_path: Path, view: RunView) -> None:
    described = fabric(tmp_path, STEPS)
    (told,) = plan_suite(described, SessionChoice(), PROBES, "default", first=1).left_out
    assert release(view, told) == "R, then o: change-nodes; benchconsole run --change-nodes"
    assert release(view, told, may_run=False) == "benchconsole run --change-nodes"


def test_a_cap_is_released_by_a_higher_one(tmp_path: Path, view: RunView) -> None:
    described = fabric(tmp_path, f"{SMALL}caps: {{link: 50 %}}\n")
    _, (withheld, *_) = withhold(described, described.suites["default"], {"iperf3": Loading()})
    assert release(view, withheld.omission).startswith("a higher cap (caps of the file, --cap of the run)")


@pytest.mark.parametrize(
    ("stage", "detail", "words"),
    [
        (FailedAt.NO_PASSWORD, "sudo wants one, and none was given", "give the password when the run asks"),
        (FailedAt.HELD, "fio hung here twice, and was not started again", "take the cause away"),
        (FailedAt.HELD, "no password file was found by the tool", "take the cause away"),
        (FailedAt.IN_USE, "job 7 of ann", "wait until the nodes are free"),
        (FailedAt.REFUSED, "the administrator is needed", "take the cause away"),
    ],
)
def test_tests_that_were_not_started(view: RunView, stage: FailedAt, detail: str, words: str) -> None:
    reason = NotJudged(stage, detail, ("n1", "n2"), 3)
    (held,) = list_held_back(view, (reason, NotJudged(FailedAt.UNREACHABLE, "refused", ("n3",), 1)), may_run=True)
    assert (held.why, held.names, held.counted) == (detail, ("n1", "n2"), "3 tests")
    assert held.release.startswith(words)
    assert held.release.endswith("then r plans just these tests again")
    assert ("means", ["3 tests not counted as passed"]) in held.list_sections()


def test_only_what_was_held_on_purpose_is_held() -> None:
    held = {stage for stage in FailedAt if is_held(NotJudged(stage, "", (), 1))}
    assert held == {FailedAt.HELD, FailedAt.NO_PASSWORD, FailedAt.IN_USE, FailedAt.REFUSED}


def test_a_run_that_waits_says_how_it_goes_on(view: RunView) -> None:
    (held,) = list_held_back(replace(view, held="the database refuses"), (), may_run=True)
    assert (held.what, held.why) == ("the run", "the database refuses")
    assert "S stops it" in held.release


def test_spared_nodes_are_released_by_name(tmp_path: Path, view: RunView) -> None:
    parted = "n[1-2]: {role: compute, production: true}\n  n[3-4]: {role: compute}"
    used = SMALL.replace("n[1-4]: {role: compute}", parted)
    choice = SessionChoice(policy=SafetyPolicy(sparing=True, occupied={"n3": "tagged production by ann, job 7"}))
    probes = {**PROBES, "iperf3": Loading()}
    first, second = plan_suite(fabric(tmp_path, used), choice, probes, "default", first=1).spared
    release_nodes = partial(release, view, may_run=False, kind=SPARED)
    assert release_nodes(first) == "benchconsole run --i-mean-production 'n[1-2]'"
    assert release_nodes(second) == "benchconsole run --i-mean-busy n3"
    assert release(view, second, kind=SPARED) == "R, then o: i-mean-busy n3; benchconsole run --i-mean-busy n3"


@pytest.mark.parametrize("key", ["left_curly_bracket", "right_curly_bracket"])
def test_a_key_is_no_place_of_a_sentence(view: RunView, key: str) -> None:
    use_keymap({"plan": (key,)})
    try:
        found = release(view, Omission("R: tagged production", OmissionReason.PRODUCTION), kind=SPARED)
        shown = find_key("plan")
    finally:
        use_keymap({})
    assert found == f"{shown}, then o: i-mean-production R; benchconsole run --i-mean-production R"


@pytest.mark.parametrize("reason", OmissionReason)
def test_every_reason_has_a_release_but_one_that_was_not_recorded(view: RunView, reason: OmissionReason) -> None:
    kind = SPARED if reason in (OmissionReason.PRODUCTION, OmissionReason.IN_USE) else LEFT_OUT
    found = release(view, Omission("a cap is not confirmed: at once, --change-nodes", reason), kind=kind)
    assert ("stored without a record" in found) is (reason is OmissionReason.NOT_RECORDED)


def test_what_needs_more_tests_at_once_is_released_by_more(view: RunView) -> None:
    choice = SessionChoice(options={TESTS_AT_ONCE: 1})
    proposed = plan_suite(view.fabric, choice, {"iperf3": Iperf3()}, "default", first=1)
    (told,) = proposed.left_out
    assert release(view, told) == "more tests at once (--tests-at-once), in a session of its own"


def test_a_run_that_came_to_its_time_limit_says_what_is_left_and_how_it_goes_on(view: RunView) -> None:
    plan = plan_suite(view.fabric, SessionChoice(), PROBES, "default", first=1).rounds
    because = describe_time_stop(plan, {1})
    over = replace(view, plan=plan, closed={1: (0.0, 2.0)}, ended=2.0, because=because)
    (held,) = list_held_back(over, (), may_run=True)
    assert (held.what, held.why) == ("rounds", because)
    assert (held.tests, held.reason) == (sum(len(each.tests) for each in plan[1:]), "time limit")
    assert held.release.startswith("R plans what is left")
    (held,) = list_held_back(over, (), may_run=False)
    assert held.release.startswith("benchconsole run --resume")
    assert list_held_back(replace(over, ended=None), (), may_run=True) == ()
