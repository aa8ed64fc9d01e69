"""Owns what the ssh configuration says about a host: where, as whom, with which keys, through whom.

asyncssh reads the files (Host, Match, Include, ...); this module asks it once per host, off the
event loop, and takes from it what can be obeyed. Refuses every setting that would turn the
verification of host keys off, would forward the agent, or would run something in our name.
"""

import copy
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh

from probes.model import FailedAt
from probes.ssh.hostkeys import KnownHosts, Trusted
from topology.model import Access

_USER_CONFIG = "~/.ssh/config"
_SYSTEM_CONFIG = "/etc/ssh/ssh_config"
_USER_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
_SYSTEM_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
_FAST_CIPHERS = "^aes128-gcm@openssh.com,aes256-gcm@openssh.com"
"""In front of the others, not instead of them: old nodes must still be reached."""

_HOST_KEY_ORDER = (
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "rsa-sha2-512", "rsa-sha2-256", "ssh-rsa",
)  # fmt: skip
_NOTHING: tuple[tuple[()], ...] = ((), (), ())
"""Host keys that are trusted, authorities, and revoked keys: none. (None would mean: do not look.)"""
_AS_READ = {"config": None, "reload": False, "final": False}
"""For options made from others: the configuration files have had their say."""
_SAFE_HOST = re.compile(r"[A-Za-z0-9_.:%][A-Za-z0-9_.:%-]{0,254}")
_SAFE_USER = re.compile(r"[A-Za-z0-9_.@+][A-Za-z0-9_.@+-]{0,254}")


class ConfigError(Exception):
    """A configuration that cannot or must not be followed, and the stage that it keeps us from."""

    def __init__(self, detail: str, stage: FailedAt = FailedAt.UNREACHABLE) -> None:
        self.stage = stage
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class Place:
    """Where someone wants to go, as written: a host or an alias of the configuration."""

    host: str
    user: str | None = None
    port: int | None = None
    jump: bool = False

    def __str__(self) -> str:
        return f"{f'{self.user}@' if self.user else ''}{self.host}{f':{self.port}' if self.port else ''}"


@dataclass(frozen=True, slots=True)
class Route:
    """A place resolved: real host, port and user, what is trusted there, and who stands between.

    ``settings`` are what a connection needs beyond ``options``; without them nothing is trusted.
    """

    host: str
    port: int
    user: str
    trusted: Trusted
    jumps: tuple[Place, ...]
    options: asyncssh.SSHClientConnectionOptions
    settings: Mapping[str, object]
    keys: int

    @property
    def is_proxied(self) -> bool:
        """Whether a command of the user's configuration makes the connection instead of us."""
        return bool(self.options.proxy_command)


class Configuration:
    """Resolves places. Not for the event loop: it reads files and may run a ``Match exec``."""

    def __init__(self, access: Access, also_trusted: Sequence[str] = (), *, login: float, keepalive: float) -> None:
        self._access = access
        self._also_trusted = tuple(also_trusted)
        self._timing = {"login_timeout": login + 5, "keepalive_interval": keepalive, "keepalive_count_max": 2}
        self._lock = threading.Lock()
        self._known: dict[tuple[str, ...], KnownHosts] = {}
        self._keys: dict[tuple[str | None, ...], _Keys] = {}
        own = (access.config,) if access.config else (_USER_CONFIG, _SYSTEM_CONFIG)
        paths = [str(Path(path).expanduser()) for path in own]
        self._files = [path for path in paths if access.config or os.access(path, os.R_OK)]

    def resolve(self, place: Place) -> Route:
        """Everything that is needed to open a connection to ``place``; ConfigError says why not."""
        _refuse_unsafe(place.host, _SAFE_HOST)
        if place.user is not None:
            _refuse_unsafe(place.user, _SAFE_USER)
        try:
            read = self._read(place)
            _refuse_unsafe(read.host, _SAFE_HOST)
            with self._lock:  # what was read for one host is kept for all
                trusted = self._trusted(read)
                keys = self._keys_for(place, read)
        except OSError as error:
            raise ConfigError(f"{error.filename or 'ssh configuration'}: {error.strerror or error}") from error
        except ValueError as error:
            raise ConfigError(f"ssh configuration: {error}") from error
        settings = {
            **_AS_READ,
            "client_keys": [copy.copy(pair) for pair in keys.pairs],  # a connection notes its choices in them
            "agent_identities": keys.of_agent,
            "agent_path": () if keys.asks_agent else "",
            "known_hosts": (trusted.keys, trusted.authorities, trusted.revoked),
            "server_host_key_algs": _preferred(trusted),
            "encryption_algs": () if read.config.get("Ciphers") else _FAST_CIPHERS,
        }
        return Route(read.host, read.port, read.username, trusted, _hops(read.tunnel), read, settings, len(keys.pairs))

    def _read(self, place: Place) -> asyncssh.SSHClientConnectionOptions:
        """The configuration's word on ``place``: no key loaded, nothing trusted, our own refusals in force."""
        read = asyncssh.SSHClientConnectionOptions(
            config=self._files, canonicalize_hostname=False,
            host=place.host, port=place.port or (), username=place.user or (),
            client_keys=None, known_hosts=_NOTHING, x509_trusted_certs=None, x509_trusted_cert_paths=None,
            agent_forwarding=False, x11_forwarding=False, request_pty=False, env=None, send_env=None, command=None,
            gss_kex=False, password_auth=False, kbdint_auth=False, host_based_auth=False, connect_timeout=None,
            **self._timing,
        )  # fmt: skip
        if read.config.has_match_final():
            read.update(reload=True, final=True)
        return read

    def _trusted(self, read: asyncssh.SSHClientConnectionOptions) -> Trusted:
        paths = self._known_hosts(read)
        if paths not in self._known:
            self._known[paths] = KnownHosts.read(paths)
        return self._known[paths].lookup(read.host, read.port, read.host_key_alias)

    def _known_hosts(self, read: asyncssh.SSHClientConnectionOptions) -> tuple[str, ...]:
        if self._access.known_hosts:
            return (self._access.known_hosts, *self._also_trusted)
        users = _names(read.config.get("UserKnownHostsFile"), _USER_KNOWN_HOSTS)
        systems = _names(read.config.get("GlobalKnownHostsFile"), _SYSTEM_KNOWN_HOSTS)
        if not set(users) - {"none", "/dev/null"}:
            raise ConfigError(
                f"the ssh configuration sets UserKnownHostsFile to {' '.join(users) or 'none'}, which would leave host"
                " keys unverified; name a real file there, or known_hosts in the access of the topology",
                FailedAt.HOST_KEY_UNKNOWN,
            )
        return tuple(_expanded(path, read) for path in (*users, *systems)) + self._also_trusted

    def _keys_for(self, place: Place, read: asyncssh.SSHClientConnectionOptions) -> "_Keys":
        """The keys to offer, read once for all hosts that offer the same ones."""
        configured = [path for path in _names(read.config.get("IdentityFile"), ()) if Path(path).expanduser().exists()]
        given = self._access.identity if not (place.jump and configured) else None
        name = (given, *configured, str(read.config.get("CertificateFile")), str(read.config.get("IdentitiesOnly")))
        if name not in self._keys:
            try:
                self._keys[name] = _load_keys(read, given, configured)
            except (OSError, ValueError) as error:
                words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
                raise ConfigError(f"the key to log in with cannot be used: {words}", FailedAt.LOGIN) from error
        return self._keys[name]


