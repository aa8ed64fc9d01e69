"""Owns what every report says of checklists: a line for each step with who said what, when, and what shows it.

All text given out is ``plain``. An attachment is named with its size and SHA-256, never shown. Refuses to count a
step that was not done as passed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from console.availability import EVERY
from console.reports import content
from console.reports.content import Summary, Told, moment, shortened
from console.view import RunView, State, worst
from console.wording import NOT_MEASURED, count, plain
from probes.checklist import Attachment, Checked, CheckedList, StepState
from topology.units import disk_size

_STATES = {
    StepState.FAIL: State.FAIL,
    StepState.NOT_DONE: State.UNKNOWN,
    StepState.NOT_APPLICABLE: State.SKIPPED,
    StepState.PASS: State.PASS,
}
SAMPLES = "What the samples of a watch add up to is said by: benchconsole availability."
NOT_DONE = "What was not done is not counted as passed."
_WORST_FIRST = (StepState.FAIL, StepState.NOT_DONE, StepState.PASS, StepState.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Line:
    """One step as words; ``state`` for the sign. ``evidence`` has a text for each attachment."""

    clause: str
    step: str
    text: str
    state: State
    word: str
    who: str
    when: str
    note: str
    evidence: tuple[str, ...]

    @property
    def head(self) -> str:
        """The step with its clause, where it has one."""
        return self.step if self.clause == NOT_MEASURED else f"{self.step}, {self.clause}"


@dataclass(frozen=True, slots=True)
class Section:
    """One checklist as words."""

    title: str
    tally: str
    state: State
    lines: tuple[Line, ...]


def sections(checklists: Iterable[CheckedList]) -> tuple[Section, ...]:
    """The checklists of a session in the order in which they were kept."""
    return tuple(
        Section(
            shortened(f"{each.name}: {each.source}" if each.source else each.name, 160),
            tally(each),
            state_of(each),
            tuple(map(_line, each.steps)),
        )
        for each in checklists
    )


def state_of(checklist: CheckedList) -> State:
    """Fail where a step failed; unknown where one is not done, or none was passed; else pass."""
    if checklist.count(StepState.FAIL):
        return State.FAIL
    if checklist.count(StepState.NOT_DONE) or not checklist.count(StepState.PASS):
        return State.UNKNOWN
    return State.PASS


def tally(checklist: CheckedList) -> str:
    """``14 steps: 1 fail, 10 not done, 3 pass``."""
    parts = [f"{number:,} {state}" for state in _WORST_FIRST if (number := checklist.count(state))]
    return f"{count(len(checklist.steps), 'step')}: {', '.join(parts)}"


def summary(view: RunView, told: Told) -> Summary:
    """The verdict on the tests with what they do not say: the worse of both counts, and both are told."""
    said = content.summary(view)
    state, sentence = said.state, said.sentence
    if told.checklists:
        parts = "; ".join(f"{shortened(each.name, 80)}, {tally(each)}" for each in told.checklists)
        state = worst((state, *map(state_of, told.checklists)))
        sentence = f"{sentence} Checked by hand or by script: {parts}."
    if EVERY in told.options:
        state, sentence = worst((state, State.UNKNOWN)), f"{sentence} {SAMPLES}"
    return Summary(state, sentence)


def _line(each: Checked) -> Line:
    mark = each.mark
    return Line(
        clause=shortened(each.step.clause, 60) or NOT_MEASURED,
        step=shortened(each.step.id, 60),
        text=shortened(each.step.text),
        state=_STATES[each.state],
        word=str(each.state),
        who=shortened(mark.by, 80) if mark else NOT_MEASURED,
        when=moment(mark.at) if mark else NOT_MEASURED,
        note="; ".join(_notes(each)),
        evidence=tuple(map(_attached, each.attachments)),
    )


def _notes(each: Checked) -> Iterator[str]:
    if each.mark and each.mark.note:
        yield shortened(each.mark.note)
    if each.earlier:
        yield f"the newest of {each.earlier + 1:,} entries"


def _attached(each: Attachment) -> str:
    return f"{shortened(each.name, 80)}, {disk_size(each.size)}, SHA-256 {plain(each.sha256)}"
