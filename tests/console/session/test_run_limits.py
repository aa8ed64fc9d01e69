"""The limits of a run: what is a limit and what is none, how it is recorded, and how a run ends that comes to one."""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.curves.sweep_series import ChartCache
from benchconsole.console.exits import BadInput
from benchconsole.console.session.judged_fabric import load_judged_fabric
from benchconsole.console.session.metadata import CONFIRM, SessionChoice
from benchconsole.console.session.run_limits import (
    ALLOCATION_SPARE,
    CLOSING_SECONDS,
    compute_allocation_seconds,
    count_fitting,
    describe_allocation,
    find_deadline,
    join_units,
    list_caps,
    list_time_limit,
    read_caps,
    read_tests_at_once,
    read_time_limit,
    say_time_limit,
)
from benchconsole.console.session.session import Session
from benchconsole.console.session.stored_fabric import LINK_CAP, STORAGE_CAP, apply_caps
from benchconsole.console.session.stored_judgement import judge_stored
from benchconsole.console.view.events import Event, NodesProven, SessionEnded
from benchconsole.console.view.reducer import advance
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.api import Probe, Safety
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.sending import SendingOptions
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES, Pair, PlayedReach

STORAGE = SMALL.replace("links:", 'storage: {fs: {servers: "st[1-2]"}, home: {servers: st1}}\nlinks:')
CAPPED = f"{STORAGE}caps: {{link: 50 %, storage: {{fs: 2 GB/s}}}}\n"
NAMED = load_text(STORAGE, "small.yaml")
SUITE = SMALL.replace("  default:\n", "  default:\n    - {probe: inventory}\n")
LONE = SUITE.replace("    - {probe: iperf3, design: trunks}\n", "")


# -- caps


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        (["50%"], {LINK_CAP: 0.5}),
        (["12.5 %"], {LINK_CAP: 0.125}),
        (["0.1%"], {LINK_CAP: 0.001}),
        (["fs=2GB/s"], {f"{STORAGE_CAP}fs": 2e9}),
        (["fs=1500 MB/s", "50 %", "home=9 TB/s"], {f"{STORAGE_CAP}fs": 1.5e9, LINK_CAP: 0.5, f"{STORAGE_CAP}home": 9e12}),
        ([], {}),
    ],
)  # fmt: skip
def test_caps_are_read_up_to_those_of_the_file(tmp_path: Path, typed: list[str], options: Mapping[str, float]) -> None:
    assert read_caps(fabric(tmp_path, CAPPED), typed) == options


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["50.1%"], "--cap 50.1% is looser than the cap of the file, expected at most 50%"),
        (["fs=2.001GB/s"], "--cap fs=2.001GB/s is looser than the cap of the file, expected at most 2GB/s"),
        (["0%"], "more than 0 % and at most 100 %"),
        (["100.1%"], "more than 0 % and at most 100 %"),
        (["50"], "did you mean 50 %"),
        ([""], "a share of each link"),
        (["fs=0 B/s"], "a rate in bytes of more than 0"),
        (["fs=2 Gb/s"], "did you mean 2 GB/s"),
        (["fs="], "a rate such as"),
        (["hom=2GB/s"], "no such storage system, expected one of fs, home; did you mean home"),
        (["50%", "40%"], "--cap 40%: another --cap is on the same"),
        (["fs=1GB/s", "fs=2GB/s"], "--cap fs=2GB/s: another --cap is on the same"),
    ],
)
def test_other_caps_are_refused(tmp_path: Path, typed: list[str], words: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_caps(fabric(tmp_path, CAPPED), typed)
    assert words in str(raised.value)


def test_a_file_without_caps_allows_every_cap(tmp_path: Path) -> None:
    described = fabric(tmp_path, STORAGE)
    assert read_caps(described, ["100%", "home=1 kB/s"]) == {LINK_CAP: 1.0, f"{STORAGE_CAP}home": 1e3}
    with pytest.raises(BadInput, match="expected a file with a section storage"):
        read_caps(fabric(tmp_path), ["fs=1GB/s"])


@given(st.floats(0.001, 1.0), st.floats(1.0, 1e15))
@settings(max_examples=100, deadline=None)
def test_caps_are_said_as_they_are_read(share: float, rate: float) -> None:
    typed = list_caps({LINK_CAP: share, f"{STORAGE_CAP}fs": rate, "careful": 1})
    described = apply_caps(NAMED, read_caps(NAMED, typed))
    assert described.caps.link == pytest.approx(share, rel=1e-12)
    assert described.caps.storage == {"fs": rate}


@pytest.mark.parametrize(
    ("words", "caps"),
    [
        (["50", "%", "fs=2", "GB/s"], ["50%", "fs=2GB/s"]),
        (["fs=2GB/s", "50%"], ["fs=2GB/s", "50%"]),
        (["%"], ["%"]),
        ([], []),
    ],
)
def test_a_unit_that_is_typed_apart_belongs_to_its_number(words: list[str], caps: list[str]) -> None:
    assert join_units(words) == caps


def test_caps_of_a_session_take_the_place_of_those_of_its_file(tmp_path: Path) -> None:
    described = fabric(tmp_path, CAPPED)
    assert apply_caps(described, {"careful": 1}) is described
    held = apply_caps(described, {LINK_CAP: 0.25, f"{STORAGE_CAP}home": 1e9})
    assert held.caps == Caps(0.25, MappingProxyType({"fs": 2e9, "home": 1e9}))
    assert apply_caps(held, {LINK_CAP: 0.25, f"{STORAGE_CAP}home": 1e9}).caps == held.caps
    assert apply_caps(described, {f"{STORAGE_CAP}fs": 1e9}).caps == Caps(0.5, MappingProxyType({"fs": 1e9}))


# -- tests at once


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("2048", 2048), ("007", 7)])
def test_tests_at_once(text: str, number: int) -> None:
    assert read_tests_at_once(text) == number


