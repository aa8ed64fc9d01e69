"""The keys that are offered at a login: those of files, read once for all hosts that offer the same, and the agent's.

As with ssh, a configured key that is not there or cannot be used is passed over, and named when the login is
refused. A passphrase is never asked for: a locked key is used through the agent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncssh


@dataclass(frozen=True, slots=True)
class LoginKeys:
    """Private keys, which of the agent's keys may be offered too (None: all of them), and what could not be used."""

    pairs: tuple[asyncssh.SSHKeyPair, ...]
    agent_keys: Sequence[bytes] | None
    asks_agent: bool = True
    unusable: tuple[str, ...] = ()


def load_named_key(path: str) -> LoginKeys:
    """A key that was named for us is offered alone: others would use up what a server allows to try."""
    pairs = tuple(asyncssh.load_keypairs([str(Path(path).expanduser())], ignore_encrypted=True))
    if pairs:
        return LoginKeys(pairs, None, asks_agent=False)
    public = _public(path)  # it has a passphrase: only the agent can use it
    return LoginKeys((), [public] if public is not None else None)


def load_configured_keys(read: asyncssh.SSHClientConnectionOptions, as_read: dict[str, object]) -> LoginKeys:
    """The keys that the ssh configuration names, or ssh's usual ones."""
    named = read.config.get("IdentityFile")
    if not isinstance(named, list) or not named:
        usual = asyncssh.SSHClientConnectionOptions(read, client_keys=(), ignore_encrypted=True, **as_read)
        return LoginKeys(tuple(usual.client_keys or ()), usual.agent_identities)
    certificates = [path for path in _words(read.config.get("CertificateFile")) if Path(path).expanduser().exists()]
    pairs: list[asyncssh.SSHKeyPair] = []
    unusable = []
    for path in named:
        try:
            pairs += asyncssh.load_keypairs([str(Path(path).expanduser())], None, certificates, ignore_encrypted=True)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            words = error.strerror if isinstance(error, OSError) else str(error)
            unusable.append(f"the key file {path} cannot be used: {words}")
    if not read.config.get("IdentitiesOnly"):
        return LoginKeys(tuple(pairs), None, unusable=tuple(unusable))
    public = [blob for path in named if (blob := _public(path)) is not None]
    return LoginKeys(tuple(pairs), public, asks_agent=bool(public), unusable=tuple(unusable))


def _public(path: str) -> bytes | None:
    """The public half that stands beside a private key, or in its place."""
    for candidate in (f"{path}.pub", path):
        try:
            return asyncssh.read_public_key(str(Path(candidate).expanduser())).public_data
        except (OSError, ValueError):
            continue
    return None


def _words(value: object) -> Iterator[str]:
    yield from (str(item) for item in value) if isinstance(value, list) else ()
