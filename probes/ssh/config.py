"""Owns what the ssh configuration says about a host: where, as whom, with which keys, through whom.

asyncssh reads the files (Host, Match, Include, ...); this module asks it once per host, off the
event loop, and takes from it what can be obeyed. Refuses every setting that would turn the
verification of host keys off, would forward the agent, or would run something in our name.
"""

import asyncio
import copy
import os
import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh

from probes.model import FailedAt
from probes.ssh.alike import Likeness
from probes.ssh.hostkeys import KnownHosts, Trusted
from probes.ssh.identities import Keys, of_configuration, of_file
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
_AS_READ: dict[str, object] = {"config": None, "reload": False, "final": False}
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

    ``options`` is shared by all hosts that the configuration cannot tell apart; it trusts nothing.
    ``order`` is the order in which kinds of host key are asked for; empty: that of the user's configuration.
    """

    host: str
    port: int
    trusted: Trusted
    jumps: tuple[Place, ...]
    options: asyncssh.SSHClientConnectionOptions
    keys: Keys
    order: tuple[str, ...]

    @property
    def user(self) -> str:
        """Who logs in."""
        return self.options.username

    def own(
        self, client: Callable[[], asyncssh.SSHClient], waiter: "asyncio.Future[None]"
    ) -> asyncssh.SSHClientConnectionOptions:
        """The options of one connection: those that are shared, with what belongs to this host alone."""
        own = copy.copy(self.options)
        own.host, own.port = self.host, self.port
        own.known_hosts = (self.trusted.keys, self.trusted.authorities, self.trusted.revoked, (), (), (), ())
        own.server_host_key_algs = self.order
        own.client_keys = [copy.copy(pair) for pair in self.keys.pairs]  # a connection notes its choices in them
        own.agent_path = self.options.agent_path or None
        own.protocol_factory = client
        own.waiter = waiter
        return own


@dataclass(frozen=True, slots=True)
class _Shape:
    """What hosts that are alike have in common; ``hostname`` is None where each goes by its own name."""

    options: asyncssh.SSHClientConnectionOptions
    hostname: str | None
    known: KnownHosts
    keys: Keys
    jumps: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken from the configuration for one place, by the keywords of ssh_config(5), for comparison."""

    where: Mapping[str, str]
    files: Mapping[str, tuple[str, ...]]
    expand: Callable[[str], str]