@pytest.mark.parametrize("text", ["0", "2049", "-1", "1.5", "", "many", "1e2", "²", "9" * 5000])
def test_other_numbers_of_tests_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="expected a whole number from 1 to 2,048"):
        read_tests_at_once(text)


# -- time


@pytest.mark.parametrize("text", ["15.001 s", "2 h", "2h", "0.5 min", "365 d"])
def test_a_time_limit(text: str) -> None:
    assert read_time_limit(text, None) == (text, "")


@pytest.mark.parametrize("text", ["15 s", "0 s", "366 d", "2", "", "soon", "-1 h", "inf s"])
def test_other_time_limits_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--within"):
        read_time_limit(text, None)


@pytest.mark.parametrize("text", ["00:00", "06:00", "23:59"])
def test_a_time_of_the_clock(text: str) -> None:
    assert read_time_limit(None, text) == ("", text)


@pytest.mark.parametrize("text", ["24:00", "6:00", "06:60", "06.00", "", "noon", "06:00:00"])
def test_other_times_of_the_clock_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="expected a time of the clock such as 06:00"):
        read_time_limit(None, text)


def test_only_one_of_both_is_taken() -> None:
    assert read_time_limit(None, None) == ("", "")
    with pytest.raises(BadInput, match="expected one of them"):
        read_time_limit("2 h", "06:00")


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where the clock of this machine hangs."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize(
    ("begun", "until", "hours"),
    [
        ("2027-01-10 05:59", "06:00", 1 / 60),
        ("2027-01-10 06:00", "06:00", 24.0),
        ("2027-01-10 22:00", "06:00", 8.0),
        ("2027-12-31 23:30", "00:15", 0.75),
    ],
)
def test_a_time_of_the_clock_is_the_next_one(begun: str, until: str, hours: float) -> None:
    now = time.mktime(time.strptime(begun, "%Y-%m-%d %H:%M"))
    assert find_deadline(SessionChoice(until=until), now) == pytest.approx(now + hours * 3600)
    assert find_deadline(SessionChoice(within="2 h"), now) == now + 7200
    assert find_deadline(SessionChoice(), now) is None


