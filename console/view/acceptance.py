"""Acceptances: who answers for which finding. Each is a remark, and the verdict on a session asks for none. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.remark import Remark, RemarkKind, list_standing
from benchconsole.topology.units import counted

_REASON = 160
"""Characters of a reason in a sentence; a section of the report has all of it."""

_NAMED = 3
"""Acceptances that the sentence names."""

STAYS = "An accepted finding stays a finding: the verdict on the session is the same without its acceptance."


def name_cause(finding: Finding) -> str:
    """The cause that is accepted: kind, place, metrics and level of a finding, the same while its numbers change."""
    within = ", ".join(filter(None, (finding.element, finding.probe, *finding.metrics, finding.level)))
    return f"{finding.suspect} {finding.where} ({within})"


@dataclass(frozen=True, slots=True)
class Acceptances:
    """The standing acceptances of a session, which has ``number`` findings.

    ``found`` has the accepted findings in the order of the findings; the finding of an ``earlier`` one is no more, or
    says another kind, metric or level now.
    """

    number: int
    found: tuple[tuple[Finding, Remark], ...]
    earlier: tuple[Remark, ...]

    @property
    def sentence(self) -> str:
        """``3 findings, 1 accepted by Ann Roe: a known cable.``; empty where there is no acceptance. Sanitized."""
        parts = []
        if len(self.found) == 1:
            ((_, remark),) = self.found
            parts.append(f"{counted(self.number, 'finding')}, 1 accepted by {_tell(remark)}.")
        elif self.found:
            named = "; ".join(f"{sanitize(each.where)} by {_tell(remark)}" for each, remark in self.found[:_NAMED])
            more = f"; and {len(self.found) - _NAMED:,} more" if len(self.found) > _NAMED else ""
            parts.append(f"{counted(self.number, 'finding')}, {len(self.found):,} accepted: {named}{more}.")
        if self.earlier:
            verb = "is" if len(self.earlier) == 1 else "are"
            parts.append(f"{counted(len(self.earlier), 'acceptance')} {verb} of an earlier judgement.")
        return " ".join(parts)


def list_accepted(remarks: Iterable[Remark]) -> Mapping[str, Remark]:
    """The standing acceptances by what they are of; of several of one cause the last."""
    found = (each for each in list_standing(remarks) if each.kind is RemarkKind.ACCEPTED)
    return {each.subject: each for each in sorted(found, key=lambda each: each.number)}


def find_acceptances(findings: Sequence[Finding], remarks: Iterable[Remark]) -> Acceptances:
    """Which of the findings are accepted, and which acceptances are of findings that are no more.

    Findings of one cause are accepted together.
    """
    accepted = list_accepted(remarks)
    causes = [name_cause(each) for each in findings]
    found = tuple((each, accepted[cause]) for each, cause in zip(findings, causes, strict=True) if cause in accepted)
    earlier = tuple(remark for cause, remark in accepted.items() if cause not in causes)
    return Acceptances(len(findings), found, earlier)


def _tell(remark: Remark) -> str:
    """Who accepts, and why, on one line without the last full stop."""
    reason = shorten_text(" ".join(remark.text.split()), _REASON)
    return f"{sanitize(remark.by)}: {reason.removesuffix('.')}"