class Configuration:
    """Resolves places. Not for the event loop: it reads files and may run a ``Match exec``."""

    def __init__(self, access: Access, also_trusted: Sequence[str] = (), *, login: float, keepalive: float) -> None:
        self._access = access
        self._also_trusted = tuple(also_trusted)
        self._timing = {"login_timeout": login + 5, "keepalive_interval": keepalive, "keepalive_count_max": 2}
        self._lock = threading.Lock()
        self._known: dict[tuple[str, ...], KnownHosts] = {}
        self._keys: dict[tuple[str | None, ...], Keys] = {}
        self._shapes: dict[Hashable, _Shape] = {}
        self._likeness: Likeness | None = None
        own = (access.config,) if access.config else (_USER_CONFIG, _SYSTEM_CONFIG)
        paths = [str(Path(path).expanduser()) for path in own]
        self.files = [path for path in paths if access.config or os.access(path, os.R_OK)]

    def resolve(self, place: Place) -> Route:
        """Everything that is needed to open a connection to ``place``; ConfigError says why not."""
        _refuse_unsafe(place.host, _SAFE_HOST)
        if place.user is not None:
            _refuse_unsafe(place.user, _SAFE_USER)
        try:
            shape = self._shape_of(place)
            host = shape.hostname or place.host
            _refuse_unsafe(host, _SAFE_HOST)
            with self._lock:
                trusted = shape.known.lookup(host, shape.options.port, shape.options.host_key_alias)
        except OSError as error:
            raise ConfigError(f"{error.filename or 'ssh configuration'}: {error.strerror or error}") from error
        except ValueError as error:
            raise ConfigError(f"ssh configuration: {error}") from error
        order = () if shape.options.config.get("HostKeyAlgorithms") else _preferred(trusted)
        return Route(host, shape.options.port, trusted, shape.jumps, shape.options, shape.keys, order)

    def taken(self, place: Place) -> Taken:
        """What ``resolve`` goes by; ConfigError as there."""
        route = self.resolve(place)
        read = self._read(place)
        known = self.known_hosts(read)
        where = {
            "hostname": route.host,
            "port": str(route.port),
            "user": route.user,
            "proxyjump": read.tunnel if isinstance(read.tunnel, str) else "",
            "hostkeyalias": read.host_key_alias or "",
        }
        identities = (self._access.identity,) if self._access.identity else _names(read.config.get("IdentityFile"), ())
        files = {
            "identityfile": tuple(_expanded(path, read) for path in identities),
            "certificatefile": tuple(_expanded(path, read) for path in _names(read.config.get("CertificateFile"), ())),
            "userknownhostsfile": known,
            "globalknownhostsfile": known,
        }
        return Taken(where, files, lambda path: _expanded(path, read))

    @property
    def runs_commands(self) -> bool:
        """Whether reading the configuration for a host may run a command of the user's."""
        if self._likeness is None:
            self._likeness = Likeness(self.files)
        return self._likeness.runs_commands

    def _shape_of(self, place: Place) -> _Shape:
        """What is read once for all hosts that the files cannot tell apart."""
        if self._likeness is None:
            self._likeness = Likeness(self.files)
        name = (self._likeness.of(place.host), place.user, place.port, place.jump)
        shape = self._shapes.get(name)
        if shape is None:
            shape = self._shapes[name] = self._learn(place)
        return shape

    def _learn(self, place: Place) -> _Shape:
        read = self._read(place)
        with self._lock:
            known = self._known_for(read)
            keys = self._keys_for(place, read)
        options = asyncssh.SSHClientConnectionOptions(
            read,
            client_keys=list(keys.pairs),
            client_certs=[],
            agent_identities=keys.of_agent,
            agent_path=() if keys.asks_agent else "",
            encryption_algs=() if read.config.get("Ciphers") else _FAST_CIPHERS,
            gss_host=() if read.config.get("GSSAPIAuthentication") else None,  # as in ssh: only where it is wanted
            **_AS_READ,
        )
        hostname = read.config.get("Hostname")
        return _Shape(options, str(hostname) if hostname else None, known, keys, _hops(read.tunnel))

    def _read(self, place: Place) -> asyncssh.SSHClientConnectionOptions:
        """The configuration's word on ``place``: no key loaded, nothing trusted, our own refusals in force."""
        read = asyncssh.SSHClientConnectionOptions(
            config=self.files, canonicalize_hostname=False,
            host=place.host, port=place.port or (), username=place.user or (),
            client_keys=None, known_hosts=_NOTHING, x509_trusted_certs=None, x509_trusted_cert_paths=None,
            agent_forwarding=False, x11_forwarding=False, request_pty=False, env=None, send_env=None, command=None,
            gss_kex=False, password_auth=False, kbdint_auth=False, host_based_auth=False, connect_timeout=None,
            **self._timing,
        )  # fmt: skip
        if read.config.has_match_final():
            read.update(reload=True, final=True)
        return read

    def _known_for(self, read: asyncssh.SSHClientConnectionOptions) -> KnownHosts:
        paths = self.known_hosts(read)
        if paths not in self._known:
            self._known[paths] = KnownHosts.read(paths)
        return self._known[paths]

    def known_hosts(self, read: asyncssh.SSHClientConnectionOptions) -> tuple[str, ...]:
        """The files that say which host keys are trusted; ConfigError when the configuration names none."""
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

    def _keys_for(self, place: Place, read: asyncssh.SSHClientConnectionOptions) -> Keys:
        """The keys to offer, read once for all hosts that offer the same ones."""
        configured = _names(read.config.get("IdentityFile"), ())
        is_own = place.jump and any(Path(path).expanduser().exists() for path in configured)
        given = None if is_own else self._access.identity
        name = (given, *configured, str(read.config.get("CertificateFile")), str(read.config.get("IdentitiesOnly")))
        if name not in self._keys:
            try:
                self._keys[name] = of_file(given) if given else of_configuration(read, _AS_READ)
            except (OSError, ValueError) as error:
                words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
                raise ConfigError(f"the key to log in with cannot be used: {words}", FailedAt.LOGIN) from error
        return self._keys[name]


def asking_only(route: Route, kinds: Sequence[str]) -> Route:
    """The same route, with nothing trusted, no key to log in with, and only these kinds of host key."""
    return replace(route, trusted=Trusted(route.trusted.name), keys=Keys((), None), order=tuple(kinds))


def _refuse_unsafe(name: str, safe: re.Pattern[str]) -> None:
    """Names end up in proxy commands and messages: nothing that a shell or an option parser would see."""
    if not safe.fullmatch(name):
        raise ConfigError(f"the name {name!r} is not a host or user name that can be passed on safely")


def _preferred(trusted: Trusted) -> tuple[str, ...]:
    """Algorithms of known keys first, so that a host is not taken for unknown by its other key."""
    of_known = {name.decode() for key in trusted.keys for name in key.sig_algorithms}
    plain = sorted(_HOST_KEY_ORDER, key=lambda name: name not in of_known)
    certified = [f"{name}-cert-v01@openssh.com" for name in _HOST_KEY_ORDER] if trusted.authorities else []
    return (*certified, *plain)


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
