"""A repeat: the same test of a session, measured again. The one definition of it, for planning, judging and screens.

A repeat replaces what it repeats, better or worse. A test is told by its place in the plan, never by the words that
name its subject: two bundles may fill equal links of one switch and have one name.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from benchconsole.probes.model.measuring import Labels, Round, Test
from benchconsole.topology.grouping import group_by_key

TestKey = tuple[str, str, str, str, str, Labels]


def make_test_key(test: Test, stage: str) -> TestKey:
    """The key that a test of a session and its repeats share: stage, probe, both ends, bundle, point of a sweep.

    A stream that is steered by its source port goes another way than one from another port: no repeat of that.
    """
    target = test.target
    here = target.key if target.members else target.node.id
    there = "" if target.members or target.peer is None else ":".join((target.peer.id, *_list_ports(test)))
    return (stage, test.probe, here, there, test.bundle, target.labels)


def _list_ports(test: Test) -> list[str]:
    sending = test.sending
    steered = f"from {sending.source_port}" if sending.source_port else ""
    return [port for port in (sending.leg, sending.peer_leg, steered) if port]


def find_repeats(plan: Iterable[Round]) -> Mapping[str, tuple[str, ...]]:
    """Each test that repeats earlier ones of the plan, with their ids. Tests of one round repeat nothing of it."""
    earlier: dict[TestKey, tuple[str, ...]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for each in sorted(plan, key=lambda each: each.number):
        for key, ids in group_by_key((make_test_key(test, each.stage), test.id) for test in each.tests).items():
            if key in earlier:
                found.update(dict.fromkeys(ids, earlier[key]))
            earlier[key] = (*earlier.get(key, ()), *ids)
    return MappingProxyType(found)