def make_rounds(*seconds: float) -> list[Round]:
    return [Round(number, "ping", "ping", (), each, "") for number, each in enumerate(seconds, 4)]


@pytest.mark.parametrize(
    ("seconds", "within", "fitting"),
    [
        ((2.0, 3.0, 4.0), CLOSING_SECONDS + 9.0, 3),
        ((2.0, 3.0, 4.0), CLOSING_SECONDS + 8.999, 2),
        ((2.0, 3.0, 4.0), CLOSING_SECONDS + 2.0, 1),
        ((2.0, 3.0, 4.0), CLOSING_SECONDS + 1.999, 0),
        ((9.0, 0.0), CLOSING_SECONDS + 1.0, 0),
        ((), CLOSING_SECONDS + 1.0, 0),
    ],
)
def test_rounds_fit_in_order_with_the_end_of_the_run(seconds: tuple[float, ...], within: float, fitting: int) -> None:
    assert count_fitting(make_rounds(*seconds), within) == fitting


@pytest.mark.parametrize(
    ("within", "words"),
    [
        ("32 min", "the whole plan fits in 32:00: about 24.0 s with its end"),
        ("204 s", "the whole plan fits in 3:24: about 24.0 s with its end"),
        (
            "203.9 s",
            (
                "the whole plan fits in 3:24: about 24.0 s with its end; "
                "rounds that confirm findings take up to 3:00 more, those that no longer fit are left"
            ),
        ),
        ("23.9 s", "round 5, ping, is the last that fits in 23.9 s; 1 round left for another run"),
        ("17 s", "round 4, ping, is the last that fits in 17.0 s; 2 rounds left for another run"),
        ("16.9 s", "no round fits in 16.9 s: the first takes about 17.0 s with the end of the run"),
    ],
)
def test_a_plan_says_what_of_it_fits(within: str, words: str) -> None:
    assert list(list_time_limit(SessionChoice(within=within), make_rounds(2.0, 3.0, 4.0), 1.7e9)) == [words]


def test_a_plan_without_confirmation_speaks_of_none() -> None:
    choice = SessionChoice(within="24 s", options={CONFIRM: 0})
    (words,) = list_time_limit(choice, make_rounds(2.0, 3.0, 4.0), 1.7e9)
    assert words == "the whole plan fits in 24.0 s: about 24.0 s with its end"


def test_without_a_limit_nothing_is_said() -> None:
    assert list(list_time_limit(SessionChoice(), make_rounds(2.0), 1.7e9)) == []
    assert list(list_time_limit(SessionChoice(within="2 h"), (), 1.7e9)) == []
    assert say_time_limit(SessionChoice()) == ""
    assert say_time_limit(SessionChoice(until="06:00")).startswith("until 06:00: no round begins")


@pytest.mark.parametrize(
    ("within", "seconds", "words"),
    [
        ("", 1800.0, "45:00: twice the time of the plan, 30:00"),
        ("30 min", 1800.0, "45:00: twice the time of the plan, 30:00"),
        ("1799 s", 1799.0, "44:59: the time limit, 29:59"),
        ("1 min", 60.0, "16:00: the time limit, 1:00"),
        ("10 d", 1800.0, "45:00: twice the time of the plan, 30:00"),
    ],
)
def test_an_allocation_is_asked_for_the_shorter_of_plan_and_limit(within: str, seconds: float, words: str) -> None:
    choice, rounds = SessionChoice(within=within), make_rounds(300.0, 600.0)
    assert compute_allocation_seconds(choice, rounds, 1.7e9) == seconds + ALLOCATION_SPARE
    assert describe_allocation(choice, rounds, 3, 1.7e9) == f"3 nodes for {words}, and 15:00 to spare"


