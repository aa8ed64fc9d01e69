"""The program as it is installed: what one program made is not taken for the work of another."""

from functools import cache
from pathlib import Path

import benchconsole


@cache
def find_program(package: str = "*") -> str:
    """The version of the program, and when a file of its package, or of any, was last written (nanoseconds, UTC)."""
    parts = (part for folder in benchconsole.__path__ for part in Path(folder).glob(package))
    files = (path for part in parts for path in part.glob("**/*.*"))
    newest = max((path.stat().st_mtime_ns for path in files if path.suffix in (".py", ".html", ".css")), default=0)
    return f"{benchconsole.__version__} {newest}"
