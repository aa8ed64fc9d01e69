"""The ways in and out: none fetches what a text names, brings a file from a node or unpacks one, and none listens but pages on loopback."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.test_sizes import ROOT, sources

FETCHES = {
    "urllib.request",
    "http.client",
    "ftplib",
    "smtplib",
    "xmlrpc.client",
    "webbrowser",
    "open_url",
    "requests",
    "httpx",
}
UNPACKS = {"tarfile", "zipfile", "shutil.unpack_archive", "pickle", "marshal", "shelve"}
COPIES = {"asyncssh.scp", "start_sftp_client"}


LISTENS = {"create_server", "start_server", "start_unix_server", "create_datagram_endpoint", "listen", "socketserver"}
SIMULATED = {ROOT / "probes/testing/server.py", ROOT / "console/simulator/nodes.py"}
"""Where nodes are played, which listen: on loopback, for tests and the demo."""

PAGES = {ROOT / "console/cli/web.py"}
"""Where pages are served while somebody asks for it: on loopback, which its own test holds."""


def list_words(text: str) -> Iterator[str]:
    """Modules that a file imports, with the names taken from them, and attributes that it reads."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield node.attr
            if isinstance(node.value, ast.Name):
                yield f"{node.value.id}.{node.attr}"


@cache
def list_product_words() -> list[tuple[Path, str]]:
    return [(path, word) for path in sources() for word in list_words(path.read_text())]


def list_uses(forbidden: set[str]) -> list[str]:
    return [f"{path}: {word}" for path, word in list_product_words() if word in forbidden]


@pytest.mark.fault("I11")
def test_nothing_fetches_what_a_text_names() -> None:
    assert list_uses(FETCHES) == []


@pytest.mark.fault("I06")
def test_only_simulated_nodes_and_pages_on_loopback_listen() -> None:
    """Sockets of nodes are theirs: asyncssh makes them there, with ``create_unix_server``."""
    assert {path for path, word in list_product_words() if word in LISTENS} == SIMULATED | PAGES


@pytest.mark.fault("I14")
def test_nothing_brings_a_file_from_a_node_or_unpacks_one() -> None:
    assert list_uses(UNPACKS | COPIES) == []


@pytest.mark.fault("I11", "I14")
@pytest.mark.parametrize(
    "line",
    [
        "import tarfile",
        "from urllib import request",
        "from shutil import unpack_archive",
        "import asyncssh\nasyncssh.scp",
    ],
)
def test_a_forbidden_word_is_seen_however_it_is_imported(line: str) -> None:
    assert set(list_words(line)) & (FETCHES | UNPACKS | COPIES)
