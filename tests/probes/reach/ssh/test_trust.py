"""Asking a node for its host keys without logging in, and keeping what was accepted."""

import stat
from pathlib import Path

import pytest

from benchconsole.probes.model.remote import RemoteError
from benchconsole.probes.reach.ssh.known_hosts import OfferedKey, TrustError, add_keys
from tests.probes.reach.ssh.conftest import Bench, Keys, node


async def test_a_node_is_asked_and_then_trusted(bench: Bench, keys: Keys) -> None:
    server = bench.sshd(host_keys=(keys.host, keys.rsa_host))
    access = bench.access(server, known="")
    offers = await bench.reach(access).list_host_keys(node(server.address))
    assert [(offer.name, offer.kind) for offer in offers] == [(server.name, "ssh-ed25519"), (server.name, "ssh-rsa")]
    assert all(offer.fingerprint.startswith("SHA256:") for offer in offers)
    assert server.logged("Accepted") == server.logged("userauth") == 0
    with pytest.raises(RemoteError):
        await bench.reach(access).remote(node(server.address))
    assert access.known_hosts is not None
    assert add_keys(Path(access.known_hosts), offers) == 2
    remote = await bench.reach(access).remote(node(server.address))
    assert (await remote.run(["echo", "in"], timeout=10)).text == "in\n"


async def test_a_node_behind_a_jump_host_is_asked_through_it(bench: Bench) -> None:
    jump, inner = bench.sshd(), bench.sshd()
    config = f"Host {inner.address}\n ProxyJump root@{jump.address}:{jump.port}\n"
    offers = await bench.reach(bench.access(inner, known=jump.known(), config=config)).list_host_keys(
        node(inner.address)
    )
    assert [offer.line for offer in offers] == [inner.known().rsplit(" ", 1)[0]]


def _offer(key: str = "AAAA", kind: str = "ssh-ed25519") -> OfferedKey:
    return OfferedKey("n1", kind, key, "SHA256:x")


def test_the_file_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "known_hosts"
    assert add_keys(path, [_offer(), _offer(), _offer("BBBB", "ssh-rsa")]) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "n1 ssh-ed25519 AAAA\nn1 ssh-rsa BBBB\n"
    assert add_keys(path, [_offer()]) == 0
    assert [entry.name for entry in path.parent.iterdir()] == ["known_hosts"]


def test_what_others_wrote_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_bytes(b"# mine \xff\n|1|a|b ssh-rsa CCCC\n")
    add_keys(path, [_offer()])
    assert path.read_bytes() == b"# mine \xff\n|1|a|b ssh-rsa CCCC\nn1 ssh-ed25519 AAAA\n"


@pytest.mark.fault("I01")
def test_a_contradiction_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    add_keys(path, [_offer()])
    with pytest.raises(TrustError, match="another ssh-ed25519 key for n1"):
        add_keys(path, [_offer("BBBB")])
    assert path.read_text() == "n1 ssh-ed25519 AAAA\n"
