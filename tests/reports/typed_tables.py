"""Tables typed from a report: rows of a CSV, and the session that they make."""

from collections.abc import Iterable
from pathlib import Path

from benchconsole import topology
from tests.reports.typed_outputs import benchconsole
from tests.scenarios.commands import Ran

EXAMPLES = Path(topology.__file__).parent / "examples"
COLUMNS = ("metric", "value", "nodes", "statistic", "n", "error", "labels", "date", "round", "source")


def type_table(path: Path, rows: Iterable[dict[str, str]]) -> Path:
    """Write rows by the names of their columns; what a row lacks is empty."""
    lines = [",".join(COLUMNS), *(",".join(f'"{row.get(name, "")}"' for name in COLUMNS) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def store_table(folder: Path, example: str, label: str, rows: Iterable[dict[str, str]]) -> Ran:
    """Ingest a table as a session of its own, called ``label``, on the topology of an example."""
    table = type_table(folder / f"{label}.csv", rows)
    return benchconsole("ingest", EXAMPLES / f"{example}.yaml", table, "--label", label, "--db", folder / "x.db")


def join_words(ran: Ran) -> str:
    """The output of a command, without its line breaks."""
    return " ".join(ran.out.split())
