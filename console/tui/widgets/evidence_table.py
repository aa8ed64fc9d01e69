"""The tests that a finding rests on, as a table: nodes, numbers, verdict, the worst first."""

import operator

from benchconsole.console.tui.queries.result_areas import list_evidence
from benchconsole.console.tui.widgets.area_table import AreaTable
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Finding

NO_TEST = "No test was run for this finding: it is computed from the description."


class EvidenceTable(AreaTable):
    """One row for each number that was held against a bound, or for each test that gave none."""

    def __init__(self) -> None:
        super().__init__(NO_TEST)
        self._shown: tuple[object, ...] = (None,) * 3

    def show_finding(self, view: RunView, finding: Finding) -> None:
        """The tests of another finding, or of the same one as they stand; looked up where something is new."""
        shown = (finding, view.results, view.verdicts)
        if not all(map(operator.is_, shown, self._shown)):
            self._shown = shown
            self.show(list_evidence(view, finding))
