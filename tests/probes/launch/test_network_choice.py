from ipaddress import IPv4Address, IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.launch.network_choice import LaunchError, Rails, rails
from benchconsole.probes.testing import a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node


def _nodes(*pairs: tuple[str, str]) -> list[Node]:
    """Nodes by management and data address."""
    return [replace(a_node(f"n{i}", address), data_address=data) for i, (address, data) in enumerate(pairs, 1)]


def test_each_network_is_the_narrowest_that_holds_its_own_addresses() -> None:
    found = rails(_nodes(("10.77.240.11", "10.77.1.11"), ("10.77.240.12", "10.77.2.12")))

    assert found == Rails(data="10.77.0.0/22", control="10.77.240.8/29")
    assert found.choices == 1


def test_a_single_address_is_never_a_32_which_open_mpi_misreads() -> None:
    assert rails(_nodes(("10.213.0.11", "10.214.1.11"))).data == "10.214.1.8/30"


def test_where_one_network_would_hold_management_there_are_several() -> None:
    found = rails(_nodes(("10.1.1.1", "10.1.0.1"), ("10.1.1.2", "10.1.2.1")))

    assert found.data == "10.1.0.0/30,10.1.2.0/30"
    assert found.choices == 2


def test_nodes_with_one_network_use_it_for_everything() -> None:
    assert rails(_nodes(("10.0.0.1", "10.0.0.1"), ("10.0.0.2", "10.0.0.2"))) == Rails("10.0.0.0/30", "10.0.0.0/30")


def test_data_and_management_among_each_other_are_refused() -> None:
    with pytest.raises(LaunchError, match="cannot be told from the other"):
        rails(_nodes(("10.0.0.1", "10.0.0.2"), ("10.0.0.3", "10.0.0.4")))


@pytest.mark.parametrize(
    ("address", "data", "words"),
    [
        ("10.0.0.1", "n1-ib", "n1: found a data address that is a name"),
        ("n1", "n1", "n1: found a data address that is a name"),
        ("n1", "10.1.0.1", "whether management lies in the data"),
        ("10.0.0.1", "fd00::1", "n1: found a data address of IPv6; MPI is launched over IPv4"),
    ],
)
def test_names_tell_no_network(address: str, data: str, words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        rails(_nodes((address, data)))


def test_the_operator_may_name_the_network_or_the_interface() -> None:
    named = _nodes(("n1", "n1-ib"), ("n2", "n2-ib"))

    assert rails(named, "10.1.0.0/16") == Rails("10.1.0.0/16", "10.1.0.0/16")
    assert rails(named, "ib0") == Rails("ib0", "ib0")
    assert rails(_nodes(("10.0.0.1", "10.1.0.1")), "eth1") == Rails("eth1", "10.0.0.0/30")


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ("10.77.0.0/16", "holds the management address 10.77.240.11 too"),
        ("10.78.0.0/16", "without the data address 10.77.1.11"),
        ("10.77.1.0/33", "expected a CIDR"),
        ("10.77.1.11/32", "at most /30"),
        ("10.77.1.11/16", "expected a CIDR"),
        ("eth0,mgmt0", "expected a CIDR or the name of an interface"),
        ("-x", "expected a CIDR or the name of an interface"),
    ],
)
def test_a_network_that_does_not_fit_the_addresses_is_refused(network: str, words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        rails(_nodes(("10.77.240.11", "10.77.1.11")), network)


_ADDRESSES = st.lists(
    st.integers(0x0A000000, 0x0A0003FF).map(lambda n: str(IPv4Address(n))), min_size=2, max_size=12, unique=True
)


@given(_ADDRESSES)
def test_what_is_found_holds_every_data_address_and_no_management_address(addresses: list[str]) -> None:
    half = len(addresses) // 2
    nodes = _nodes(*zip(addresses[:half], addresses[half:], strict=False))
    try:
        found = rails(nodes)
    except LaunchError:
        return
    data = [IPv4Network(each) for each in found.data.split(",")]
    control = [IPv4Network(each) for each in found.control.split(",")]
    for node in nodes:
        at, payload = IPv4Address(node.address), IPv4Address(node.data_address)
        assert any(payload in each for each in data)
        assert any(at in each for each in control)
        assert not any(at in each for each in data)
        assert not any(payload in each for each in control)
