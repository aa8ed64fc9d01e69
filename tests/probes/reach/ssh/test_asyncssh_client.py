"""Features of asyncssh that our connections leave out, and where they do not."""

import logging

import asyncssh
import pytest

from tests.probes.reach.ssh.conftest import Bench, node

IGNORE = 2


@pytest.mark.parametrize(("cipher", "dummies"), [("aes128-gcm@openssh.com", False), ("aes256-cbc", True)])
async def test_dummy_packets_are_sent_with_chained_ciphers_only(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, cipher: str, dummies: bool
) -> None:
    sent = []
    real = asyncssh.SSHClientConnection.send_packet

    def send(self: asyncssh.SSHClientConnection, pkttype: int, *args: bytes, **kwargs: object) -> None:
        sent.append(pkttype)
        real(self, pkttype, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncssh.SSHClientConnection, "send_packet", send)
    server = bench.sshd("Ciphers aes128-gcm@openssh.com,aes256-cbc", "MACs hmac-sha2-256")
    reach = bench.reach(bench.access(server, config=f"Host *\n Ciphers {cipher}\n"))
    remote = await reach.remote(node(server.address))
    assert (await remote.run(["echo", "in"], timeout=10)).text == "in\n"
    assert reach.algorithms(node(server.address).id)["cipher"] == cipher
    assert (IGNORE in sent) is dummies


async def test_asyncssh_speaks_where_somebody_listens(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    server = bench.sshd()
    await bench.reach(bench.access(server)).remote(node(server.address, "n1"))
    assert "asyncssh" not in {record.name for record in caplog.records}
    caplog.set_level(logging.INFO, "asyncssh")
    remote = await bench.reach(bench.access(server)).remote(node(server.address, "n1"))
    await remote.run(["true"], timeout=10)
    assert "Requesting new SSH session" in caplog.text


async def test_new_keys_are_made_after_the_first_offers_are_forgotten(bench: Bench) -> None:
    server = bench.sshd("RekeyLimit 64K", "LogLevel DEBUG1")
    remote = await bench.reach(bench.access(server)).remote(node(server.address))
    assert len((await remote.run(["head", "-c", "1000000", "/dev/zero"], timeout=10)).stdout) == 1_000_000
    assert server.logged("SSH2_MSG_NEWKEYS received") > 2
