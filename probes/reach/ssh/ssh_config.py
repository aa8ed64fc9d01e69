"""The ssh configuration of a host: address, port, user, keys, trusted host keys, jump hosts.

asyncssh reads the files (Host, Match, Include ...); this module asks it once for each class of hosts, off the event
loop. ConfigError for a setting that would turn the verification of host keys off; settings that would forward the
agent or run something in our name are not followed. As with ssh, a configured key that is not there or cannot be used
is passed over, and named when the login is refused. A passphrase is never asked for: a locked key is used through the
agent.
"""

import asyncio
import copy
import os
import re
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import asyncssh

from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.reach.ssh.config_files import (
    find_reader,
    find_stranger,
    find_writer,
    list_files,
    read_revoked,
)
from benchconsole.probes.reach.ssh.host_classes import HostClasses
from benchconsole.probes.reach.ssh.known_hosts import KnownHosts, TrustedKeys
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Access


@dataclass(frozen=True, slots=True)
class LoginKeys:
    """Private keys, which of the agent's keys may be offered too (None: all of them), and what could not be used."""

    pairs: tuple[asyncssh.SSHKeyPair, ...]
    agent_keys: Sequence[bytes] | None
    asks_agent: bool = True
    unusable: tuple[str, ...] = ()


def load_named_key(path: str) -> LoginKeys:
    """A key that was named for us is offered alone: others would use up what a server allows to try.

    ValueError for one that others can read.
    """
    reader = find_reader(Path(path).expanduser())
    if reader:
        raise ValueError(f"{path} {reader}")
    pairs = tuple(asyncssh.load_keypairs([str(Path(path).expanduser())], ignore_encrypted=True))
    if pairs:
        return LoginKeys(pairs, None, asks_agent=False)
    public = _public(path)  # it has a passphrase: only the agent can use it
    return LoginKeys((), [public] if public is not None else None)


def load_configured_keys(read: asyncssh.SSHClientConnectionOptions) -> LoginKeys:
    """The keys that the ssh configuration names, or ssh's usual ones."""
    named = read.config.get("IdentityFile")
    usual_files = [path for path in (Path("~", ".ssh", name).expanduser() for name in _USUAL_KEYS) if path.exists()]
    if not named and any(map(find_reader, usual_files)):
        named = [str(path) for path in usual_files]
    if not isinstance(named, list) or not named:
        usual = asyncssh.SSHClientConnectionOptions(read, client_keys=(), ignore_encrypted=True, **_AS_READ)
        return LoginKeys(tuple(usual.client_keys or ()), usual.agent_identities)
    certificates = [
        path for path in _list_values(read.config.get("CertificateFile")) if Path(path).expanduser().exists()
    ]
    pairs: list[asyncssh.SSHKeyPair] = []
    unusable = []
    for path in named:
        try:
            if reader := find_reader(Path(path).expanduser()):
                unusable.append(f"the key file {path} {reader}")
                continue
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


_USUAL_KEYS = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed448", "id_ed25519", "id_ecdsa", "id_rsa", "id_dsa")
"""Names of the keys that are tried where none is named."""

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
class Destination:
    """Where someone wants to go, as written: a host or an alias of the configuration."""

    host: str
    user: str | None = None
    port: int | None = None
    jump: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and self.port else self.host
        return f"{f'{self.user}@' if self.user else ''}{host}{f':{self.port}' if self.port else ''}"