@pytest.mark.usefixtures("zone")
def test_an_allocation_until_a_time_of_the_clock_is_as_long_as_is_left_until_then() -> None:
    now = time.mktime(time.strptime("2027-01-10 05:50", "%Y-%m-%d %H:%M"))
    choice = SessionChoice(until="06:00")
    assert compute_allocation_seconds(choice, make_rounds(3600.0), now) == 600.0 + ALLOCATION_SPARE
    assert compute_allocation_seconds(choice, make_rounds(200.0), now) == 400.0 + ALLOCATION_SPARE


# -- a run that comes to its limit


class Clock:
    """A clock that only rounds move, by what they were estimated to take."""

    def __init__(self) -> None:
        self.now = 1.7e9

    def __call__(self) -> float:
        return self.now

    def take(self, event: Event) -> None:
        if isinstance(event, ClosedRound):
            self.now += event.round.seconds


class Kept(Pair):
    """The played probe, as one that loads its links and keeps a rate."""

    safety = Safety.LOADS
    options = MappingProxyType({"bitrate": ""})
    sending_options = SendingOptions(rate="bitrate")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "sessions.db") as opened:
        yield opened


async def follow(running: Session, rounds: tuple[Round, ...]) -> tuple[RunView, list[Event]]:
    """Run to the end of the run."""
    view = RunView(running.fabric)
    for event in running.replay:
        view = advance(view, event)
    running.start(rounds)
    seen: list[Event] = []
    async for event in running.live():
        seen.append(event)
        view = advance(view, event)
        if isinstance(event, SessionEnded):
            break
    await running.finished()
    return view, seen


def begin(
    described: Fabric, store: Store, choice: SessionChoice, probes: Mapping[str, Probe] = PROBES, rate: float = 1.17e9
) -> Session:
    clock = Clock()
    reach = PlayedReach(rate=rate)
    running = Session(described, probes, store, choice, make_reach=lambda _fabric, _session: reach, clock=clock)
    running.observers.append(clock.take)
    return running


def reopen(store: Store, key: str, within: str = "", rate: float = 1.17e9) -> Session:
    reach, clock = PlayedReach(rate=rate), Clock()
    again = Session.stored(store, key, PROBES, make_reach=lambda _fabric, _session: reach)
    again._clock = clock
    again.observers.append(clock.take)
    again.choice.within = within
    return again


@pytest.mark.parametrize("rate", [1.17e9, 0.3e9], ids=["sound", "slow"])
async def test_a_run_ends_at_its_limit_and_goes_on_to_the_same_verdicts(
    tmp_path: Path, store: Store, rate: float
) -> None:
    described = fabric(tmp_path, SUITE)
    whole = begin(described, store, SessionChoice(), rate=rate)
    uninterrupted, _ = await follow(whole, whole.propose())
    planned = len(whole.plan)
    assert planned > 5

    part = begin(described, store, SessionChoice(within="21.9 s"), rate=rate)
    view, seen = await follow(part, part.propose())
    assert [event.round.number for event in seen if isinstance(event, ClosedRound)] == [1, 2, 3]
    assert view.because == f"stopped at its time limit, {planned - 3} of {planned} rounds left"
    assert not view.complete
    assert any(isinstance(event, NodesProven) for event in seen)
    assert decide(view).exit_code() == (3 if rate > 1e9 else 1)
    assert not part.running
    assert (part.choice.within, part.meant.within) == ("", "")
    notes = store.session(part.id).read_notes()
    assert [(note.kind, note.text) for note in notes] == [
        ("time limit", "within 21.9 s: no round begins that is not expected to be over by then")
    ]

    again = reopen(store, part.id, within="17 s", rate=rate)
    view, seen = await follow(again, again.unfinished())
    assert [event.round.number for event in seen if isinstance(event, ClosedRound)] == [4]
    assert view.because == f"stopped at its time limit, {planned - 4} of {planned} rounds left"

    last = reopen(store, part.id, rate=rate)
    view, _ = await follow(last, last.unfinished())
    assert view.complete
    closed = [number for number, _ in store.session(part.id).list_closed_rounds()]
    assert sorted(closed) == [each.number for each in last.plan]
    stored = Session.stored(store, part.id, PROBES).view()
    assert dict(stored.verdicts) == dict(uninterrupted.verdicts)
    assert (stored.findings, decide(stored)) == (uninterrupted.findings, decide(uninterrupted))


