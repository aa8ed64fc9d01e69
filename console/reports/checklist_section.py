"""The checklists in every report: a line for each step with its state, who gave it, when, and the attachments.

All text is sanitized. An attachment is named with its size and SHA-256, never shown.
"""

from collections.abc import Iterable
from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import State
from benchconsole.console.view.session_verdict import format_steps
from benchconsole.console.view.wording import NOT_MEASURED, format_moment
from benchconsole.probes.model.checklist import Attachment, Checked, CheckedList, StepState
from benchconsole.topology.units import disk_size

_STATES = {
    StepState.FAIL: State.FAIL,
    StepState.NOT_DONE: State.UNKNOWN,
    StepState.NOT_APPLICABLE: State.SKIPPED,
    StepState.PASS: State.PASS,
}
NOT_DONE = "A step that was not done is not counted as passed."


class ChecklistLine(NamedTuple):
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
        return self.step if self.clause == NOT_MEASURED else f"{self.step}, {self.clause}"


class ChecklistSection(NamedTuple):
    """One checklist as words."""

    title: str
    tally: str
    state: State
    lines: tuple[ChecklistLine, ...]


def make_sections(checklists: Iterable[CheckedList]) -> tuple[ChecklistSection, ...]:
    """The checklists of a session in the order in which they were kept."""
    return tuple(
        ChecklistSection(
            sanitize(f"{each.name}: {each.source}" if each.source else each.name),
            format_steps(each),
            find_state(each),
            tuple(map(_make_line, each.steps)),
        )
        for each in checklists
    )


def find_state(checklist: CheckedList) -> State:
    """Fail where a step failed; unknown where one is not done, or none was passed; else pass."""
    if checklist.count(StepState.FAIL):
        return State.FAIL
    if checklist.count(StepState.NOT_DONE) or not checklist.count(StepState.PASS):
        return State.UNKNOWN
    return State.PASS


def _make_line(each: Checked) -> ChecklistLine:
    mark = each.mark
    note = sanitize(mark.note) if mark else ""
    earlier = f"the newest of {each.earlier + 1:,} entries" if each.earlier else ""
    return ChecklistLine(
        clause=sanitize(each.step.clause) or NOT_MEASURED,
        step=sanitize(each.step.id),
        text=sanitize(each.step.text),
        state=_STATES[each.state],
        word=str(each.state),
        who=sanitize(mark.by) if mark else NOT_MEASURED,
        when=format_moment(mark.at) if mark else NOT_MEASURED,
        note="; ".join(filter(None, (note, earlier))),
        evidence=tuple(map(_format_attachment, each.attachments)),
    )


def _format_attachment(each: Attachment) -> str:
    return f"{sanitize(each.name)}, {disk_size(each.size)}, SHA-256 {sanitize(each.sha256)}"
