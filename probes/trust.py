"""Owns what an operator is asked to trust: the host keys that a node offers, and the file that keeps the answer.

The file is ours, beside the database, in the format of known_hosts. Refuses to overwrite: a key
that contradicts a known one is an event for a person, who forgets the old key first.
"""

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probes.errors import ProbeError


class TrustError(ProbeError):
    """A key that contradicts what is already trusted."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One host key as a node offers it. ``name`` is what known_hosts calls the node (``[host]:port``)."""

    name: str
    kind: str
    key: str
    fingerprint: str

    @property
    def line(self) -> str:
        """The line that accepts it."""
        return f"{self.name} {self.kind} {self.key}"


def accept(path: Path, offers: Iterable[Offer]) -> int:
    """Add the offers to the file, which is replaced as a whole; how many were new.

    TrustError when the file knows another key of the same kind for the same name.
    """
    lines = _lines(path)
    known = {(name, kind): key for name, kind, key in _entries(lines)}
    new = []
    for offer in offers:
        have = known.setdefault((offer.name, offer.kind), offer.key)
        if have != offer.key:
            raise TrustError(f"{path} knows another {offer.kind} key for {offer.name}; forget it first if it has to go")
        if offer.line not in lines and offer.line not in new:
            new.append(offer.line)
    if new:
        _replace(path, [*lines, *new])
    return len(new)


def forget(path: Path, name: str) -> int:
    """Remove every key of ``name``; how many there were."""
    lines = _lines(path)
    kept = [line for line in lines if line.split(" ", 1)[0] != name]
    if len(kept) != len(lines):
        _replace(path, kept)
    return len(lines) - len(kept)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", errors="surrogateescape").splitlines()
    except FileNotFoundError:
        return []


def _entries(lines: Sequence[str]) -> Iterable[tuple[str, str, str]]:
    for line in lines:
        fields = line.split()
        if len(fields) >= 3 and not line.startswith(("#", "@", "|")):
            for name in fields[0].split(","):
                yield name, fields[1], fields[2]


def _replace(path: Path, lines: Sequence[str]) -> None:
    """Write beside the file and rename, so that a reader sees the old file or the new one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600, and no link is followed
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
