"""The remarks in every report: conclusions, acceptances and requests first, then the tuning log by its time.

Each stands beside its subject, too. All text is sanitized.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.acceptance import find_acceptances, list_accepted, name_cause
from benchconsole.console.view.remark_words import group_remarks, join_lines
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_moment
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.remark import About, Remark, RemarkKind, list_standing
from benchconsole.topology.element_names import link_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import LinkId

TITLES: Mapping[RemarkKind, str] = {
    RemarkKind.CONCLUSION: "Conclusions",
    RemarkKind.ACCEPTED: "Accepted findings",
    RemarkKind.REQUEST: "Requests and answers",
    RemarkKind.REMARK: "Remarks",
    RemarkKind.TUNING: "Tuning log",
}
"""The heading of each kind, in the order of reports."""
ELEMENTS = (About.FINDING, About.NODE, About.SWITCH, About.LINK)
"""The subjects of a remark beside a finding: the finding itself, or the element that it accuses."""
NOT_JUDGED = "Remarks are the words of who wrote them: nothing was judged by them."


class RemarkLine(NamedTuple):
    """One remark as words: what it is about, its paragraphs, who wrote it, and the time that it speaks of."""

    number: int
    about: str
    paragraphs: tuple[str, ...]
    by: str
    when: str

    @property
    def text(self) -> str:
        """All of it on one line."""
        return " ".join(" ".join(self.paragraphs).split())


def make_sections(view: RunView, remarks: Iterable[Remark]) -> tuple[tuple[RemarkKind, tuple[RemarkLine, ...]], ...]:
    """The standing remarks by kind, in the order of ``TITLES``; kinds without any are left out."""
    kinds = group_by_key((each.kind, make_line(view, each)) for each in list_standing(remarks))
    return tuple((kind, tuple(kinds[kind])) for kind in TITLES if kind in kinds)


def make_line(view: RunView, remark: Remark) -> RemarkLine:
    """One remark as words."""
    paragraphs = tuple(" ".join(map(sanitize, part.split("\n"))) for part in remark.paragraphs)
    about = format_about(view, remark)
    return RemarkLine(remark.number, about, paragraphs, sanitize(remark.by), format_moment(remark.at))


def format_about(view: RunView, remark: Remark) -> str:
    """``node n07``, ``clause 4.1.1``, ``the session``."""
    if remark.about is About.SESSION:
        return "the session"
    subject = remark.subject
    if remark.kind is RemarkKind.ACCEPTED and subject not in map(name_cause, view.findings):
        subject = f"{subject}, of an earlier judgement"
    if remark.about is About.LINK and LinkId(subject) in view.fabric.links:
        subject = link_name(view.fabric, view.fabric.links[LinkId(subject)])
    return sanitize(f"{remark.about.value} {subject}")


def list_beside(remarks: Iterable[Remark], about: Sequence[About], subject: str) -> tuple[str, ...]:
    """The standing remarks on one thing, each with who wrote it: for the place where a report speaks of that."""
    return tuple(group_remarks(remarks, about).get(subject, ()))


def format_accepted(view: RunView, remarks: Iterable[Remark]) -> str:
    """How many findings are accepted, by whom and why, in a sentence; empty where there is no acceptance."""
    return find_acceptances(view.findings, remarks).sentence


def list_accepting(remarks: Iterable[Remark], finding: Finding) -> tuple[str, ...]:
    """Who accepts a finding and why, for the place where a report speaks of it; nothing where nobody does."""
    found = list_accepted(remarks).get(name_cause(finding))
    return () if found is None else (f"by {sanitize(found.by)}, {format_moment(found.at)}: {join_lines(found)}",)
