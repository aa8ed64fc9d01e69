"""Owns what is known about host keys: known_hosts files as an index, and the verdict on an offered key.

Files are read once and keys are decoded at lookup only, so that a thousand hosts do not read a
thousand lines each. Refuses to look at addresses (a name is trusted, not where it points today)
and to write anything; ``probes.trust`` writes.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import asyncssh

DEFAULT_PORT = 22


class KeyState(StrEnum):
    """Why a host key is not trusted. Only the first is for the trust command; the others contradict what is known."""

    UNKNOWN = "host key unknown"
    CHANGED = "host key changed"
    REVOKED = "host key revoked"
    WRONG_AUTHORITY = "host certificate of another authority"
    EXPIRED = "host certificate expired"
    INVALID = "host certificate invalid"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line: its marker (empty, ``cert-authority``, ``revoked``), its key as text, and its place."""

    marker: str
    key: str
    place: str


@dataclass(frozen=True, slots=True)
class Trusted:
    """What the files say about one host; ``places`` tells where the keys stand.

    ``inherited`` means that the keys stand there without the port that was asked for: they are as
    good as a match, but a different key on this port contradicts nothing.
    """

    name: str
    keys: tuple[asyncssh.SSHKey, ...] = ()
    authorities: tuple[asyncssh.SSHKey, ...] = ()
    revoked: tuple[asyncssh.SSHKey, ...] = ()
    places: tuple[str, ...] = ()
    inherited: bool = False


class KnownHosts:
    """An index over known_hosts files: plain names by dictionary, patterns and hashed names by trial."""

    def __init__(self) -> None:
        self._exact: dict[str, list[_Entry]] = {}
        self._patterns: list[tuple[tuple[tuple[bool, re.Pattern[str]], ...], _Entry]] = []
        self._hashed: list[tuple[bytes, bytes, _Entry]] = []
        self._decoded: dict[str, asyncssh.SSHKey] = {}

    @classmethod
    def read(cls, paths: Iterable[str]) -> "KnownHosts":
        """Read the files that exist; OSError for one that exists and cannot be read."""
        known = cls()
        for path in paths:
            try:
                text = Path(path).read_text("utf-8", errors="replace")
            except (FileNotFoundError, NotADirectoryError):
                continue
            for number, line in enumerate(text.splitlines(), start=1):
                known._add(line.strip(), f"{path}:{number}")
        return known

    def lookup(self, host: str, port: int, alias: str | None = None) -> Trusted:
        """What is trusted for ``host``. An alias stands for host and port together, as in ssh."""
        if alias:
            return self._trusted(alias, self._find(alias.lower()), inherited=False)
        plain = host.lower()
        if port == DEFAULT_PORT:
            return self._trusted(plain, self._find(plain), inherited=False)
        name = f"[{plain}]:{port}"
        entries, of_host = self._find(name), self._find(plain)
        if any(entry.marker != "revoked" for entry in entries):
            return self._trusted(name, entries + [e for e in of_host if e.marker == "revoked"], inherited=False)
        return self._trusted(name, entries + of_host, inherited=True)

    def _add(self, line: str, place: str) -> None:
        marker = ""
        if line.startswith("@"):
            marker, _, line = line[1:].partition(" ")
        names, _, rest = line.strip().partition(" ")
        fields = rest.split()
        if not names or names.startswith("#") or len(fields) < 2:
            return
        entry = _Entry(marker, f"{fields[0]} {fields[1]}", place)
        if names.startswith("|"):
            self._add_hashed(names, entry)
        elif any(character in names for character in "*?!"):
            self._patterns.append((tuple(_compiled(names)), entry))
        else:
            for name in names.lower().split(","):
                self._exact.setdefault(name, []).append(entry)

    def _add_hashed(self, names: str, entry: _Entry) -> None:
        try:
            _, magic, salt, digest = names.split("|")
            if magic == "1":
                self._hashed.append((base64.b64decode(salt), base64.b64decode(digest), entry))
        except (ValueError, binascii.Error):
            return

    def _find(self, name: str) -> list[_Entry]:
        self._unhash(name)
        found = list(self._exact.get(name, ()))
        for parts, entry in self._patterns:
            wanted = [negated for negated, pattern in parts if pattern.fullmatch(name)]
            if wanted and not any(wanted):
                found.append(entry)
        return found

    def _unhash(self, name: str) -> None:
        """Move the hashed lines of ``name`` to the exact index: each stands for one name only."""
        left = []
        for salt, digest, entry in self._hashed:
            if hmac.digest(salt, name.encode(), "sha1") == digest:
                self._exact.setdefault(name, []).append(entry)
            else:
                left.append((salt, digest, entry))
        if len(left) != len(self._hashed):
            self._hashed = left

    def _decode(self, text: str) -> asyncssh.SSHKey:
        """A key that stands in many lines (an authority, a cloned image) is decoded once."""
        key = self._decoded.get(text)
        if key is None:
            key = self._decoded[text] = asyncssh.import_public_key(text)
        return key

    def _trusted(self, name: str, entries: Sequence[_Entry], *, inherited: bool) -> Trusted:
        by_marker: dict[str, list[asyncssh.SSHKey]] = {"": [], "cert-authority": [], "revoked": []}
        for entry in entries:
            try:
                key = self._decode(entry.key)
            except (asyncssh.KeyImportError, ValueError):
                continue  # a key type that this build does not speak cannot be offered either
            by_marker.setdefault(entry.marker, []).append(key)
        return Trusted(
            name,
            keys=tuple(by_marker[""]),
            authorities=tuple(by_marker["cert-authority"]),
            revoked=tuple(by_marker["revoked"]),
            places=tuple(entry.place for entry in entries if not entry.marker),
            inherited=inherited,
        )


def fingerprint(key: asyncssh.SSHKey) -> str:
    """``ssh-ed25519 SHA256:...``, as ``ssh-keygen -l`` shows it."""
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


def _compiled(names: str) -> Iterator[tuple[bool, re.Pattern[str]]]:
    """Each pattern of a name list, with whether it is negated; only ``*`` and ``?`` are special."""
    for name in names.lower().split(","):
        negated = name.startswith("!")
        escaped = re.escape(name[1:] if negated else name)
        yield negated, re.compile(escaped.replace(r"\*", ".*").replace(r"\?", "."))
