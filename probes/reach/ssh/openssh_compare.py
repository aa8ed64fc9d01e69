"""The differences between our reading of the ssh configuration and OpenSSH's own, which ``ssh -G`` prints.

For ``doctor``: each keyword that is set to something else than OpenSSH's default and that is not followed here, or
followed differently, with the reason. Keywords that concern a person at a terminal, forwarding that was not asked
for, or the look of messages cannot matter here and are not named. ``ssh`` gets an argument list with checked names.
A ``Match exec`` of the user's own configuration runs its command, as with every use of ssh.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.reach.ssh.ssh_config import Destination, ResolvedSettings, SshConfig
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.access import Access

_TIMEOUT = 20.0
_Values = Mapping[str, Sequence[str]]

_REASONS = {
    "addkeystoagent": "keys are read for this run and not added to an agent",
    "canonicaldomains canonicalizehostname": "names are resolved as they are written",
    "casignaturealgorithms": "the signature algorithms of authorities are those of asyncssh",
    "checkhostip": "a name is trusted, not where it points today",
    "connectionattempts": "a node is tried once; what an overloaded sshd drops is tried again",
    "connecttimeout": "time limits are those of the run",
    "controlmaster controlpath controlpersist": "connections are our own, one per node, and not shared with ssh",
    "forwardagent": "an agent is never forwarded",
    "forwardx11": "nothing is forwarded",
    "gssapidelegatecredentials": "credentials are not delegated",
    "gssapikeyexchange": "a key exchange without a host key cannot be verified here",
    "hostbasedauthentication hostbasedacceptedalgorithms": "only keys, agents and certificates log in",
    "kbdinteractiveauthentication passwordauthentication": "nothing is ever asked at a login",
    "knownhostscommand": "the command is not run: name known_hosts in the access of the topology",
    "localcommand": "commands of this machine are not run",
    "nohostauthenticationforlocalhost": "host keys are always verified",
    "proxyusefdpass": "a ProxyCommand must carry the connection itself",
    "pubkeyacceptedalgorithms": "the signature algorithms of keys are those of asyncssh",
    "remotecommand": "the command is the probe's",
    "requiredrsasize": "RSA keys of any size that asyncssh accepts are used",
    "securitykeyprovider": "keys that want a touch cannot drive many nodes",
    "serveralivecountmax serveraliveinterval": "keepalive is that of the run",
    "setenv": "commands run in an environment of ours",
    "stricthostkeychecking": "host keys are always verified, and learnt by the trust command only",
    "updatehostkeys": "known_hosts is never written",
    "verifyhostkeydns": "a key in the DNS is not taken for verified",
}
_IGNORED = {keyword: why for keywords, why in _REASONS.items() for keyword in keywords.split()}
"""Keywords that change what ssh does and change nothing here."""
_AS_HERE = {
    "kbdinteractiveauthentication": "no",
    "nohostauthenticationforlocalhost": "no",
    "passwordauthentication": "no",
    "stricthostkeychecking": "true",
    "updatehostkeys": "false",
}
"""Settings that say what is done here anyway, as ``BatchMode yes`` does."""
_WHERE = ("hostname", "port", "user", "proxyjump", "hostkeyalias")
_SHELL = re.compile(r"[|&;<>$`*?(){}~]")
_FILES = ("identityfile", "certificatefile", "userknownhostsfile", "globalknownhostsfile")
_BAD = re.compile(r"(?P<destination>.*line \d+): Bad configuration option: (?P<keyword>\S+)")


_MISTYPED = "no keyword of this ssh; it is passed over here"
"""asyncssh passes over typing mistakes, ssh stops at them."""


class OpensshError(ProbeError):
    """There is nobody to ask: no ssh client here, or one that gives no answer."""


@dataclass(frozen=True, slots=True)
class IgnoredSetting:
    """One setting of the user's that is not followed here, and why (or what is done instead)."""

    keyword: str
    value: str
    why: str