@dataclass(frozen=True, slots=True)
class ResolvedHost:
    """A destination resolved: real host, port and user, what is trusted there, and who stands between.

    ``options`` is shared by all hosts that the configuration cannot tell apart; it trusts nothing.
    ``order`` is the order in which kinds of host key are asked for; empty: that of the user's configuration.
    """

    host: str
    port: int
    trusted: TrustedKeys
    jumps: tuple[Destination, ...]
    options: asyncssh.SSHClientConnectionOptions
    keys: LoginKeys
    order: tuple[str, ...]

    @property
    def user(self) -> str:
        return self.options.username

    def make_options(
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
class _HostClass:
    """Settings that hosts which are alike have in common; ``hostname`` is None where each goes by its own name."""

    options: asyncssh.SSHClientConnectionOptions
    hostname: str | None
    known: KnownHosts
    keys: LoginKeys
    jumps: tuple[Destination, ...]


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """Settings taken from the configuration for one destination, by the keywords of ssh_config(5), for comparison."""

    where: Mapping[str, str]
    files: Mapping[str, tuple[str, ...]]
    expand: Callable[[str], str]


class SshConfig:
    """Resolves destinations. Not for the event loop: it reads files and may run a ``Match exec``."""

    def __init__(self, access: Access, also_trusted: Sequence[str] = (), *, login: float, keepalive: float) -> None:
        self._access = access
        self._also_trusted = tuple(also_trusted)
        self._timing = {"login_timeout": login + 5, "keepalive_interval": keepalive, "keepalive_count_max": 2}
        self._lock = threading.Lock()
        self._known: dict[tuple[str, ...], KnownHosts] = {}
        self._keys: dict[tuple[str | None, ...], LoginKeys] = {}
        self._classes: dict[Hashable, _HostClass] = {}
        own = (access.config,) if access.config else (_USER_CONFIG, _SYSTEM_CONFIG)
        paths = [str(Path(path).expanduser()) for path in own]
        self.files = [path for path in paths if access.config or os.access(path, os.R_OK)]

    def resolve(self, destination: Destination) -> ResolvedHost:
        """Everything that is needed to open a connection to ``destination``; ConfigError says why not."""
        _check_name(destination.host, _SAFE_HOST)
        if destination.user is not None:
            _check_name(destination.user, _SAFE_USER)
        try:
            host_class = self._find_class(destination)
            host = host_class.hostname or destination.host
            _check_name(host, _SAFE_HOST)
            with self._lock:
                trusted = host_class.known.lookup(host, host_class.options.port, host_class.options.host_key_alias)
            trusted = replace(trusted, revoked=(*trusted.revoked, *self._revoked))
        except OSError as error:
            raise ConfigError(f"{error.filename or 'ssh configuration'}: {error.strerror or error}") from error
        except ValueError as error:
            raise ConfigError(f"ssh configuration: {error}") from error
        order = () if host_class.options.config.get("HostKeyAlgorithms") else _order_algorithms(trusted)
        return ResolvedHost(
            host, host_class.options.port, trusted, host_class.jumps, host_class.options, host_class.keys, order
        )

    def find_settings(self, destination: Destination) -> ResolvedSettings:
        host = self.resolve(destination)
        read = self._read(destination)
        known = self.known_hosts(read)
        where = {
            "hostname": host.host,
            "port": str(host.port),
            "user": host.user,
            "proxyjump": read.tunnel if isinstance(read.tunnel, str) else "",
            "hostkeyalias": read.host_key_alias or "",
        }
        identity, configured = self._access.identity, _list_values(read.config.get("IdentityFile"))
        certificates = _list_values(read.config.get("CertificateFile"))
        files = {
            "identityfile": tuple(_expand_tokens(path, read) for path in ((identity,) if identity else configured)),
            "certificatefile": tuple(_expand_tokens(path, read) for path in certificates),
            "userknownhostsfile": known,
            "globalknownhostsfile": known,
        }
        return ResolvedSettings(where, files, lambda path: _expand_tokens(path, read))

    @cached_property
    def host_classes(self) -> HostClasses:
        """The classes of hosts that the files cannot tell apart, read at first use."""
        return HostClasses(self.files)

    @cached_property
    def _foreign(self) -> str:
        """Why a file cannot be followed that others can write; what it says is run here, and lets in whom they like."""
        told = (f"{path} {writer}" for path in list_files(self.files) if (writer := find_writer(path)))
        return next(told, "")

    @cached_property
    def _planted(self) -> str:
        """Why our own files of trusted keys cannot be believed: others may say in them who is let in."""
        told = (f"{path} {stranger}" for path in self._also_trusted if (stranger := find_stranger(Path(path))))
        return next(told, "")

    @cached_property
    def _revoked(self) -> tuple[asyncssh.SSHKey, ...]:
        return read_revoked(self.files)

    def _find_class(self, destination: Destination) -> _HostClass:
        name = (self.host_classes.find_class(destination.host), destination.user, destination.port, destination.jump)
        host_class = self._classes.get(name)
        if host_class is None:
            if self._foreign:
                raise ConfigError(self._foreign)
            host_class = self._classes[name] = self._read_class(destination)
        return host_class

    def _read_class(self, destination: Destination) -> _HostClass:
        read = self._read(destination)
        with self._lock:
            paths = self.known_hosts(read)
            if self._planted:
                raise ConfigError(self._planted, FailedAt.HOST_KEY_UNKNOWN)
            if paths not in self._known:
                self._known[paths] = KnownHosts.read(paths)
            keys = self._keys_for(destination, read)
        options = asyncssh.SSHClientConnectionOptions(
            read,
            client_keys=list(keys.pairs),
            client_certs=[],
            agent_identities=keys.agent_keys,
            agent_path=() if keys.asks_agent else "",
            encryption_algs=() if read.config.get("Ciphers") else _FAST_CIPHERS,
            gss_host=() if read.config.get("GSSAPIAuthentication") else None,  # as in ssh: only where it is wanted
            **_AS_READ,
        )
        hostname = read.config.get("Hostname")
        return _HostClass(
            options, str(hostname) if hostname else None, self._known[paths], keys, _parse_jumps(read.tunnel)
        )

    def _read(self, destination: Destination) -> asyncssh.SSHClientConnectionOptions:
        """The configuration's word on ``destination``: no key loaded, nothing trusted, our own refusals in force."""
        read = asyncssh.SSHClientConnectionOptions(
            config=self.files, canonicalize_hostname=False,
            host=destination.host, port=destination.port or (), username=destination.user or (),
            client_keys=None, known_hosts=_NOTHING, x509_trusted_certs=None, x509_trusted_cert_paths=None,
            agent_forwarding=False, x11_forwarding=False, request_pty=False, env=None, send_env=None, command=None,
            gss_kex=False, password_auth=False, kbdint_auth=False, host_based_auth=False, connect_timeout=None,
            **self._timing,
        )  # fmt: skip
        if read.config.has_match_final():
            read.update(reload=True, final=True)
        return read

    def known_hosts(self, read: asyncssh.SSHClientConnectionOptions) -> tuple[str, ...]:
        """The files that say which host keys are trusted; ConfigError when the configuration names none."""
        if self._access.known_hosts:
            return (self._access.known_hosts, *self._also_trusted)
        users = _list_values(read.config.get("UserKnownHostsFile"), _USER_KNOWN_HOSTS)
        systems = _list_values(read.config.get("GlobalKnownHostsFile"), _SYSTEM_KNOWN_HOSTS)
        if not set(users) - {"none", "/dev/null"}:
            raise ConfigError(
                f"the ssh configuration sets UserKnownHostsFile to {' '.join(users) or 'none'}, which would leave host"
                " keys unverified; name a real file there, or known_hosts in the access of the topology",
                FailedAt.HOST_KEY_UNKNOWN,
            )
        return tuple(_expand_tokens(path, read) for path in (*users, *systems)) + self._also_trusted

    def _keys_for(self, destination: Destination, read: asyncssh.SSHClientConnectionOptions) -> LoginKeys:
        configured = _list_values(read.config.get("IdentityFile"))
        is_own = destination.jump and any(Path(path).expanduser().exists() for path in configured)
        given = None if is_own else self._access.identity
        name = (given, *configured, str(read.config.get("CertificateFile")), str(read.config.get("IdentitiesOnly")))
        if name not in self._keys:
            try:
                self._keys[name] = load_named_key(given) if given else load_configured_keys(read)
            except (OSError, ValueError) as error:
                words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
                raise ConfigError(f"the key to log in with cannot be used: {words}", FailedAt.LOGIN) from error
        return self._keys[name]


def restrict_to_key_kinds(host: ResolvedHost, kinds: Sequence[str]) -> ResolvedHost:
    """The same host with nothing trusted, no key to log in with, and only these kinds of host key."""
    return replace(host, trusted=TrustedKeys(host.trusted.name), keys=LoginKeys((), None), order=tuple(kinds))


def _check_name(name: str, safe: re.Pattern[str]) -> None:
    """Names end up in proxy commands and messages: nothing that a shell or an option parser would see."""
    if not safe.fullmatch(name):
        raise ConfigError(f"the name {name!r} is not a host or user name that can be passed on safely")


def _order_algorithms(trusted: TrustedKeys) -> tuple[str, ...]:
    """Algorithms of known keys first, so that a host is not taken for unknown by its other key."""
    of_known = {name.decode() for key in trusted.keys for name in key.sig_algorithms}
    plain = sorted(_HOST_KEY_ORDER, key=lambda name: name not in of_known)
    certified = [f"{name}-cert-v01@openssh.com" for name in _HOST_KEY_ORDER] if trusted.authorities else []
    return (*certified, *plain)


def _list_values(value: object, default: Sequence[str] = ()) -> tuple[str, ...]:
    return tuple(default) if value is None else tuple(str(item) for item in value) if isinstance(value, list) else ()


def _expand_tokens(path: str, read: asyncssh.SSHClientConnectionOptions) -> str:
    tokens = {"%%": "%", "%d": str(Path.home()), "%h": read.host, "%p": str(read.port), "%r": read.username}
    text = re.sub("%.", lambda found: tokens.get(found[0], found[0]), path)
    return str(Path(os.path.expandvars(text)).expanduser())


def _parse_jumps(jump: object) -> tuple[Destination, ...]:
    if not isinstance(jump, str) or not jump:
        return ()
    hops = []
    for text in jump.split(","):
        found = re.fullmatch(r"(?:ssh://)?(?:([^@]+)@)?(\[[^]]+\]|[^:]+)(?::(\d+))?", text.strip())
        if found is None:
            raise ConfigError(f"ProxyJump {jump!r} cannot be read at {text!r}")
        hops.append(Destination(found[2].strip("[]"), found[1], int(found[3]) if found[3] else None, jump=True))
    return tuple(hops)


_MANY = 32
"""Hosts of one go: few enough that the first of a thousand need not wait for the last."""


class ConfigLookup:
    """Resolves destinations off the event loop, many in one call, because a call in a thread is expensive."""

    def __init__(self, configuration: SshConfig, threads: Executor) -> None:
        self._configuration = configuration
        self._threads = threads
        self._waiting: list[tuple[Destination, Future[ResolvedHost]]] = []

    async def resolve(self, destination: Destination) -> ResolvedHost:
        """The host that ``destination`` means; ConfigError says why it cannot be followed."""
        future: Future[ResolvedHost] = Future()
        self._waiting.append((destination, future))
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._start)
        return await asyncio.wrap_future(future)

    def _start(self) -> None:
        asked, self._waiting = self._waiting, []
        self._threads.submit(self._share_out, asked)

    def _share_out(self, asked: Sequence[tuple[Destination, "Future[ResolvedHost]"]]) -> None:
        """Hand destinations to threads, one by one where a command runs for each: none is then queued behind others."""
        at_once = 1 if self._configuration.host_classes.runs_commands else _MANY
        for start in range(0, len(asked), at_once):
            self._threads.submit(self._resolve_all, asked[start : start + at_once])

    def _resolve_all(self, part: Sequence[tuple[Destination, "Future[ResolvedHost]"]]) -> None:
        for destination, future in part:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._configuration.resolve(destination))
                except Exception as error:  # handed to whoever asked, who knows what it means
                    future.set_exception(error)
