"""Settings that ssh would follow and we do not: named where they are not OpenSSH's default, and nothing else."""

import os
import shutil
from pathlib import Path

import pytest

from benchconsole.probes.reach.ssh.openssh_compare import IgnoredSetting, OpensshError, find_ignored_settings
from benchconsole.probes.reach.ssh.ssh_config import Destination
from benchconsole.topology.model.access import Access
from tests.probes.reach.ssh.conftest import Keys

pytestmark = pytest.mark.skipif(not shutil.which("ssh"), reason="NOT TESTED: there is no ssh client to ask")


async def _asked(tmp_path: Path, config: str, host: str = "n1", **access: str | int) -> dict[str, IgnoredSetting]:
    path = tmp_path / "config"
    path.write_text(config)
    known = tmp_path / "known"
    known.touch()
    given = {"known_hosts": str(known), **access}
    found = await find_ignored_settings(Destination(host), Access(config=str(path), **given))  # type: ignore[arg-type]
    assert list(found) == sorted(found, key=lambda each: each.keyword)
    return {each.keyword: each for each in found}


async def test_an_empty_configuration_is_followed(tmp_path: Path) -> None:
    assert await _asked(tmp_path, "") == {}


async def test_what_is_followed_is_not_named(tmp_path: Path, keys: Keys) -> None:
    config = (
        f"Host n1\n HostName n1.example\n Port 99\n User me\n IdentityFile {keys.user}\n ProxyJump gate\n"
        f" HostKeyAlias that\n Ciphers aes256-ctr\n UserKnownHostsFile {tmp_path}/known\n Compression yes\n"
    )
    assert await _asked(tmp_path, config) == {}


@pytest.mark.parametrize("line", ["StrictHostKeyChecking yes", "BatchMode yes", "PasswordAuthentication no"])
async def test_what_is_done_here_anyway_is_not_named(tmp_path: Path, line: str) -> None:
    assert await _asked(tmp_path, f"Host *\n {line}\n") == {}


@pytest.mark.fault("F07")
@pytest.mark.parametrize(
    ("line", "keyword", "value"),
    [
        ("StrictHostKeyChecking no", "stricthostkeychecking", "false"),
        ("ControlMaster auto", "controlmaster", "auto"),
        ("ControlPath /tmp/x", "controlpath", "/tmp/x"),
        ("VerifyHostKeyDNS yes", "verifyhostkeydns", "true"),
        ("KnownHostsCommand /bin/true", "knownhostscommand", "/bin/true"),
        ("UpdateHostKeys ask", "updatehostkeys", "ask"),
        ("PubkeyAcceptedAlgorithms ssh-ed25519", "pubkeyacceptedalgorithms", "ssh-ed25519"),
        ("ConnectionAttempts 5", "connectionattempts", "5"),
        ("AddKeysToAgent yes", "addkeystoagent", "true"),
        ("ForwardAgent yes", "forwardagent", "yes"),
        ("ProxyCommand nc %h %p | tee log", "proxycommand", "nc %h %p | tee log"),
    ],
)
async def test_what_is_not_followed_is_named_with_a_reason(tmp_path: Path, line: str, keyword: str, value: str) -> None:
    found = await _asked(tmp_path, f"Host *\n {line}\n")
    assert {name: each.value for name, each in found.items()} == {keyword: value}
    assert len(found[keyword].why) > 10


async def test_typing_mistakes_are_named_with_their_line(tmp_path: Path) -> None:
    found = await _asked(tmp_path, "Host *\n Prot 99\n Usr me\n")
    assert set(found) == {"prot", "usr"}
    assert "line 2" in found["prot"].why


async def test_keys_that_the_topology_replaces_are_named(tmp_path: Path, keys: Keys) -> None:
    found = await _asked(tmp_path, f"Host *\n IdentityFile {keys.stranger}\n", identity=str(keys.user))
    assert found["identityfile"].value == str(keys.stranger)
    assert str(keys.user) in found["identityfile"].why


async def test_known_hosts_that_the_topology_replaces_are_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    found = await _asked(tmp_path, f"Host *\n UserKnownHostsFile {other}\n")
    assert found["userknownhostsfile"].value == str(other)


@pytest.mark.fault("I03")
@pytest.mark.parametrize("host", ["-oProxyCommand=touch x", "$(touch x)", "a b"])
async def test_names_that_are_no_names_are_not_passed_on(tmp_path: Path, host: str) -> None:
    from benchconsole.probes.reach.ssh.ssh_config import ConfigError

    with pytest.raises(ConfigError, match="safely"):
        await _asked(tmp_path, "", host)


async def test_without_a_client_there_is_nobody_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OpensshError, match="openssh-client"):
        await _asked(tmp_path, "")


async def test_a_client_that_fails_is_no_oracle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = tmp_path / "ssh"
    played.write_text("#!/bin/sh\necho no idea >&2; exit 255\n")
    played.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(OpensshError, match="no idea"):
        await _asked(tmp_path, "")
