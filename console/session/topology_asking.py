"""Asks nodes for what a topology file says of them: the questions of the inventory, each node once, over SSH.

Nothing is loaded, changed or left on a node, and it needs no agent.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import islice

from benchconsole.console.static_report.wire_diff import read_observed
from benchconsole.probes.api import Fact, Output
from benchconsole.probes.hygiene.leftover_proof import AT_ONCE
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Target
from benchconsole.probes.model.remote import Reach, RemoteError, ask_all
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import find_answers, find_word
from benchconsole.topology.importers.asked_nodes import AskedNode, BondedPort
from benchconsole.topology.model.fabric import Fabric, Node

MOST_ADDRESSES = 64
"""Addresses of one node among which that of the tests is looked for."""

_START = re.compile(r"^\s*\{", re.MULTILINE)
_KEPT = ("system.product", "cpu.model", "cpu.sockets", "cpu.cores", "memory.dimms")


@dataclass(frozen=True, slots=True)
class TopologyAnswers:
    """The nodes that answered, and the reason of each that did not, in words without line ends."""

    asked: tuple[AskedNode, ...]
    unasked: Mapping[str, str]


async def ask_for_topology(
    reach: Reach, fabric: Fabric, *, sudo: bool = False, hear: Callable[[str, str], object] = lambda _node, _why: None
) -> TopologyAnswers:
    """Ask every node of ``fabric``, at most AT_ONCE at the same time; ``sudo``: as the administrator.

    ``hear`` is told of each node with the reason why it did not answer, which is empty where it did. Nothing is raised
    but cancellation. ``reach`` is closed at the end.
    """

    async def ask(node: Node) -> AskedNode | str:
        answer = await _find_answer(reach, node, sudo=sudo)
        hear(node.id, answer if isinstance(answer, str) else "")
        return answer

    nodes = tuple(fabric.nodes.values())
    try:
        answers = dict(zip((node.id for node in nodes), await ask_all(nodes, ask, AT_ONCE), strict=True))
    finally:
        await reach.close()
    return TopologyAnswers(
        tuple(each for each in answers.values() if isinstance(each, AskedNode)),
        {node: each for node, each in answers.items() if isinstance(each, str)},
    )


async def _find_answer(reach: Reach, node: Node, *, sudo: bool) -> AskedNode | str:
    """The answer of a node, else the reason why it gave none, without line ends."""
    try:
        return read_answer(node, await _ask(reach, node, sudo=sudo))
    except RemoteError as error:
        why = f"{error.failure.stage}: {error.failure.detail}"
    except ProbeError as error:
        why = f"no answer that can be read: {error}"
    return " ".join(why.split())


async def _ask(reach: Reach, node: Node, *, sudo: bool) -> Output:
    probe = Inventory()
    remote = await reach.remote(node)
    return await remote.run(probe.command(Target(node)), timeout=probe.timeout, privileged=sudo)


def read_answer(node: Node, output: Output) -> AskedNode:
    """The answer of ``node`` to the script of the inventory. ProbeError where that cannot be read."""
    facts = Inventory().parse(output)
    observed = read_observed(facts)
    address, unaddressed = _find_data_address(facts)
    return AskedNode(
        node.id,
        neighbours="" if observed.deaf else _find_neighbours(output),
        deaf=observed.deaf,
        speeds={port.name: port.speed for port in observed.ports if port.speed is not None},
        bonds=dict(_list_bonded(facts)),
        data_address=address,
        unaddressed=unaddressed,
        facts=dict(_list_kept(facts)),
    )


def _find_neighbours(output: Output) -> str:
    """The JSON that lldpctl printed, without what it said on standard error before."""
    word = find_word(output.argv, output.text) or ""
    text = next((each.text for each in find_answers(output.text, word) if each.source == "lldpctl"), "")
    start = _START.search(text)
    return text[start.start() :] if start else text


def _list_bonded(facts: Sequence[Fact]) -> Iterator[tuple[str, BondedPort]]:
    """Each port that is in a bond, with the bond."""
    told = {(fact.fact, *_find_place(fact)): str(fact.value) for fact in facts if fact.fact.startswith("bond.")}
    for what, bond, port in told:
        if what == "bond.member_state" and bond and port:
            yield (
                port,
                BondedPort(
                    bond,
                    told.get(("bond.mode", bond, ""), ""),
                    told.get(("bond.active", bond, ""), ""),
                    told.get(("bond.member_aggregator", bond, port), ""),
                ),
            )


def _find_place(fact: Fact) -> tuple[str, str]:
    labels = dict(fact.labels)
    return labels.get("bond", ""), labels.get("nic", "")


def _list_kept(facts: Sequence[Fact]) -> Iterator[tuple[str, str | float]]:
    """The facts of the node as a whole that a class may declare; its memory is that of its modules."""
    whole = {fact.fact: fact.value for fact in facts if not fact.labels}
    yield from ((name, whole[name]) for name in _KEPT if name in whole)
    if "memory.installed" in whole:
        yield "memory.total", whole["memory.installed"]


def _find_data_address(facts: Sequence[Fact]) -> tuple[str, str]:
    """The address on the fastest port that is up, IPv4 before IPv6; empty, and why, where several are, or none is."""
    rated: list[tuple[bool, float, str]] = []
    addresses = dict.fromkeys(str(fact.value) for fact in facts if fact.fact == "nic.address")
    for address in islice(addresses, MOST_ADDRESSES):
        ports = [port for port in read_observed(facts, address).ports if port.data and port.carrier is not False]
        if ports and _is_for_tests(address):
            rated.append((":" not in address, max(port.speed or 0.0 for port in ports), address))
    best = max((each[:2] for each in rated), default=None)
    found = [address for *rank, address in rated if tuple(rank) == best]
    if not found:
        return "", "no port that is up has an address that tests can go to"
    return (found[0], "") if len(found) == 1 else ("", "several addresses are on ports that are as fast")


def _is_for_tests(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified)
