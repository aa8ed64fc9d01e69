"""Servers that could be left behind: one-off, idle-limited, bound, on a port of their own; and a server that is busy."""

import random

import pytest

from benchconsole.probes.api import Output, ProbeOutputError, Target
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.probes.tools.captures import output

FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
BUSY = (
    b'{"start": {}, "intervals": [], "end": {}, "error": "error - the server is busy running a test. try again later"}'
)


@pytest.mark.fault("I19")
async def test_every_server_serves_one_client_of_the_tested_address_on_a_port_of_chance() -> None:
    ports = set()
    for seed in range(40):
        here, there = FakeRemote("n1"), FakeRemote("n2")
        here.when("-c", answers=output("iperf3/tcp-3.12.json"))
        there.when("-s", answers=Output((), b"Server listening on 1\n", exit_status=None))
        await Iperf3(random.Random(seed)).run(FakeContact(here, there), FLOW)
        (server,) = there.calls
        assert "-1" in server.argv
        assert server.argv[server.argv.index("-B") + 1] == "10.0.0.2"
        assert 0 < int(server.argv[server.argv.index("--idle-timeout") + 1]) <= 60
        assert server.started
        assert there.running == []
        ports.add(int(server.argv[server.argv.index("-p") + 1]))
    assert len(ports) > 30
    assert all(20_000 <= port < 32_000 for port in ports)


@pytest.mark.fault("F17")
def test_a_server_that_is_busy_is_a_failure_in_its_own_words() -> None:
    with pytest.raises(ProbeOutputError, match="busy"):
        Iperf3().parse(Output((), BUSY))
