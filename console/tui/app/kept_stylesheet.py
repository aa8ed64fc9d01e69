"""The style sheet of an application, whose sources are parsed once in a process for each set of colours.

Textual 8.2 parses all of them a second time for the theme that was set before the first frame, and again where the
first page of a kind brings widgets that nobody has seen: twenty milliseconds each time.
"""

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

_Source = tuple[str, CSSLocation, bool, int, str]
"""The inputs of the rules of a source beside the variables: text, place, whether it is of a widget, rank, scope."""

_KNOWN: dict[frozenset[tuple[str, str]], dict[_Source, list[RuleSet]]] = {}
"""The rules of sources, by the variables that they were parsed with. Nobody changes rules once they are parsed."""


class KeptStylesheet(Stylesheet):
    """Gives the rules of a source that is known already."""

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._kept = _KNOWN.setdefault(frozenset(variables.items()), {})

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take other colours."""
        super().set_variables(variables)
        self._kept = _KNOWN.setdefault(frozenset(variables.items()), {})

    def reparse(self) -> None:
        """Make the rules for the variables that were set last."""
        self.parse()

    def _parse_rules(
        self, css: str, read_from: CSSLocation, is_default_rules: bool = False, tie_breaker: int = 0, scope: str = ""
    ) -> list[RuleSet]:
        source = (css, read_from, is_default_rules, tie_breaker, scope)
        rules = self._kept.get(source)
        if rules is None:
            rules = self._kept[source] = super()._parse_rules(*source)
        return rules
