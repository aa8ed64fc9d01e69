"""Host keys against a real sshd: unknown, changed, revoked and certified, and nothing sent before they are verified."""

import base64
import hmac
import secrets
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh import SshLimits, SshReach
from tests.probes.reach.ssh.conftest import Bench, Keys, Server, key_tool, node, without_known_hosts


async def _refused(bench: Bench, server: Server, known: str) -> Failure:
    reach = bench.reach(bench.access(server, known))
    with pytest.raises(RemoteError) as raised:
        await reach.remote(node(server.address))
    assert server.logged("Accepted") == 0
    assert server.logged("Postponed") == 0
    assert server.logged("userauth") == 0
    return raised.value.failure


async def _accepted(bench: Bench, server: Server, known: str) -> None:
    remote = await bench.reach(bench.access(server, known)).remote(node(server.address))
    assert (await remote.run(["echo", "in"], timeout=10)).text == "in\n"


def _sha256(key: Path) -> str:
    return key_tool("-lf", f"{key}.pub").split()[1]


def _hashed(name: str, key: Path) -> str:
    salt = secrets.token_bytes(20)
    parts = (base64.b64encode(part).decode() for part in (salt, hmac.digest(salt, name.encode(), "sha1")))
    return f"|1|{'|'.join(parts)} {key.with_suffix('.pub').read_text()}"


@pytest.mark.fault("F06", "I01")
async def test_an_unknown_key_is_shown_with_its_fingerprint(bench: Bench, server: Server, keys: Keys) -> None:
    failure = await _refused(bench, server, known="")
    assert failure.stage is FailedAt.HOST_KEY_UNKNOWN
    assert _sha256(keys.host) in failure.detail
    assert server.name in failure.detail
    assert "trust" in failure.detail


@pytest.mark.fault("F06", "I01", "X01")
async def test_a_changed_key_is_shown_old_and_new(bench: Bench, server: Server, keys: Keys) -> None:
    failure = await _refused(bench, server, known=server.known(keys.other_host))
    assert failure.stage is FailedAt.HOST_KEY_CHANGED
    assert _sha256(keys.host) in failure.detail
    assert _sha256(keys.other_host) in failure.detail
    assert failure.stage not in failure.detail  # whoever tells a failure says the stage before it


@pytest.mark.fault("F06", "I01")
async def test_a_host_whose_known_kind_of_key_has_gone_has_changed(bench: Bench, server: Server, keys: Keys) -> None:
    failure = await _refused(bench, server, known=server.known(keys.rsa_host))
    assert failure.stage is FailedAt.HOST_KEY_CHANGED


@pytest.mark.fault("F06", "I01")
async def test_a_revoked_key_is_refused_although_it_is_known(bench: Bench, server: Server) -> None:
    failure = await _refused(bench, server, known=f"{server.known()}@revoked * {server.known().split(' ', 1)[1]}")
    assert failure.stage is FailedAt.HOST_KEY_CHANGED
    assert failure.detail.startswith("host key revoked: ")


async def test_the_known_kind_of_key_is_asked_for_first(bench: Bench, keys: Keys) -> None:
    server = bench.sshd(host_keys=(keys.host, keys.rsa_host))
    await _accepted(bench, server, known=server.known(keys.rsa_host))


async def test_hashed_names_and_other_ports_and_patterns_are_found(bench: Bench, server: Server, keys: Keys) -> None:
    await _accepted(bench, server, known=_hashed("elsewhere", keys.other_host) + _hashed(server.name, keys.host))
    await _accepted(bench, server, known=server.known().replace(server.name, server.address))
    await _accepted(bench, server, known=server.known().replace(server.name, f"[127.0.*]:{server.port}"))


async def test_another_key_of_the_host_on_its_usual_port_is_no_contradiction(
    bench: Bench, server: Server, keys: Keys
) -> None:
    failure = await _refused(bench, server, known=server.known(keys.other_host).replace(server.name, server.address))
    assert failure.stage is FailedAt.HOST_KEY_UNKNOWN