async def find_ignored_settings(destination: Destination, access: Access) -> tuple[IgnoredSetting, ...]:
    """Settings of the ssh configuration for ``destination`` that are not followed here; sorted by keyword.

    Raises OpensshError where there is no ssh client to ask, ConfigError where our own reading
    already refuses the configuration.
    """
    loop = asyncio.get_running_loop()
    configuration = SshConfig(access, login=1, keepalive=1)
    taken = await loop.run_in_executor(None, configuration.find_settings, destination)
    said = await _ask_ssh(destination, ("-F", access.config) if access.config else ())
    if isinstance(said, tuple):
        return said
    default = await _ask_ssh(destination, ("-F", "none"))
    if isinstance(default, tuple):
        raise OpensshError(f"found {default[0].why}, expected an answer of ssh -G to an empty configuration")
    found = (*_not_followed(said, default), *_taken_differently(said, default, taken))
    return tuple(sorted(found, key=lambda each: each.keyword))


async def _ask_ssh(destination: Destination, options: Sequence[str]) -> _Values | tuple[IgnoredSetting, ...]:
    command = ["ssh", "-G", *options]
    command += ["-l", destination.user] if destination.user else []
    command += ["-p", str(destination.port)] if destination.port else []
    try:
        process = await asyncio.create_subprocess_exec(
            *command, "--", destination.host,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise OpensshError("ssh is not installed here (Debian package openssh-client): nobody to ask") from error
    try:
        async with asyncio.timeout(_TIMEOUT):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise OpensshError(f"ssh -G {destination.host} gave no answer within {_TIMEOUT:g} s") from None
    if process.returncode == 0:
        lines = (line.partition(" ") for line in out.decode(errors="replace").splitlines())
        return group_by_key((keyword.lower(), value) for keyword, _, value in lines)
    complaints = err.decode(errors="replace")
    mistakes = filter(None, map(_BAD.match, complaints.splitlines()))
    if bad := tuple(IgnoredSetting(each["keyword"], "", f"{each['destination']}: {_MISTYPED}") for each in mistakes):
        return bad
    raise OpensshError(f"ssh -G {destination.host}: {complaints.strip()[:300]}")


def _not_followed(said: _Values, default: _Values) -> Iterator[IgnoredSetting]:
    """Set to something else than by default. (With BatchMode Debian's ssh sets an interval of its own.)"""
    of_batch = {"serveraliveinterval"} if said.get("batchmode") == ["yes"] else set()
    for keyword, why in _IGNORED.items():
        is_set = keyword in said and said[keyword] != default.get(keyword) and keyword not in of_batch
        if is_set and said[keyword] != [_AS_HERE.get(keyword)]:
            yield IgnoredSetting(keyword, ", ".join(said[keyword]), why)


def _taken_differently(said: _Values, default: _Values, taken: ResolvedSettings) -> Iterator[IgnoredSetting]:
    """Where ssh would go, as whom, with which keys: held against what we have read."""
    for keyword in _WHERE:
        theirs, ours = " ".join(said.get(keyword, ())), taken.where.get(keyword, "")
        if theirs.lower() != ours.lower() and theirs not in ("none", ""):
            yield IgnoredSetting(keyword, theirs, f"read as {ours or 'nothing'} here")
    relay = " ".join(said.get("proxycommand", ()))
    if _SHELL.search(re.sub("%.", "", relay)):
        yield IgnoredSetting("proxycommand", relay, "run here as a list of words, not by a shell")
    for keyword in _FILES:
        if said.get(keyword) == default.get(keyword):
            continue
        paths = (taken.expand(word) for value in said.get(keyword, ()) for word in value.split())
        theirs_there = [path for path in paths if Path(path).exists()]
        missing = [path for path in theirs_there if path not in taken.files.get(keyword, ())]
        if missing:
            instead = ", ".join(taken.files.get(keyword, ())) or "none"
            yield IgnoredSetting(keyword, ", ".join(missing), f"not used here; used: {instead}")
