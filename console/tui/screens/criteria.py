"""The criteria as a page: what judges the session, what came of each, and the keys that add and change one."""

from benchconsole.console.tui.actions import offer
from benchconsole.console.tui.messages import EditCriterion
from benchconsole.console.tui.screens.area import AreaScreen


class CriteriaScreen(AreaScreen):
    """Rows are in the order of the criteria of the fabric, whatever they are sorted by."""

    VALID = (*AreaScreen.VALID, "add_criterion", "change_criterion")
    KEYS = (
        ("enter", "open"), "add_criterion", "change_criterion", "filter", "sort", ("column_left", "and > column"),
        ("next_fault", "next fault"), "in_full", "copy", ("back", "back"), "command", "help",
    )  # fmt: skip

    def __init__(self, *, tab: str = "Run", text: str = "") -> None:
        super().__init__("criteria", tab=tab, text=text)

    def action_add_criterion(self) -> None:
        self.post_message(EditCriterion())

    def action_change_criterion(self) -> None:
        """Change the one under the cursor."""
        row, area = self.table.chosen, self.table.area
        places = [] if area is None else [place for place, each in enumerate(area.rows) if each is row]
        if places:
            self.post_message(EditCriterion(places[0]))
        else:
            self.say("There is no criterion to change." + offer("add_criterion", " a adds one.", self.refused))
