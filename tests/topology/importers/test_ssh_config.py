"""Hosts of an ssh_config: plain names only, the file itself says how they are reached."""

from pathlib import Path

import pytest

from benchconsole.topology.importers import import_sources, import_text
from benchconsole.topology.model.fabric import NodeId
from tests.topology.importers.sources import SSH, described, problems


def test_plain_names_are_nodes_and_tests_go_to_their_host_name() -> None:
    fabric = described(import_text("ssh-config", SSH, "f"))
    assert {node.id: (node.address, node.data_address) for node in fabric.nodes.values()} == {
        "n1": ("n1", "n1.example.org"), "n2": ("n2", "n2.example.org"), "st1": ("st1", "10.0.0.9"),
    }  # fmt: skip
    assert fabric.nodes[NodeId("st1")].role == "storage"
    assert not fabric.links


def test_the_result_names_the_file_so_that_users_ports_and_jumps_hold(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("Host n1\n  User bench\n  ProxyJump gate\n  Port 2222\n")
    assert described(import_sources("ssh-config", [path])).access.config == str(path)


def test_what_is_passed_over_is_said_once_with_its_line() -> None:
    assert import_text("ssh-config", SSH, "f").remarks == (
        "Include is not followed: line 1, and so on",
        "Host patterns are passed over: '*' in line 2, and so on",
        "Match blocks are passed over: line 9, and so on",
        "an ssh_config does not say how nodes are cabled: describe switches and links by hand",
    )


def test_the_first_value_counts_and_a_host_may_have_several_blocks() -> None:
    text = 'host=a\n\tHostName first\nHost a b\n  hostname second\nHost c\n  HostName fe80::1\n  ProxyCommand x "y\n'
    found = import_text("ssh-config", text, "f")
    assert {node.id: node.data_address for node in described(found).nodes.values()} == {
        "a": "first", "b": "second", "c": "c",
    }  # fmt: skip
    assert "addresses that our file cannot hold are left out: 'fe80::1' of c, and so on" in found.remarks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "f:1:1: no Host with a plain name"),
        ("Host *\n  User x\n", "f:1:1: no Host with a plain name"),
        ('Host "n1', "f:1:6: '\"n1', expected quotes that close"),
        ("Host n1 'x\n", 'f:1:9: "\'x", expected quotes that close'),
        ('Host n1 "x\n', "f:1:9: '\"x', expected quotes that close"),
        ("Host n1\n  !!\n", "f:2:1: the line '!!', expected Keyword arguments"),
        ("Host n1;id\n", "f:1:6: the name 'n1;id'"),
    ],
)
def test_every_mistake_is_told_with_its_place(text: str, expected: str) -> None:
    found = problems(lambda each: import_text("ssh-config", each, "f"), text)
    assert any(expected in line for line in found), found


def test_keywords_with_digits_are_keywords_and_single_quotes_are_quotes() -> None:
    text = "Host n1\n  ForwardX11 no\n  PKCS11Provider /x\n  ForwardX11Trusted=yes\nHost 'n2'\n  HostName '10.0.0.2'"
    nodes = described(import_text("ssh-config", text, "f")).nodes.values()
    assert {node.id: node.data_address for node in nodes} == {"n1": "n1", "n2": "10.0.0.2"}


def test_one_address_of_several_hosts_is_left_out() -> None:
    found = import_text("ssh-config", "Host a b\n  HostName gw.example\nHost c\n  HostName d\nHost d\n", "f")
    assert all(node.data_address == node.id for node in described(found).nodes.values())
    assert "addresses of several devices are left out: gw.example of a,b, and so on" in found.remarks
