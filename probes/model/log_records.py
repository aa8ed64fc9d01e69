"""Log records: one logger for each module; every record names its node and its test, and holds no secret.

``ModuleLog`` masks secrets, replaces control characters and bounds the length before a handler sees the text, so
no handler has to. Nothing is written anywhere until somebody adds a handler to the logger ``benchconsole``.
"""

import logging
import shlex
from collections.abc import Sequence
from contextvars import ContextVar

from benchconsole.probes.model.secret import MASK, is_secret_name, mask_secrets

LONGEST_MESSAGE = 500
"""Characters of one record's message."""

LONGEST_COMMAND = 160
"""Characters of a command within a message."""

_LONGEST_WORD = 60

current_test: ContextVar[str] = ContextVar("current_test", default="-")
"""The id of the test that the running task works for; ``-`` outside of tests."""

_ROOT, _HOUSE = logging.getLogger(), logging.getLogger("benchconsole")
_HOUSE.addHandler(logging.NullHandler())  # else Python itself writes warnings to stderr


class ModuleLog:
    """The log of the module ``name``. ``node`` of a record is empty where it concerns no node."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    @property
    def is_wanted(self) -> bool:
        """Whether anybody reads records of level INFO."""
        return self._logger.isEnabledFor(logging.INFO)

    def debug(self, node: str, message: str, *values: object) -> None:
        """Write a detail that is of use when a fault is searched."""
        self._write(logging.DEBUG, node, message, values)

    def info(self, node: str, message: str, *values: object) -> None:
        """Write something that a run does in any case: a connection, a command, a test."""
        self._write(logging.INFO, node, message, values)

    def warning(self, node: str, message: str, *values: object) -> None:
        """Write something that keeps a run from going as it should: a lost node, a retry, a hold."""
        self._write(logging.WARNING, node, message, values)

    def _write(self, level: int, node: str, message: str, values: tuple[object, ...]) -> None:
        # A record takes 35 us: ten thousand stopped tests make none that nobody reads.
        if (len(_HOUSE.handlers) > 1 or _ROOT.handlers) and self._logger.isEnabledFor(level):
            text = clean_text(message % values, LONGEST_MESSAGE)
            extra = {"node": clean_text(node, LONGEST_COMMAND) or "-", "test": current_test.get()}
            self._logger.log(level, "%s", text, extra=extra, stacklevel=3)


def clean_text(text: str, longest: int) -> str:
    """``text`` on one line without secrets and control characters, at most ``longest`` characters."""
    text = mask_secrets(text)
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def format_command(argv: Sequence[str]) -> str:
    """A command as a shell would show it: secrets masked, long words and long commands cut."""
    words = []
    is_secret = False
    for word in argv:
        shown = MASK if is_secret else clean_text(word, _LONGEST_WORD)
        words.append(shown if MASK in shown else shlex.quote(shown))
        is_secret = word.startswith("-") and "=" not in word and is_secret_name(word)
    return clean_text(" ".join(words), LONGEST_COMMAND)