@pytest.mark.fault("F06", "I01")
async def test_certificates_of_a_known_authority(bench: Bench, keys: Keys) -> None:
    host = bench.directory / "certified"
    sign = ("-q", "-s", keys.authority, "-I", "node", "-h")
    key_tool("-q", "-t", "ed25519", "-N", "", "-f", host)
    key_tool(*sign, "-n", "127.0.0.10,127.0.0.11", "-V", "+1h", f"{host}.pub")
    server = bench.sshd(f"HostCertificate {host}-cert.pub", host_keys=(host,))
    authority = keys.authority.with_suffix(".pub").read_text()
    await _accepted(bench, server, known=f"@cert-authority [127.0.0.*]:* {authority}")

    other = bench.sshd(f"HostCertificate {host}-cert.pub", host_keys=(host,))
    stranger = keys.stranger.with_suffix(".pub").read_text()
    failure = await _refused(bench, other, known=f"@cert-authority [127.0.0.*]:* {stranger}")
    assert failure.stage is FailedAt.HOST_KEY_CHANGED
    assert "signed by" in failure.detail
    assert _sha256(keys.authority) in failure.detail

    key_tool(*sign, "-n", "127.0.0.12", "-V", "20200101:20200102", f"{host}.pub")
    expired = bench.sshd(f"HostCertificate {host}-cert.pub", host_keys=(host,))
    failure = await _refused(bench, expired, known=f"@cert-authority [127.0.0.*]:* {authority}")
    assert failure.stage is FailedAt.HOST_KEY_CHANGED
    assert failure.detail.startswith("host certificate expired: ")


@pytest.mark.fault("F07", "I01")
@pytest.mark.parametrize("setting", ["none", "/dev/null"])
async def test_a_configuration_cannot_turn_verification_off(bench: Bench, server: Server, setting: str) -> None:
    config = f"Host *\n UserKnownHostsFile {setting}\n StrictHostKeyChecking no\n"
    access = without_known_hosts(bench.access(server, config=config))
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access).remote(node(server.address))
    assert raised.value.failure.stage is FailedAt.HOST_KEY_UNKNOWN
    assert "UserKnownHostsFile" in raised.value.failure.detail
    assert server.logged("Connection from") == 0


@pytest.mark.fault("F07", "I01")
async def test_unstrict_checking_is_not_followed(bench: Bench, server: Server) -> None:
    empty = bench.file("empty", "")
    config = f"Host *\n UserKnownHostsFile {empty}\n StrictHostKeyChecking no\n"
    access = without_known_hosts(bench.access(server, config=config))
    with pytest.raises(RemoteError) as raised:
        await bench.reach(access).remote(node(server.address))
    assert raised.value.failure.stage is FailedAt.HOST_KEY_UNKNOWN
    assert server.logged("Accepted") == 0


async def test_an_alias_names_the_key(bench: Bench, server: Server, keys: Keys) -> None:
    known = f"the-node {keys.host.with_suffix('.pub').read_text()}"
    access = bench.access(server, known, config="Host *\n HostKeyAlias the-node\n")
    await bench.reach(access).remote(node(server.address))


async def test_our_own_file_counts_beside_the_others(bench: Bench, server: Server) -> None:
    ours = bench.file("ours", server.known())
    reach = SshReach(bench.access(server, known=""), bench.session, also_trusted=[ours])
    await reach.remote(node(server.address))
    await reach.close()


def _open_to_all(path: str) -> None:
    Path(path).chmod(0o666)


async def test_our_own_file_lets_nobody_in_where_others_may_write_it(bench: Bench, server: Server) -> None:
    ours = bench.file("ours", server.known())
    _open_to_all(ours)
    reach = SshReach(bench.access(server, known=""), bench.session, also_trusted=[ours])
    with pytest.raises(RemoteError) as raised:
        await reach.remote(node(server.address))
    await reach.close()
    assert raised.value.failure.stage is FailedAt.HOST_KEY_UNKNOWN
    assert f"{ours} can be written by others" in raised.value.failure.detail
    assert server.logged("Accepted") == 0


async def test_a_failure_is_told_again_without_another_connection(bench: Bench, server: Server) -> None:
    reach = bench.reach(bench.access(server, known=""), SshLimits(login=5))
    failures = []
    for _ in range(3):
        with pytest.raises(RemoteError) as raised:
            await reach.remote(node(server.address))
        failures.append(raised.value.failure)
    assert failures[0] == failures[1] == failures[2]
    assert server.logged("Connection from") == 1
