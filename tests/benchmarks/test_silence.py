"""Silent nodes of the benchmarks: as many as asked, spread over all, and such as accept and say nothing."""

import select
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.model.measuring import Target, Test
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole
from benchmarks.reach_targets import addresses, spread
from benchmarks.scale_silence import choose_silent, open_mute, touches


@given(st.integers(1, 3000), st.data())
def test_as_many_are_silent_as_asked(size: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, size))
    found = spread(size, number)
    assert len(found) == number
    assert found <= set(range(size))


def test_those_that_do_not_answer_are_beyond_the_network_that_does() -> None:
    beyond = [name for name in addresses(320, 16) if int(name.split(".")[2]) >= 128]
    assert len(beyond) == 16
    assert len(set(addresses(320, 16))) == 320


@pytest.mark.parametrize(("size", "number"), [(3, 1), (20, 1), (40, 2), (1000, 50)])
def test_one_of_twenty_nodes_is_silent(size: int, number: int) -> None:
    names = [NodeId(f"n{place}") for place in range(size)]
    chosen = choose_silent(names)
    assert len(chosen) == len(set(chosen)) == number


def test_a_mute_address_accepts_and_says_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open_mute([NodeId("n1")], port) as found, socket.create_connection((found[NodeId("n1")], port)) as client:
        client.sendall(b"SSH-2.0-anybody\r\n")
        assert not select.select([client], [], [], 0.0)[0]


def test_a_test_of_two_nodes_touches_both() -> None:
    first, second = (Node(NodeId(name), NodeRole.COMPUTE, Hardware("any"), name, name) for name in ("n1", "n2"))
    test = Test("t", "iperf3", Target(first, second), 1)
    assert [touches(test, {NodeId(name)}) for name in ("n1", "n2", "n3")] == [True, True, False]
