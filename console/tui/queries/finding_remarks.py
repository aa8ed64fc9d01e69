"""The words of people on findings: who accepts one and why, and the remarks on it and on what it accuses."""

from collections.abc import Sequence

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.acceptance import find_acceptances, list_accepted, name_cause
from benchconsole.console.view.remark_words import ELEMENTS, group_remarks, tell_remark
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.remark import About, Remark


class FindingRemarks:
    """Looked up once for the findings and remarks of a view; where there are no remarks nothing is."""

    def __init__(self, findings: Sequence[Finding] = (), remarks: Sequence[Remark] = ()) -> None:
        self._accepted = list_accepted(remarks)
        self._said = group_remarks(remarks, (About.FINDING, *ELEMENTS))
        self.acceptances = find_acceptances(findings if self._accepted else (), remarks)

    @property
    def sentence(self) -> str:
        """``3 findings, 1 accepted by Ann Roe: a known cable.``; empty where there is no acceptance."""
        return self.acceptances.sentence

    def find_acceptance(self, finding: Finding) -> Remark | None:
        """The remark by which somebody answers for a finding; None where nobody does."""
        return self._accepted.get(name_cause(finding)) if self._accepted else None

    def name_accepting(self, finding: Finding) -> str:
        """Who accepts a finding; empty where nobody does."""
        found = self.find_acceptance(finding)
        return "" if found is None else sanitize(found.by)

    def tell_acceptance(self, finding: Finding) -> str:
        """Why and by whom it is accepted, and when; empty where it is not."""
        found = self.find_acceptance(finding)
        return "" if found is None else tell_remark(found)

    def list_remarks(self, finding: Finding) -> Sequence[str]:
        """The remarks on a finding or on the element that it accuses."""
        return self._said.get(finding.element, ())

    def list_earlier(self) -> Sequence[str]:
        """The acceptances of findings that are no more, each with what it was of."""
        return [f"{sanitize(each.subject)}: {tell_remark(each)}" for each in self.acceptances.earlier]