@dataclass(frozen=True, slots=True)
class _Keys:
    """Private keys, and which of the agent's keys may be offered too (None: all of them)."""

    pairs: tuple[asyncssh.SSHKeyPair, ...]
    of_agent: Sequence[bytes] | None
    asks_agent: bool = True


def _load_keys(read: asyncssh.SSHClientConnectionOptions, given: str | None, configured: Sequence[str]) -> _Keys:
    """A key that was named for us is offered alone: others would use up what a server allows to try."""
    wanted: object = [given] if given else list(configured) or ()
    loaded = asyncssh.SSHClientConnectionOptions(read, client_keys=wanted, ignore_encrypted=True, **_AS_READ)
    pairs = tuple(loaded.client_keys or ())
    if given is None or pairs:
        return _Keys(pairs, loaded.agent_identities, asks_agent=given is None)
    public = Path(f"{given}.pub").expanduser()  # it has a passphrase: only the agent can use it
    return _Keys((), [asyncssh.read_public_key(public).public_data] if public.exists() else None)


def asking_only(route: Route, kinds: Sequence[str]) -> Route:
    """The same route, with nothing trusted, no key to log in with, and only these kinds of host key."""
    asking = {"known_hosts": _NOTHING, "client_keys": None, "server_host_key_algs": list(kinds)}
    return replace(route, settings={**route.settings, **asking})


def _refuse_unsafe(name: str, safe: re.Pattern[str]) -> None:
    """Names end up in proxy commands and messages: nothing that a shell or an option parser would see."""
    if not safe.fullmatch(name):
        raise ConfigError(f"the name {name!r} is not a host or user name that can be passed on safely")


def _preferred(trusted: Trusted) -> list[str]:
    """Algorithms of known keys first, so that a host is not taken for unknown by its other key."""
    of_known = {name.decode() for key in trusted.keys for name in key.sig_algorithms}
    plain = sorted(_HOST_KEY_ORDER, key=lambda name: name not in of_known)
    certified = [f"{name}-cert-v01@openssh.com" for name in _HOST_KEY_ORDER] if trusted.authorities else []
    return [*certified, *plain]


def _names(value: object, default: Sequence[str]) -> tuple[str, ...]:
    return tuple(default) if value is None else tuple(str(item) for item in value) if isinstance(value, list) else ()


def _expanded(path: str, read: asyncssh.SSHClientConnectionOptions) -> str:
    tokens = {"%%": "%", "%d": str(Path.home()), "%h": read.host, "%p": str(read.port), "%r": read.username}
    text = re.sub("%.", lambda found: tokens.get(found[0], found[0]), path)
    return str(Path(os.path.expandvars(text)).expanduser())


def _hops(jump: object) -> tuple[Place, ...]:
    """The places of a ProxyJump, nearest first."""
    if not isinstance(jump, str) or not jump:
        return ()
    hops = []
    for text in jump.split(","):
        found = re.fullmatch(r"(?:ssh://)?(?:([^@]+)@)?(\[[^]]+\]|[^:]+)(?::(\d+))?", text.strip())
        if found is None:
            raise ConfigError(f"ProxyJump {jump!r} cannot be read at {text!r}")
        hops.append(Place(found[2].strip("[]"), found[1], int(found[3]) if found[3] else None, jump=True))
    return tuple(hops)
