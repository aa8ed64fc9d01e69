"""Probes and a Reach that are played: rates come from the described fabric, troubles are scripted."""

from collections.abc import Sequence

from benchconsole.probes.api import Against, Contact, Metric, Output, Probe, Reading, Shape, Shown, Target, Unit, labels
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.model.fabric import Node


class Pair(Probe):
    """A two-ended probe whose answer is ``RATE bytes per second``."""

    name = "iperf3"
    summary = "throughput between two nodes"
    metrics = (Metric("iperf3.throughput", Unit.BYTE_RATE, "what arrived", Shown.NETWORK, Against.FABRIC),)
    tools = {"iperf3": "iperf3"}  # noqa: RUF012
    shape = Shape.PAIR

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        await contact.together()
        return (await contact.here.run(["iperf3", "-c", contact.there.node], timeout=5),)

    def parse(self, output: Output) -> Sequence[Reading]:
        value = float(output.text.split()[0])
        return (Reading("iperf3.throughput", value, Unit.BYTE_RATE, labels(direction="out"), output.text),)


class Alone(Probe):
    """A one-ended probe that measures nothing but itself."""

    name = "inventory"
    summary = "one fact"
    metrics = (Metric("inventory.facts", Unit.ONE, "facts"),)

    def command(self, target: Target) -> list[str]:
        return ["facts", target.node.id]

    def parse(self, output: Output) -> Sequence[Reading]:
        return (Reading("inventory.facts", float(output.text), Unit.ONE),)


PROBES: dict[str, Probe] = {"iperf3": Pair(), "inventory": Alone()}


class PlayedReach:
    """Every node answers at ``rate``; ``unreachable`` nodes do not. ``asked`` lists what was opened."""

    def __init__(self, rate: float = 1.17e9, unreachable: Sequence[str] = ()) -> None:
        self.rate = rate
        self.unreachable = tuple(unreachable)
        self.remotes: dict[str, FakeRemote] = {}
        self.asked: list[str] = []
        self.closed = False

    async def remote(self, node: Node) -> Remote:
        if node.id in self.unreachable:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "refused", node.id))
        if node.id not in self.remotes:
            self.asked.append(node.id)
            answer = Output(("iperf3",), f"{self.rate} bytes per second\n".encode(), node=node.id)
            fact = Output(("facts",), b"7\n", node=node.id)
            played = FakeRemote(node.id).when("facts", answers=fact).when("iperf3", answers=answer)
            self.remotes[node.id] = played
        return self.remotes[node.id]

    async def close(self) -> None:
        self.closed = True
