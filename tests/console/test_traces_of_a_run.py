"""One run over real SSH, and what it leaves: sockets that it opened, and every file that it wrote."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from benchconsole.console.simulator.cluster import SimulatedCluster
from tests.console.test_cli import run
from tests.scenarios.commands import read_stored_outputs


@dataclass(frozen=True, slots=True)
class Traces:
    """The key that logged in, the folder with all that was written, and what listened meanwhile."""

    key: str
    folder: Path
    listened: list[str]

    def written(self) -> dict[str, str]:
        """Every file by its name, and what nodes said as it was before it was deflated."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        texts = {path.name: path.read_text(errors="replace") for path in files}
        return texts | {"outputs": "\n".join(read_stored_outputs(self.folder / "s.db"))}


def watch_listeners(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every socket of this process that begins to listen from now on, by its address."""
    listened: list[str] = []
    listen = socket.socket.listen

    def note(self: socket.socket, *backlog: int) -> None:
        listened.append(str(self.getsockname()))
        listen(self, *backlog)

    monkeypatch.setattr(socket.socket, "listen", note)
    return listened


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traces]:
    """A run of two nodes, its log, and its reports; the simulated nodes listen in a process of their own."""
    demo, folder = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("written")
    before = list(logging.getLogger().handlers)
    with pytest.MonkeyPatch.context() as monkeypatch, asyncio.Runner() as runner:
        for name in ("XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"):
            monkeypatch.setenv(name, str(folder))
        listened = watch_listeners(monkeypatch)
        cluster = SimulatedCluster("healthy", demo)
        runner.run(cluster.__aenter__())
        try:
            words = ("--db", folder / "s.db", "-w", "n[001-002]", "--quiet", "--jsonl", folder / "events.jsonl")
            code = run(monkeypatch, "--log", folder / "run.log", "run", cluster.topology_path, *words)
        finally:
            runner.run(cluster.__aexit__(None, None, None))
            logging.getLogger().handlers[:] = before
        assert code == Exit.UNTESTED  # criteria of the file speak of nodes that were not chosen
        for kind in ("html", "json"):
            run(monkeypatch, "report", "last", "--db", folder / "s.db", "-o", folder / f"page.{kind}")
        yield Traces((demo / "id_ed25519").read_text(), folder, listened)


@pytest.mark.fault("I06")
def test_nothing_listens_on_the_machine_of_the_console(traces: Traces, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "connected to 127." in traces.written()["run.log"]
    assert traces.listened == []
    seen = watch_listeners(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)):
        assert len(seen) == 1, "a socket that listens would have been seen"


@pytest.mark.fault("I09")
def test_the_key_that_logged_in_is_in_no_file(traces: Traces) -> None:
    secret = [line for line in traces.key.splitlines() if not line.startswith("-----")]
    assert len(secret) >= 3
    written = traces.written()
    assert {"s.db", "run.log", "events.jsonl", "page.html", "page.json", "outputs"} <= written.keys()
    assert [name for name, text in written.items() for line in secret if line in text] == []
    assert [name for name, text in written.items() if "PRIVATE KEY" in text] == []
    assert written["outputs"].strip()
