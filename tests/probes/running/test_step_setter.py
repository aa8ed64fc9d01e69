"""Values set on nodes between the points of a sweep: set once, set back, recorded before, and what fails is told."""

from collections.abc import Sequence

import pytest

from benchconsole.probes.model.measuring import FailedAt, Failure, Output, Round, SetValue, Swept
from benchconsole.probes.model.remote import Remote, RemoteError
from benchconsole.probes.running.step_setter import StepSetter
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole

NODES = {NodeId(name): Node(NodeId(name), NodeRole.COMPUTE, Hardware("c"), name, name) for name in ("n1", "n2", "n3")}
BACK = ("set", "queue", "1000")


class Machine:
    """Nodes that do what they are told; ``broken`` ones fail at some words, ``away`` ones are not reached."""

    def __init__(self, broken: Sequence[str] = (), away: Sequence[str] = ()) -> None:
        self.said: list[str] = []
        self.away = set(away)
        self.remotes = {name: FakeRemote(name) for name in ("n1", "n2", "n3")}
        for name, remote in self.remotes.items():
            failed = Output(("set",), b"", b"RTNETLINK answers: Invalid argument\n", 2)
            if name in broken:
                remote.when("500", answers=failed)
            remote.when("set", answers=Output(("set",), b"", b"", 0))

    async def remote(self, node: Node) -> Remote:
        if node.id in self.away:
            raise RemoteError(Failure(FailedAt.UNREACHABLE, "refused", node.id))
        return self.remotes[node.id]

    async def close(self) -> None:
        return None

    async def record(self, words: str) -> None:
        self.said.append(words)

    async def refuse(self, words: str) -> None:
        raise OSError(f"no room for {words}")

    def calls(self, name: str) -> list[str]:
        return [" ".join(call.argv) for call in self.remotes[name].calls]

    def setter(self) -> StepSetter:
        return StepSetter(self, NODES, self.record, self.record)


def swept(value: str, sweep: int = 1, axis: str = "queue", nodes: str = "n[1-2]") -> Round:
    step = SetValue(axis, value, ("set", axis, value), ("set", axis, "1000"), nodes)
    return Round(1, "s", "iperf3", (), 1.0, "", swept=Swept(sweep, ((axis, value),), steps=(step,)))


async def test_a_value_is_set_once_for_all_rounds_that_need_it_and_then_set_back() -> None:
    machine = Machine()
    setter = machine.setter()
    for value in ("500", "500", "2000"):
        assert await setter.prepare(swept(value)) == {}
    assert await setter.undo() == {}
    assert machine.calls("n1") == machine.calls("n2") == ["set queue 500", "set queue 2000", " ".join(BACK)]
    assert machine.calls("n3") == []
    assert await setter.undo() == {}
    assert len(machine.calls("n1")) == 3
    assert machine.said[0] == "queue=500 on n[1-2]: set queue 500; set back by: set queue 1000"
    assert machine.said[-1] == "queue set back on n[1-2]: set queue 1000"


async def test_what_another_sweep_has_set_is_set_back_before_a_round_that_does_not_know_it() -> None:
    machine = Machine()
    setter = machine.setter()
    await setter.prepare(swept("500"))
    assert await setter.prepare(replace(swept("500"), swept=None)) == {}
    assert machine.calls("n1") == ["set queue 500", "set queue 1000"]
    await setter.prepare(swept("500", sweep=7, axis="mtu"))
    await setter.prepare(swept("500", sweep=9))
    assert machine.calls("n1")[2:] == ["set mtu 500", "set mtu 1000", "set queue 500"]


async def test_a_node_where_it_fails_is_named_tried_again_and_set_back() -> None:
    machine = Machine(broken=["n2"], away=["n1"])
    setter = machine.setter()
    found = await setter.prepare(swept("500"))
    assert {node: failure.stage for node, failure in found.items()} == dict.fromkeys(("n1", "n2"), FailedAt.HELD)
    assert found[NodeId("n2")].node == "n2"
    assert found[NodeId("n2")].detail == (
        "queue=500 was not set: set queue 500 ended with 2: RTNETLINK answers: Invalid argument"
    )
    assert "unreachable: refused" in found[NodeId("n1")].detail
    machine.away.clear()
    assert set(await setter.prepare(swept("500"))) == {"n2"}
    assert await setter.prepare(swept("2000")) == {}
    assert await setter.undo() == {}
    assert machine.calls("n2") == ["set queue 500", "set queue 500", "set queue 2000", "set queue 1000"]


async def test_what_cannot_be_set_back_is_told_and_tried_again() -> None:
    machine = Machine()
    setter = machine.setter()
    await setter.prepare(swept("500"))
    machine.away.add("n1")
    assert {node: failure.detail for node, failure in (await setter.undo()).items()} == {
        "n1": "queue was not set back: unreachable: refused"
    }
    assert machine.said[-1] == "queue set back on n2: set queue 1000"
    # A round of another stage must not run on a node that is still changed.
    assert set(await setter.prepare(replace(swept("500"), swept=None))) == {"n1"}
    machine.away.clear()
    assert await setter.undo() == {}
    assert machine.calls("n2") == ["set queue 500", "set queue 1000"]
    assert machine.calls("n1") == ["set queue 500", "set queue 1000"]


async def test_what_a_run_that_died_may_have_set_is_set_again_or_set_back() -> None:
    machine = Machine()
    setter = machine.setter()
    setter.adopt([swept("500"), replace(swept("500"), swept=None)])
    assert await setter.prepare(replace(swept("500"), swept=None)) == {}
    assert machine.calls("n2") == ["set queue 1000"]
    again = machine.setter()
    again.adopt([swept("500")])
    await again.prepare(swept("500"))
    await again.undo()
    assert machine.calls("n2")[1:] == ["set queue 500", "set queue 1000"]


async def test_everything_is_set_back_before_anything_of_it_is_noted() -> None:
    machine = Machine()
    setter = machine.setter()
    await setter.prepare(swept("500"))
    await setter.prepare(_add_axis(swept("500"), "mtu"))
    setter.note = machine.refuse
    with pytest.raises(OSError, match="no room for mtu set back"):
        await setter.undo()
    assert machine.calls("n1")[-2:] == ["set mtu 1000", "set queue 1000"]


def _add_axis(each: Round, axis: str) -> Round:
    assert each.swept is not None
    (more,) = swept("9000", axis=axis).swept.steps  # type: ignore[union-attr]
    return replace(each, swept=replace(each.swept, steps=(*each.swept.steps, more)))
