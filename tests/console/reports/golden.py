"""The golden files of the hard session. ``python -m tests.console.reports.golden`` writes them anew."""

import io
from pathlib import Path

from benchconsole.console.reports import ReportOptions, render
from tests.console.reports import fixture
from tests.console.reports.hard import TOLD

FOLDER = Path(__file__).parent / "golden"
OPTIONS = ReportOptions(operator="R. Example", version="1.0.0", details=TOLD)
FILES = {
    "hard.txt": ("text", OPTIONS),
    "hard-ascii.txt": (
        "text",
        ReportOptions(operator="R. Example", version="1.0.0", ascii=True, width=100, details=TOLD),
    ),
    "hard.md": ("md", OPTIONS),
    "hard.csv": ("csv", OPTIONS),
}


def rendered(kind: str, options: ReportOptions = OPTIONS, name: str = "hard") -> str:
    """One of the views in one format."""
    out = io.StringIO()
    render(kind, fixture.EDGES[name](), out, options)
    return out.getvalue()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, (kind, options) in FILES.items():
        (FOLDER / file).write_text(rendered(kind, options), encoding="utf-8", newline="")
