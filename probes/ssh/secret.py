"""Owns a secret in memory: a value that shows itself to nobody by accident.

Refuses to be printed, logged, compared, copied into a file or sent between processes; only
``probes.ssh.privilege`` asks for its bytes, to write them to the stdin of sudo.
"""

from typing import NoReturn


class Secret:
    """A password. Whatever formats it gets ``***``."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def line(self) -> bytes:
        """The secret as one line of input; ValueError when it would be two."""
        if "\n" in self.__text or "\0" in self.__text:
            raise ValueError("a password is one line")
        return self.__text.encode() + b"\n"

    def __repr__(self) -> str:
        return "***"

    def __format__(self, spec: str) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret stays in the memory of its process")
