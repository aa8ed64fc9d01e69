"""The questions of ``init --from ssh``, to played nodes: what is read from each, and the reason of each that gave none."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchconsole.console.session.topology_asking import MOST_ADDRESSES, ask_for_topology, read_answer
from benchconsole.probes.hygiene.leftover_proof import AT_ONCE
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.description.document import read_text
from benchconsole.topology.description.resolve import resolve
from benchconsole.topology.importers.asked_nodes import AskedNode, BondedPort
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from tests.told_nodes import LSCPU, Sources, describe_bond, describe_ports, describe_speeds, format_answer, tell

G25 = 25e9 / 8
ARGV = ("sh", "-c", "text", "benchconsole-inventory", "0123456789abcdef")


class AnsweringRemote(FakeRemote):
    """A node that answers the script of the inventory; ``privileged`` says how each of its commands was run."""

    def __init__(self, node: str, sources: Sources, *, exit_status: int = 0) -> None:
        super().__init__(node)
        self.sources, self.exit_status = sources, exit_status
        self.privileged: list[bool] = []

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        self.privileged.append(privileged)
        text = format_answer(argv, self.sources)
        return Output(tuple(argv), text.encode(), exit_status=self.exit_status, node=NodeId(self.node))


class AnsweringReach:
    """Nodes by name: a remote that answers, or the error of asking it. ``most`` is how many were open at once."""

    def __init__(self, nodes: Mapping[str, Remote | RemoteError]) -> None:
        self.nodes = nodes
        self.closed = False

    async def remote(self, node: Node) -> Remote:
        found = self.nodes[node.id]
        if isinstance(found, RemoteError):
            raise found
        return found

    async def close(self) -> None:
        self.closed = True


def named(*names: str) -> Fabric:
    text = f"schema: 1\nfabric: asked\nnodes: {{{', '.join(f'{name}: {{}}' for name in names)}}}\n"
    return resolve(read_text(text, "asked"), Path("asked"))


def refused(node: str, stage: FailedAt, detail: str) -> RemoteError:
    return RemoteError(Failure(stage, detail, NodeId(node)))


def read(sources: Sources) -> AskedNode:
    text = format_answer(ARGV, sources)
    return read_answer(named("n1").nodes[NodeId("n1")], Output(ARGV, text.encode(), node=NodeId("n1")))


async def test_each_node_is_asked_once_and_who_gives_no_answer_has_its_reason() -> None:
    remotes = {name: AnsweringRemote(name, tell(number)) for number, name in enumerate(("n1", "n2"), 1)}
    mute = AnsweringRemote("n5", {}, exit_status=0)
    reach = AnsweringReach(
        {
            **remotes,
            "n3": refused("n3", FailedAt.HOST_KEY_CHANGED, "another key\nthan is known"),
            "n4": refused("n4", FailedAt.UNREACHABLE, "nothing listens there"),
            "n5": mute,
        }
    )
    found = await ask_for_topology(reach, named("n1", "n2", "n3", "n4", "n5"))
    assert [(each.name, each.data_address) for each in found.asked] == [("n1", "10.0.0.1"), ("n2", "10.0.0.2")]
    assert dict(found.unasked) == {
        "n3": "host key changed: another key than is known",
        "n4": "unreachable: nothing listens there",
        "n5": found.unasked["n5"],
    }
    assert found.unasked["n5"].startswith("no answer that can be read: ")
    assert [each.privileged for each in remotes.values()] == [[False], [False]]
    assert reach.closed


async def test_with_sudo_the_whole_question_is_asked_as_the_administrator() -> None:
    remote = AnsweringRemote("n1", tell(1))
    await ask_for_topology(AnsweringReach({"n1": remote}), named("n1"), sudo=True)
    assert remote.privileged == [True]


async def test_no_more_than_so_many_are_asked_at_the_same_time() -> None:
    names = [f"n{number}" for number in range(3 * AT_ONCE)]
    now: set[str] = set()
    most = 0

    class CountingRemote(AnsweringRemote):
        async def run(
            self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False
        ) -> Output:
            nonlocal most
            now.add(self.node)
            most = max(most, len(now))
            for _ in range(3):
                await asyncio.sleep(0)
            now.discard(self.node)
            return await super().run(argv, timeout=timeout, stdin=stdin, privileged=privileged)

    found = await ask_for_topology(
        AnsweringReach({name: CountingRemote(name, tell(1)) for name in names}), named(*names)
    )
    assert (len(found.asked), most) == (len(names), AT_ONCE)


def test_a_node_tells_speeds_hardware_and_the_address_of_its_port() -> None:
    node = read(tell(1))
    assert (node.name, node.speeds, node.data_address, node.deaf) == ("n1", {"eth0": G25}, "10.0.0.1", "")
    assert node.neighbours.lstrip().startswith('{\n  "lldp"')
    assert node.facts == {"cpu.model": "Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz", "cpu.sockets": 2.0}


def test_words_before_the_json_of_lldpctl_are_passed_over() -> None:
    status, text = tell(1)["lldpctl"]
    assert read({**tell(1), "lldpctl": (status, f"[WARN/control] old\n{text}")}).neighbours == read(tell(1)).neighbours


@pytest.mark.parametrize(
    ("status", "text", "why"),
    [
        (127, "", "lldpctl is not installed (Debian package lldpd)"),
        (1, "connect: Permission denied", "the socket of lldpd is open to root"),
        (1, "no daemon", "lldpd does not run"),
        (0, "no JSON", "lldpctl told nothing that could be read"),
    ],
)
def test_without_lldp_there_is_the_reason_and_no_text(status: int, text: str, why: str) -> None:
    node = read({**tell(1), "lldpctl": (status, text)})
    assert node.neighbours == ""
    assert why in node.deaf


def test_the_bond_of_each_port_is_told() -> None:
    lacp = describe_bond("IEEE 802.3ad Dynamic link aggregation", ["eth0", "eth1"], aggregators=[1, 2])
    assert read({**tell(1), "bonding": (0, lacp)}).bonds == {
        "eth0": BondedPort("bond0", "802.3ad", "", "1"),
        "eth1": BondedPort("bond0", "802.3ad", "", "2"),
    }
    backup = describe_bond("fault-tolerance (active-backup)", ["eth0", "eth1"], "eth1")
    assert {each.active for each in read({**tell(1), "bonding": (0, backup)}).bonds.values()} == {"eth1"}


@pytest.mark.parametrize(
    ("addresses", "speeds", "expected"),
    [
        ({"eth0": "10.0.0.1", "eno1": "192.168.0.1"}, {"eth0": 100_000, "eno1": 1_000}, "10.0.0.1"),
        ({"eth0": "10.0.0.1", "eno1": "192.168.0.1"}, {"eth0": 25_000, "eno1": 25_000}, ""),
        ({"eth0": "10.0.0.1", "eth1": "fd00::1"}, {"eth0": 1_000, "eth1": 25_000}, "10.0.0.1"),
        ({"eth0": "169.254.7.7"}, {"eth0": 25_000}, ""),
        ({"eth0": "127.0.0.9"}, {"eth0": 25_000}, ""),
        ({"eth0": "10.0.0.1; reboot"}, {"eth0": 25_000}, ""),
        ({"eth0": ""}, {"eth0": 25_000}, ""),
    ],
)
def test_the_address_of_tests_is_that_of_the_fastest_port_where_one_is(
    addresses: dict[str, str], speeds: dict[str, int], expected: str
) -> None:
    told = {**tell(1), "ip": (0, describe_ports(addresses)), "ethtool": (0, describe_speeds(speeds))}
    node = read(told)
    assert node.data_address == expected
    assert bool(node.unaddressed) is not bool(expected)


def test_of_very_many_addresses_the_first_are_looked_at() -> None:
    ports = {f"eth{number}": f"10.0.{number // 250}.{number % 250 + 1}" for number in range(3 * MOST_ADDRESSES)}
    speeds = dict.fromkeys(ports, 1_000) | {f"eth{2 * MOST_ADDRESSES}": 100_000}
    told = {**tell(1), "ip": (0, describe_ports(ports)), "ethtool": (0, describe_speeds(speeds))}
    assert read(told).data_address == ""


def test_an_answer_without_its_marks_is_no_answer() -> None:
    with pytest.raises(ProbeError):
        read_answer(named("n1").nodes[NodeId("n1")], Output(ARGV, LSCPU.encode(), node=NodeId("n1")))
