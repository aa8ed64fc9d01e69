"""A secret in memory, and the masking of secrets in text that is written anywhere.

``mask_secrets`` hides every ``Secret`` that lives, the values of settings whose name says that they are secret,
passwords in URLs and private keys in PEM.
"""

import os
import re
import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn
from weakref import WeakSet

MASK = "***"
_NAME = r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|api[_-]?key|private[_-]?key)[\w.-]*"
_NAMED = re.compile(_NAME, re.IGNORECASE)
_SETTING = re.compile(rf"({_NAME}[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s\"',;&]+)", re.IGNORECASE)
_URL = re.compile(r"(://[^\s/:@]*:)[^\s/@]+(?=@)")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL)


class Secret:
    """A password. Whatever formats it gets ``***``; ``mask_secrets`` hides it for as long as it lives."""

    __slots__ = ("__text", "__weakref__")

    def __init__(self, text: str) -> None:
        self.__text = text
        _LIVING.add(self)

    def line(self) -> bytes:
        """The secret as one line of input; ValueError when it would be two."""
        if "\n" in self.__text or "\0" in self.__text:
            raise ValueError("a password is one line")
        return self.__text.encode() + b"\n"

    def mask(self, text: str) -> str:
        return text.replace(self.__text, MASK) if self.__text else text

    def __repr__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret stays in the memory of its process")


_LIVING: WeakSet[Secret] = WeakSet()
_PR_SET_DUMPABLE = 4


def keep_out_of_dumps() -> None:
    """Keep the memory of this process to itself: no core file, and no debugger of the same user (prctl(2)).

    OSError where the kernel refuses. It holds until the process ends.
    """
    import ctypes  # it costs every start some milliseconds, and most consoles hold no secret

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kernel = ctypes.CDLL(None, use_errno=True)
    if kernel.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextmanager
def mask_values(values: Iterable[str]) -> Iterator[None]:
    """Mask these values too while the context lasts."""
    secrets = [Secret(value) for value in values]
    yield
    secrets.clear()


def is_secret_name(name: str) -> bool:
    """Whether an option or argument of this name holds a secret (``password``, ``api_key``, ``--auth-token``)."""
    return _NAMED.fullmatch(name) is not None


def mask_secrets(text: str) -> str:
    """``text`` with ``***`` in the place of every secret that can be known as one."""
    for secret in tuple(_LIVING):
        text = secret.mask(text)
    text = _SETTING.sub(rf"\1{MASK}", text)
    return _PEM.sub(MASK, _URL.sub(rf"\1{MASK}", text))
