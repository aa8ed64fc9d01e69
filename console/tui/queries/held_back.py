"""Everything of a run that is held back, with its reason and what releases it, for the screen and ``show``."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.view.events import is_time_stop
from benchconsole.console.view.run_view import NotJudged, RunView, State, state_of_failure
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.topology.units import counted

_AGAIN = {True: "then r plans just these tests again", False: "then run just these tests again"}
_GOES_ON = {True: "it goes on by itself when that is over; S stops it", False: "it goes on by itself when that is over"}
_LATER = {
    True: "R plans what is left, with o: within or until; benchconsole run --resume",
    False: "benchconsole run --resume, with --within or --until",
}
"""Sentences by whether keys that run tests are named."""

_PARTS: Mapping[OmissionReason, Mapping[bool, str]] = {
    OmissionReason.CHANGES_NODES: {
        True: "R, then o: change-nodes; benchconsole run --change-nodes",
        False: "benchconsole run --change-nodes",
    },
    OmissionReason.NOT_CONFIRMED: {
        True: "R, then c: type the serial number of the disk; benchconsole run asks for it at a terminal",
        False: "benchconsole run asks for the serial number of the disk at a terminal",
    },
    OmissionReason.CAPPED: dict.fromkeys(
        (True, False), "a higher cap (caps of the file, --cap of the run), or a probe that keeps a rate"
    ),
    OmissionReason.LACKS_STAGE: dict.fromkeys((True, False), "what releases the other stage of the same at_once"),
    OmissionReason.TESTS_AT_ONCE: dict.fromkeys(
        (True, False), "more tests at once (--tests-at-once), in a session of its own"
    ),
}
"""The way to take a part of a suite back into the plan, by the reason for which it is left out."""

_MEANT = {OmissionReason.PRODUCTION: "i-mean-production", OmissionReason.IN_USE: "i-mean-busy"}
"""The option that names nodes to load them all the same, by the reason for which they are spared."""

_NOT_RECORDED = "the reason says what is in the way; the session was stored without a record of what releases it"
_NO_REASON = dict.fromkeys((True, False), _NOT_RECORDED)
_TESTS = {
    FailedAt.NO_PASSWORD: "give the password when the run asks for it, ",
    FailedAt.IN_USE: "wait until the nodes are free, ",
}
_CAUSE = "take the cause away that the reason tells, "
_TIME = "time limit"
"""The reason of rounds that a run left because its time was over."""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """One thing that is not done: ``what``, on whom (empty: nobody by name), ``why``, and what releases it.

    ``tests`` were planned and not started; 0 where nothing of it was planned. ``reason`` is the same as ``why`` for
    whoever decides by it; empty while the run itself waits.
    """

    what: str
    names: Sequence[str]
    why: str
    release: str
    tests: int = 0
    reason: str = ""

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
    """The causes that hold the run or ended it early, parts of the suite that are left out, spared nodes, held tests.

    ``reasons`` are those of all tests without a number. ``may_run``: keys that run tests are named, too.
    """
    return tuple(_list_all(view, reasons, may_run=may_run))


def _list_all(view: RunView, reasons: Iterable[NotJudged], *, may_run: bool) -> Iterator[HeldBack]:
    if view.held:
        yield HeldBack("the run", (), sanitize(view.held), name_keys(_GOES_ON[may_run], "stop"))
    if view.ended is not None and is_time_stop(view.because):
        tests = sum(len(each.tests) for each in view.plan if each.number not in view.closed)
        yield HeldBack("rounds", (), sanitize(view.because), name_keys(_LATER[may_run], "plan"), tests, _TIME)
    for part in view.left_out:
        words = sanitize(part.words)
        what, sign, why = words.partition(": ")
        release = name_keys(_PARTS.get(part.reason, _NO_REASON)[may_run], "plan")
        yield HeldBack(what if sign else "a stage", (), why or words, release, reason=part.reason.value)
    for nodes in view.spared:
        what, _, why = sanitize(nodes.words).partition(": ")
        yield HeldBack(what, (), why, _release_nodes(nodes, what, may_run=may_run), reason=nodes.reason.value)
    for reason in filter(is_held, reasons):
        why = sanitize(reason.detail or reason.stage.value)
        release = f"{_TESTS.get(reason.stage, _CAUSE)}{name_keys(_AGAIN[may_run], 'repeat')}"
        yield HeldBack("tests", reason.nodes, why, release, reason.tests, reason.stage.value)


def _release_nodes(spared: Omission, what: str, *, may_run: bool) -> str:
    """The way to load nodes that somebody else needs; ``what`` names them."""
    option = _MEANT.get(spared.reason)
    if option is None:
        return _NOT_RECORDED
    by_key = f"{name_keys('R, then o:', 'plan')} {option} {what}; " if may_run else ""
    return f"{by_key}benchconsole run --{shlex.join((option, what))}"  # a shell takes brackets for file names
