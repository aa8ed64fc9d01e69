"""The criteria as a page: what judges the session, what came of each, and the keys that add and change one."""

from functools import partial

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import offer
from benchconsole.console.tui.messages import EditCriterion, Remarked
from benchconsole.console.tui.screens.area import AreaScreen
from benchconsole.probes.model.remark import About, RemarkSubject


class CriteriaScreen(AreaScreen):
    """Rows are in the order of the criteria of the fabric, whatever they are sorted by."""

    VALID = (*AreaScreen.VALID, "add_criterion", "change_criterion")
    KEYS = (
        ("enter", "open"), "add_criterion", "change_criterion", "filter", "sort", ("column_left", "and > column"),
        ("next_fault", "next fault"), "in_full", "remark", "copy", ("back", "back"), "command", "help",
    )  # fmt: skip

    def __init__(self, *, tab: str = "Run", text: str = "") -> None:
        super().__init__("criteria", tab=tab, text=text)
        self.find_remarked = partial(_find_remarked, self)

    def action_add_criterion(self) -> None:
        self.post_message(EditCriterion())

    def action_change_criterion(self) -> None:
        """Change the one under the cursor."""
        place = _find_place(self)
        if place is not None:
            self.post_message(EditCriterion(place))
        else:
            self.say("There is no criterion to change." + offer("add_criterion", " a adds one.", self.refused))


def _find_place(page: CriteriaScreen) -> int | None:
    """Where the criterion under the cursor stands among those of the fabric."""
    row, area = page.table.chosen, page.table.area
    return None if area is None else next((place for place, each in enumerate(area.rows) if each is row), None)


def _find_remarked(page: CriteriaScreen) -> Remarked | None:
    """The clause of the criterion under the cursor; its metric where it has none."""
    place, view = _find_place(page), page.run_view
    if place is None or view is None:
        return None
    criterion = view.fabric.criteria[place]
    name = criterion.source or criterion.metric
    word = "clause" if criterion.source else "metric"
    return Remarked(RemarkSubject(About.CLAUSE, name), f"the {word} {sanitize(name)}")
