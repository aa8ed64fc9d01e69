"""The options ``--verbose`` and ``--log``: where the log records of the product are written.

The records come from ``probes.model.log_records``, which has masked secrets and control characters already.
Libraries write no records here.
"""

import logging
import os
import stat
import sys
import time
from pathlib import Path
from typing import TextIO

from benchconsole.console.exits import BadInput

_LINE = "%(asctime)s %(levelname)s %(name)s node=%(node)s test=%(test)s %(message)s"
_PRODUCT = logging.getLogger("benchconsole")


class _LineHandler(logging.StreamHandler[TextIO]):
    """Writes one line for each record. A record that cannot be written is dropped: it must not end a run."""

    def __init__(self, stream: TextIO, level: int) -> None:
        super().__init__(stream)
        formatter = logging.Formatter(_LINE, defaults={"node": "-", "test": "-"})
        formatter.converter = time.gmtime
        formatter.default_time_format = "%Y-%m-%dT%H:%M:%S"
        formatter.default_msec_format = "%s.%03dZ"
        self.setFormatter(formatter)
        self.setLevel(level)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name in logging
        """Drop it."""


class _TerminalHandler(_LineHandler):
    """Writes on standard error, where a screen may be drawn later."""


def write_records(*, verbose: bool, file: Path | None) -> None:
    """Write records of INFO and above on standard error, and all records at the end of ``file``; BadInput if it cannot.

    Handlers of an earlier call are replaced.
    """
    _remove_handlers(_LineHandler)
    if verbose:
        _PRODUCT.addHandler(_TerminalHandler(sys.stderr, logging.INFO))
    if file is not None:
        _PRODUCT.addHandler(_LineHandler(_open_private(file), logging.DEBUG))
    _PRODUCT.setLevel(logging.DEBUG if file is not None else logging.INFO if verbose else logging.NOTSET)


def keep_records_off_the_screen() -> Path | None:
    """Stop ``--verbose``, and send what libraries log to a file of ours: standard error is the screen from now on.

    That file; None where it cannot be written.
    """
    import platformdirs

    _remove_handlers(_TerminalHandler)
    folder = platformdirs.user_log_path("benchconsole")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        logging.basicConfig(filename=folder / "console.log", level=logging.WARNING)
    except OSError:
        logging.basicConfig(handlers=[logging.NullHandler()])
        return None
    return folder / "console.log"


def _remove_handlers(kind: type[_LineHandler]) -> None:
    for handler in tuple(_PRODUCT.handlers):
        if isinstance(handler, kind):
            _PRODUCT.removeHandler(handler)


def _open_private(path: Path) -> TextIO:
    """``path``, opened for appending; a regular file is made readable for its owner alone."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise BadInput(f"benchconsole: --log {path}: {error.strerror}; expected a file that can be written") from error
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