async def test_a_limit_in_which_no_round_fits_begins_none(tmp_path: Path, store: Store) -> None:
    part = begin(fabric(tmp_path, SUITE), store, SessionChoice(within="16.9 s"))
    view, seen = await follow(part, part.propose())
    assert not any(isinstance(event, ClosedRound) for event in seen)
    assert view.because == f"stopped at its time limit, {len(part.plan)} of {len(part.plan)} rounds left"


async def test_a_session_is_planned_run_and_judged_again_with_the_caps_that_it_was_given(
    tmp_path: Path, store: Store
) -> None:
    probes: Mapping[str, Probe] = {**PROBES, "iperf3": Kept()}
    in_file = fabric(tmp_path, LONE + "caps: {link: 40 %}\n")
    wanted = begin(in_file, store, SessionChoice(), probes).propose()
    described = fabric(tmp_path, LONE)
    running = begin(described, store, SessionChoice(options={LINK_CAP: 0.4}), probes, rate=0.4 * 1.17e9)
    rounds = running.propose()
    assert rounds == wanted
    assert described.caps.link is running.fabric.caps.link is None
    view, _ = await follow(running, rounds)
    assert view.waves == (range(1, len(running.plan) + 1),)
    assert {verdict.level for own in view.verdicts.values() for verdict in own} == {Level.PASS}
    assert running.fabric.caps.link == 0.4
    session = store.session(running.id)
    assert session.describe().new.options == {LINK_CAP: 0.4}
    assert load_judged_fabric(session).caps.link == 0.4
    assert dict(Session.stored(store, running.id, probes).view().verdicts) == dict(view.verdicts)
    again = judge_stored(session, probes)
    assert {verdict.level for own in again.verdicts.values() for verdict in own} == {Level.PASS}
    uncapped = begin(described, store, SessionChoice(), probes, rate=0.4 * 1.17e9)
    view, _ = await follow(uncapped, uncapped.propose())
    assert Level.FAIL in {verdict.level for own in view.verdicts.values() for verdict in own}


async def test_no_round_of_a_session_has_more_tests_than_it_was_given_nor_after_it_goes_on(
    tmp_path: Path, store: Store
) -> None:
    described = fabric(tmp_path, SUITE)
    part = begin(described, store, SessionChoice(options={"tests.at_once": 3}, within="19 s"))
    rounds = part.propose()
    assert {len(each.tests) for each in rounds} <= {1, 2, 3}
    await follow(part, rounds)
    again = reopen(store, part.id)
    assert again.choice.tests_at_once == 3
    assert again.propose("default") != ()
    assert max(len(each.tests) for each in (*again.plan, *again.propose("default"))) == 3


async def test_points_of_a_sweep_above_the_limit_are_told_and_the_others_run(tmp_path: Path, store: Store) -> None:
    stages = SMALL[: SMALL.index("    - {probe: iperf3")] + "    - {probe: inventory, sweep: {clients: [1, 2, 4]}}\n"
    running = begin(fabric(tmp_path, stages), store, SessionChoice(options={"tests.at_once": 2}))
    view, _ = await follow(running, running.propose())
    assert [(len(each.tests), each.number in view.closed) for each in view.plan] == [(1, True), (2, True)]
    words = "a part of inventory over clients is not run: clients=4 takes 4 tests at once, and the limit is"
    assert any(f"left out: {words} --tests-at-once 2" in gap for gap in decide(view).missing)
    again = Session.stored(store, running.id, PROBES).view()
    assert again.left_out == view.left_out
    assert [each.swept for each in again.plan] == [each.swept for each in view.plan]
    (chart,) = ChartCache().compute(again)
    assert chart.values == ("1", "2", "4")
    assert [point.value for point in chart.curves[0].left_out] == ["4"]
