"""The known_hosts files: an index for lookups, and the addition of keys that an operator trusts.

Files are read once and keys are decoded at lookup only, so that a thousand hosts do not read a thousand lines each.
Addresses are not looked up: a name is trusted, not the address that it has today. The file that is written is ours,
beside the database. A key that contradicts a known one is not added: a person has to remove the old line first.
"""

import base64
import hmac
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

import asyncssh

from benchconsole.probes.model.errors import ProbeError

DEFAULT_PORT = 22


class HostKeyState(StrEnum):
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
class TrustedKeys:
    """The entries of the files on one host; ``places`` tells where the keys stand.

    ``inherited`` means that the keys stand there without the port that was asked for: they are as
    good as a match, but a different key on this port contradicts nothing.
    """

    name: str
    keys: tuple[asyncssh.SSHKey, ...] = ()
    authorities: tuple[asyncssh.SSHKey, ...] = ()
    revoked: tuple[asyncssh.SSHKey, ...] = ()
    places: tuple[str, ...] = ()
    inherited: bool = False


_BLANK = " \t\r"
"""Blanks around a line; only these and the end of a line part fields (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""


def _part(line: str) -> tuple[str, str, str]:
    """The first field of a line, the blanks after it, and the rest."""
    found = re.match(r"([^ \t]*)([ \t]*)(.*)", line, re.DOTALL)
    return (found[1], found[2], found[3]) if found else (line, "", "")


class KnownHosts:
    """An index over known_hosts files: plain names by dictionary, patterns and hashed names by trial."""

    def __init__(self) -> None:
        self._exact: dict[str, list[_Entry]] = defaultdict(list)
        self._patterns: list[tuple[list[tuple[bool, re.Pattern[str]]], _Entry]] = []
        self._hashed: list[tuple[bytes, bytes, _Entry]] = []

    @classmethod
    def read(cls, paths: Iterable[str]) -> "KnownHosts":
        """Read the files that exist; OSError for one that exists and cannot be read."""
        known = cls()
        for path in paths:
            try:
                text = Path(path).read_bytes().decode("utf-8", "replace")
            except (FileNotFoundError, NotADirectoryError):
                continue
            for number, line in enumerate(text.split("\n"), start=1):
                known._add(line.strip(_BLANK), f"{path}:{number}")
        return known

    def lookup(self, host: str, port: int, alias: str | None = None) -> TrustedKeys:
        """The trusted keys of ``host``. An alias stands for host and port together, as in ssh."""
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
            marker, _, line = _part(line[1:])
        names, _, rest = _part(line)
        fields = rest.split()
        if not names or names.startswith("#") or len(fields) < 2:
            return
        entry = _Entry(marker, f"{fields[0]} {fields[1]}", place)
        if names.startswith("|"):
            with suppress(ValueError):
                _, magic, salt, digest = names.split("|")
                if magic == "1":
                    self._hashed.append((base64.b64decode(salt), base64.b64decode(digest), entry))
        elif any(character in names for character in "*?!"):
            parts = [(name.startswith("!"), compile_name(name.removeprefix("!"))) for name in names.lower().split(",")]
            self._patterns.append((parts, entry))
        else:
            for name in names.lower().split(","):
                self._exact[name].append(entry)

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
        for each in [each for each in self._hashed if hmac.digest(each[0], name.encode(), "sha1") == each[1]]:
            self._hashed.remove(each)
            self._exact[name].append(each[2])

    def _trusted(self, name: str, entries: Sequence[_Entry], *, inherited: bool) -> TrustedKeys:
        by_marker: dict[str, list[asyncssh.SSHKey]] = defaultdict(list)
        for entry in entries:
            try:
                key = _decode_key(entry.key)
            except (asyncssh.KeyImportError, ValueError):
                continue  # a key type that this build does not speak cannot be offered either
            by_marker[entry.marker].append(key)
        return TrustedKeys(
            name,
            keys=tuple(by_marker[""]),
            authorities=tuple(by_marker["cert-authority"]),
            revoked=tuple(by_marker["revoked"]),
            places=tuple(entry.place for entry in entries if not entry.marker),
            inherited=inherited,
        )


_decode_key = cache(asyncssh.import_public_key)
"""A key that stands in many lines (an authority, a cloned image) is decoded once."""


def fingerprint(key: asyncssh.SSHKey) -> str:
    """``ssh-ed25519 SHA256:...``, as ``ssh-keygen -l`` shows it."""
    return f"{key.get_algorithm()} {key.get_fingerprint()}"


def compile_name(name: str) -> re.Pattern[str]:
    """A pattern of host names, for a full match; only ``*`` and ``?`` are special (ssh_config(5), PATTERNS)."""
    return re.compile(re.escape(name).replace(r"\*", ".*").replace(r"\?", "."))


class TrustError(ProbeError):
    """A key that contradicts what is already trusted."""


@dataclass(frozen=True, slots=True)
class OfferedKey:
    """One host key as a node offers it. ``name`` is what known_hosts calls the node (``[host]:port``)."""

    name: str
    kind: str
    key: str
    fingerprint: str

    @property
    def line(self) -> str:
        return f"{self.name} {self.kind} {self.key}"


def add_keys(path: Path, keys: Iterable[OfferedKey]) -> int:
    """Add the keys to the file, which is replaced as a whole; how many were new.

    TrustError when the file knows another key of the same kind for the same name.
    """
    new = find_new_keys(path, keys)
    if new:
        _replace(path, [*_read_lines(path), *(each.line for each in new)])
    return len(new)


def find_new_keys(path: Path, keys: Iterable[OfferedKey]) -> list[OfferedKey]:
    """The keys that no line of the file has for their name, each once.

    TrustError when the file knows another key of the same kind for the same name.
    """
    fields = [line.split() for line in _read_lines(path) if not line.startswith(("#", "@", "|"))]
    known = {(name, each[1]): each[2] for each in fields if len(each) >= 3 for name in each[0].split(",")}
    new = []
    for offered in keys:
        place = offered.name, offered.kind
        if known.get(place, offered.key) != offered.key:
            raise TrustError(
                f"{path} knows another {offered.kind} key for {offered.name}, which offers {offered.fingerprint}; "
                "remove its line first if it has to go"
            )
        if place not in known:
            known[place] = offered.key
            new.append(offered)
    return new


def _read_lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""
    return text.removesuffix("\n").split("\n") if text else []


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
