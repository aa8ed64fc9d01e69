"""The error of a report that cannot be written."""


class ReportError(Exception):
    """A report that cannot be written. ``found`` says what stood in the way, ``do`` what helps."""

    def __init__(self, what: str, found: str, do: str) -> None:
        """``what`` names the report or the file."""
        self.what = what
        self.found = found
        self.do = do
        super().__init__(f"{what}: {found}. {do}.")
