"""Everything of a run that is held back, with its reason and what releases it, for the screen and ``show``."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.view.events import LEFT_OUT, TIME_LIMIT
from benchconsole.console.view.run_view import NotJudged, RunView, State, state_of_failure
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.topology.units import counted

_PLAN = {True: "R, then o: {field}; benchconsole run --{words}", False: "benchconsole run --{words}"}
_DISK = {
    True: "R, then c: type the serial number of the disk; benchconsole run asks for it at a terminal",
    False: "benchconsole run asks for the serial number of the disk at a terminal",
}
_AGAIN = {True: "then r plans just these tests again", False: "then run just these tests again"}
_GOES_ON = {True: "it goes on by itself when that is over; S stops it", False: "it goes on by itself when that is over"}
_CAPPED = "a higher cap (caps of the file, --cap of the run), or a probe that keeps a rate"
_WIDER = "more tests at once (--tests-at-once), in a session of its own"
_LATER = {
    True: "R plans what is left, with o: within or until; benchconsole run --resume",
    False: "benchconsole run --resume, with --within or --until",
}
_AT_ONCE = "what releases the other stage of the same at_once"
_SUITE = "another suite in the file; the reason says what cannot be planned"
_ANSWER = "give the password when the run asks for it, "
_REASON = "take the cause away that the reason tells, "
_FREE = "wait until the nodes are free, "


@dataclass(frozen=True, slots=True)
class HeldBack:
    """One thing that is not done: ``what``, on whom (empty: nobody by name), ``why``, and what releases it.

    ``tests`` were planned and not started; 0 where nothing of it was planned.
    """

    what: str
    names: Sequence[str]
    why: str
    release: str
    tests: int = 0

    @property
    def counted(self) -> str:
        return counted(self.tests, "test") if self.tests else ""

    def list_sections(self) -> tuple[tuple[str, Sequence[str]], ...]:
        """Everything that is said of it, by name."""
        means = f"{self.counted} not counted as passed" if self.tests else "it is not in the plan"
        about = [fold_names(self.names)] if self.names else []
        because = (("held back", [self.what]), ("because", [self.why]), ("about", about))
        return (*because, ("means", [means]), ("release", [self.release]))


def is_held(reason: NotJudged) -> bool:
    """Whether tests were not started on purpose."""
    return state_of_failure(reason.stage) is State.HELD


def list_held_back(view: RunView, reasons: Iterable[NotJudged], *, may_run: bool) -> tuple[HeldBack, ...]:
    """What holds the run or ended it early, what of the suite is left out, nodes that are spared, tests that were held.

    ``reasons`` are those of all tests without a number. ``may_run``: keys that run tests are named, too.
    """
    return tuple(_list_all(view, reasons, may_run=may_run))


def _list_all(view: RunView, reasons: Iterable[NotJudged], *, may_run: bool) -> Iterator[HeldBack]:
    if view.held:
        yield HeldBack("the run", (), sanitize(view.held), name_keys(_GOES_ON[may_run], "stop"))
    if view.ended is not None and view.because.startswith(TIME_LIMIT):
        tests = sum(len(each.tests) for each in view.plan if each.number not in view.closed)
        yield HeldBack("rounds", (), sanitize(view.because), name_keys(_LATER[may_run], "plan"), tests)
    for text in view.left_out:
        words = sanitize(text.removeprefix(f"{LEFT_OUT}: "))
        what, sign, why = words.partition(": ")
        yield HeldBack(what if sign else "a stage", (), why or words, _find_release(words, may_run=may_run))
    for text in view.spared:
        what, _, why = sanitize(text).partition(": ")
        option = "i-mean-production" if why.startswith("tagged production") else "i-mean-busy"
        field, words = f"{option} {what}", shlex.join((option, what))  # a shell takes brackets for file names
        yield HeldBack(what, (), why, name_keys(_PLAN[may_run], "plan").format(field=field, words=words))
    for reason in filter(is_held, reasons):
        why = sanitize(reason.detail or reason.stage.value)
        release = _release_tests(reason, may_run=may_run)
        yield HeldBack("tests", reason.nodes, why, release, reason.tests)


def _find_release(words: str, *, may_run: bool) -> str:
    """What takes a part of a suite back into the plan, by the sentence that says why it is left out."""
    if "--change-nodes" in words:
        return name_keys(_PLAN[may_run], "plan").format(field="change-nodes", words="change-nodes")
    if "nobody confirmed it" in words:
        return name_keys(_DISK[may_run], "plan")
    if "lacks a stage" in words:
        return _AT_ONCE
    if "at once" in words:
        return _WIDER
    return _CAPPED if "caps" in words or "cap" in words.split() else _SUITE


def _release_tests(reason: NotJudged, *, may_run: bool) -> str:
    again = name_keys(_AGAIN[may_run], "repeat")
    if reason.stage is FailedAt.IN_USE:
        return f"{_FREE}{again}"
    if reason.stage is FailedAt.HELD and "password" in reason.detail:
        return f"{_ANSWER}{again}"
    return f"{_REASON}{again}"
