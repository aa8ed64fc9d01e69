"""A secret in memory, and the masking of secrets in text that is written anywhere.

``mask_secrets`` hides every ``Secret`` that lives, the values of settings whose name says that they are secret,
passwords in URLs and private keys in PEM.
"""

import re
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
