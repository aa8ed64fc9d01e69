"""Hosts that share what was read: only those that the configuration cannot tell apart."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.reach.ssh.host_classes import HostClasses
from benchconsole.probes.reach.ssh.ssh_config import Destination, ResolvedHost, SshConfig
from benchconsole.topology.model.access import Access

PATTERNS = st.sampled_from(["*", "n*", "n1", "!n1", "n?", "n[1", "x1,x2", "!x*", "N1", "n1*", "*1"])
HOSTS = ("n1", "n2", "n11", "x1", "x2", "N1", "other")


def _config(tmp_path: Path, text: str) -> str:
    path = tmp_path / "config"
    path.write_text(text)
    return str(path)


def _route(path: str, host: str) -> ResolvedHost:
    """The configuration of one host, read for it alone."""
    return SshConfig(Access(config=path, known_hosts="/nowhere"), login=1, keepalive=1).resolve(Destination(host))


@settings(max_examples=60, deadline=None)
@given(blocks=st.lists(st.tuples(st.lists(PATTERNS, min_size=1, max_size=3), st.integers(1, 9)), max_size=4))
def test_what_is_shared_is_what_each_would_have_read(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[tuple[list[str], int]]
) -> None:
    text = "".join(f"Host {' '.join(patterns)}\n  Port {port}\n" for patterns, port in blocks)
    path = _config(tmp_path_factory.mktemp("alike"), text)
    shared = SshConfig(Access(config=path, known_hosts="/nowhere"), login=1, keepalive=1)
    for host in HOSTS:
        together, alone = shared.resolve(Destination(host)), _route(path, host)
        assert (together.host, together.port, together.user) == (alone.host, alone.port, alone.user)


def test_a_thousand_hosts_share_one_reading(tmp_path: Path) -> None:
    path = _config(tmp_path, "Host github.com\n User git\nHost n*\n User bench\n IdentityFile ~/.ssh/none\n")
    shared = SshConfig(Access(config=path, known_hosts="/nowhere"), login=1, keepalive=1)
    routes = [shared.resolve(Destination(f"n{number}")) for number in range(1000)]
    assert {route.user for route in routes} == {"bench"}
    assert len({id(route.options) for route in routes}) == 1
    assert [route.host for route in routes[:3]] == ["n0", "n1", "n2"]
    assert shared.resolve(Destination("github.com")).user == "git"


@pytest.mark.parametrize(
    "text",
    [
        "HostName %h.example",
        "IdentityFile ~/.ssh/%n",
        "Match host n1\n Port 9",
        "Match exec true\n Port 9",
        "ProxyCommand relay %h %p",
        "'",
    ],
)
def test_what_may_differ_is_not_shared(tmp_path: Path, text: str) -> None:
    likeness = HostClasses([_config(tmp_path, f"Host *\n {text}\n")])
    assert likeness.find_class("n1") != likeness.find_class("n2")
    assert likeness.runs_commands == ("exec" in text)


def test_included_files_count(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a").write_text("Host n1\n Port 9\n")
    likeness = HostClasses([_config(tmp_path, f"Include {tmp_path}/more/*\nMatch all\n Port 7\n")])
    assert likeness.find_class("n1") != likeness.find_class("n2")
    assert likeness.find_class("n2") == likeness.find_class("n3")


def test_a_file_that_includes_itself_is_not_followed_for_ever(tmp_path: Path) -> None:
    likeness = HostClasses([_config(tmp_path, f"Include {tmp_path}/config\n")])
    assert likeness.find_class("n1") != likeness.find_class("n2")


def test_our_own_name_for_a_host_is_kept(tmp_path: Path) -> None:
    path = _config(tmp_path, "Host a b\n HostName real\n")
    shared = SshConfig(Access(config=path, known_hosts="/nowhere"), login=1, keepalive=1)
    assert [shared.resolve(Destination(host)).host for host in ("a", "b", "c")] == ["real", "real", "c"]
