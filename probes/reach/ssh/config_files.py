"""The files of an ssh configuration: that nobody else can write them, and the revoked host keys that they name.

Our own known_hosts, which no configuration names, is looked at in the same way.

A file is refused as OpenSSH refuses it (``readconf.c``: "Bad owner or permissions"): where another user owns it, or its
group or others may write it. So is one in a directory in which everybody may replace it. Keys that any of the files
revokes are revoked for every host, whatever the condition that the line stands under.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import asyncssh

from benchconsole.probes.reach.ssh.host_classes import DEEPEST_INCLUDE, list_included

_KEYWORD = re.compile(r"""\s*"?(?P<keyword>[A-Za-z0-9]+)"?\s*[\s=]\s*(?P<rest>.*)""")
_KRL = b"SSHKRL\n\x00"


def list_files(paths: Sequence[str]) -> Iterator[Path]:
    """The files and what they include, each once for each place that names it.

    OSError for one that cannot be read, ValueError where they include each other in a circle, or deeper than ssh goes.
    """
    for path in paths:
        yield from _list_with_includes(Path(path), 0)


def _list_with_includes(path: Path, depth: int) -> Iterator[Path]:
    if depth > DEEPEST_INCLUDE:
        raise ValueError(
            f"{path} is included {depth} files deep, ssh follows {DEEPEST_INCLUDE}: does a file include itself?"
        )
    yield path
    for keyword, rest in _read_lines(path):
        if keyword == "include":
            for included in list_included(shlex.split(rest)):
                yield from _list_with_includes(included, depth + 1)


def _read_lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(errors="surrogateescape").split("\n"):
        match = _KEYWORD.match(line)
        if match is not None and not line.lstrip().startswith("#"):
            yield match["keyword"].lower(), match["rest"]


def find_writer(path: Path) -> str:
    """Who else may change a file, in words that follow its name; empty where nobody may."""
    found, folder = path.stat(), path.absolute().parent.stat()
    if found.st_uid not in (0, os.getuid()):
        return f"belongs to user {found.st_uid}, who could change what is run here; expected a file of yours or of root"
    if stat.S_ISREG(found.st_mode) and found.st_mode & 0o022:
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):04o}); chmod go-w makes it yours alone"
    if folder.st_mode & 0o002 and not folder.st_mode & stat.S_ISVTX:
        return f"stands in {path.absolute().parent}, where everybody may replace it; chmod o-w on the directory"
    return ""


def find_stranger(path: Path) -> str:
    """Who else may have put a file there that nobody named, in words that follow its name; empty where nobody may.

    A link is looked at as well as the file that it leads to. Where nothing is there, nobody has.
    """
    if not path.exists():
        return ""
    owner = path.lstat().st_uid
    if path.is_symlink() and owner not in (0, os.getuid()):
        return f"is a link of user {owner}, who could say with it who is let in; expected one of yours or of root"
    return find_writer(path) or find_writer(path.resolve())


def find_reader(path: Path) -> str:
    """Who else may read a private key of ours, in words that follow its name; empty where nobody may.

    ssh passes such a key over (``authfile.c``: "UNPROTECTED PRIVATE KEY FILE"). Of a key of another user only that user
    can judge.
    """
    found = path.stat()
    if found.st_uid != os.getuid() or not found.st_mode & 0o077:
        return ""
    return f"can be read or written by others (mode {stat.S_IMODE(found.st_mode):04o}); chmod 600 makes it yours alone"


def read_revoked(paths: Sequence[str]) -> tuple[asyncssh.SSHKey, ...]:
    """The host keys in the files that ``RevokedHostKeys`` names anywhere.

    OSError for a file that cannot be read, and ValueError for one that is no list of public keys: ssh refuses every
    host then, and so do we.
    """
    named = [rest for path in list_files(paths) for keyword, rest in _read_lines(path) if keyword == "revokedhostkeys"]
    words = dict.fromkeys(word for rest in named for word in shlex.split(rest)[:1] if word.lower() != "none")
    return tuple(key for word in words for key in _read_keys(Path(os.path.expandvars(word)).expanduser()))


def _read_keys(path: Path) -> Iterator[asyncssh.SSHKey]:
    text = path.read_bytes()
    if text.startswith(_KRL):
        raise ValueError(f"{path}, which RevokedHostKeys names, is a binary list; expected public keys, one a line")
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                yield asyncssh.import_public_key(line.strip())
            except asyncssh.KeyImportError:
                raise ValueError(f"{path}:{number}, which RevokedHostKeys names: no public key") from None
