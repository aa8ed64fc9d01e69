"""The address of a node in each of its networks: stated, or following from what is stated."""

import re
from pathlib import Path

import pytest

from benchconsole.topology import load
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Fabric, NodeId

TEXT = """\
schema: 1
fabric: addresses
networks: {ib: {}, mgmt: {}, san: {}}
switches: {a: {}, b: {}, c: {}}
nodes:
  n[1-2]: {NODE}
  only: {address: 10.0.0.9}
links:
  - {from: "n[1-2],only", to: a, speed: 200G, network: ib}
  - {from: "n[1-2]", to: b, speed: 1G, network: mgmt}
  - {from: "n[1-2]", to: c, speed: 1G, network: san}
"""
SSH = 'address: "10.0.0.[1-2]"'


def described(folder: Path, node: str, text: str = TEXT) -> Fabric:
    path = folder / "addresses.yaml"
    path.write_text(text.replace("NODE", node))
    return load(path)


def told(folder: Path, node: str, text: str = TEXT) -> tuple[dict[str, str], str]:
    found = described(folder, node, text).nodes[NodeId("n2")]
    return dict(found.addresses), found.data_address


def test_what_is_stated_for_each_network(tmp_path: Path) -> None:
    node = f'{SSH}, addresses: {{ib: "10.2.0.[1-2]", san: "10.3.0.[1-2]"}}'
    assert told(tmp_path, node) == ({"ib": "10.2.0.2", "mgmt": "10.0.0.2", "san": "10.3.0.2"}, "10.2.0.2")
    found = described(tmp_path, node).nodes[NodeId("n2")]
    assert (found.at("san").data_address, found.at("san").address) == ("10.3.0.2", "10.0.0.2")
    assert found.at("ib") is found
    assert found.find_address("data") is None


def test_the_data_address_is_that_of_the_data_network(tmp_path: Path) -> None:
    assert told(tmp_path, f'{SSH}, data_address: "10.2.0.[1-2]"') == (
        {"ib": "10.2.0.2", "mgmt": "10.0.0.2"},
        "10.2.0.2",
    )


def test_where_ssh_goes_is_the_network_for_management(tmp_path: Path) -> None:
    assert told(tmp_path, SSH)[0] == {"mgmt": "10.0.0.2"}
    assert told(tmp_path, "")[0] == {"mgmt": "n2"}


def test_without_a_network_for_management_tests_go_where_ssh_goes(tmp_path: Path) -> None:
    assert told(tmp_path, SSH, TEXT.replace("mgmt", "lan").replace("ib: {}, ", "ib: {role: storage}, ")) == (
        {"lan": "10.0.0.2"},
        "10.0.0.2",
    )


def test_one_network_needs_no_table(tmp_path: Path) -> None:
    assert described(tmp_path, SSH).nodes[NodeId("only")].addresses == ()


def test_two_data_networks_take_no_address_by_themselves(tmp_path: Path) -> None:
    assert told(tmp_path, f'{SSH}, data_address: "10.2.0.[1-2]"', TEXT.replace("mgmt", "eth"))[0] == {}


@pytest.mark.parametrize(
    ("node", "place", "sentence"),
    [
        ('addresses: {ibb: "10.2.0.[1-2]"}', "6:24", "unknown network 'ibb', expected one of data, ib, mgmt, san; did"),
        ('addresses: {data: "10.2.0.[1-2]"}', "6:24", "an address of n1 in the network data, where it has no cable"),
        ('addresses: {ib: "10.2.0.[1-3]"}', "6:28", "3 addresses for 2 nodes"),
        ('addresses: {ib: "10.2.0.1,10.2.0.1"}', "6:28", "addresses for 2 nodes"),
        (
            'data_address: "10.2.0.[1-2]", addresses: {ib: "10.4.0.[1-2]"}',
            "6:54",
            "the address 10.4.0.1 of n1 beside its data_address 10.2.0.1",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, node: str, place: str, sentence: str) -> None:
    with pytest.raises(TopologyError) as error:
        described(tmp_path, node)
    assert any(f":{place}:" in line and sentence in line for line in str(error.value).splitlines()), str(error.value)


@pytest.mark.fault("F02")
def test_an_address_twice_in_a_network(tmp_path: Path) -> None:
    text = TEXT.replace("only: {address: 10.0.0.9}", "only: {addresses: {ib: 10.2.0.1}}")
    with pytest.raises(TopologyError, match=r"the address 10\.2\.0\.1 of n1 again for only"):
        described(tmp_path, 'addresses: {ib: "10.2.0.[1-2]"}', text)


def test_a_number_above_255_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(
        "schema: 1\nfabric: x\nswitches: {s: {}}\n"
        'nodes: {"n[1-16]": {address: "10.0.0.[250-265]"}}\nlinks: [{from: "n[1-16]", to: s, speed: 1G}]\n'
    )
    with pytest.raises(
        TopologyError, match=r"t\.yaml:4:30: the address 10\.0\.0\.256, expected four numbers from 0 to 255"
    ):
        load(path)


def test_addresses_of_ipv6_in_their_usual_form(tmp_path: Path) -> None:
    node = 'address: "FD00:0:0::0[1-2]", addresses: {ib: "2001:db8::a[7-8]", san: "10.3.0.1,fd01::2"}'
    assert told(tmp_path, node) == ({"ib": "2001:db8::a8", "mgmt": "fd00::2", "san": "fd01::2"}, "2001:db8::a8")


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("fd00::1%eth0", "'fd00::1%eth0' has '%'"),
        ("fd00::[g-h]", "bad range [g-h]"),
        ("fd00::g", "'fd00::g' is not an IPv6 address"),
        ("10.0.0.1:22", "'10.0.0.1:22' is not an IPv6 address"),
        ("[fd00::1]", "bad range [fd00::1]"),
        ("fd00::[1-2]", "2 addresses for 1 nodes"),
    ],
)
def test_what_is_no_address_of_ipv6(tmp_path: Path, address: str, found: str) -> None:
    with pytest.raises(TopologyError, match=re.escape(found)):
        described(tmp_path, SSH, TEXT.replace("10.0.0.9", f'"{address}"'))


@pytest.mark.fault("F02")
def test_one_address_in_two_forms_is_an_address_twice(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="the address fd00::1 of n1 again for only"):
        described(tmp_path, 'address: "fd00::[1-2]"', TEXT.replace("10.0.0.9", '"FD00:0::1"'))
