"""A path as somebody types it into the screen, where no shell has expanded it."""

from contextlib import suppress
from pathlib import Path


def read_typed_path(text: str) -> Path:
    """The path of ``text``; ``~`` is a home directory where there is one, else a name like any other."""
    path = Path(text)
    with suppress(RuntimeError):
        path = path.expanduser()
    return path
