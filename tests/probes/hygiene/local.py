"""This machine as a node: commands run here as they would there, with the markers that the watchdog sets."""

import asyncio
import os
import secrets
import subprocess
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import Remote, Running
from benchconsole.topology.model.fabric import Node, NodeId


@dataclass
class Here:
    """A Remote. ``calls`` counts the commands; ``path`` is put before the search path."""

    session: str
    path: str = ""
    name: str = "here"
    calls: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def node(self) -> NodeId:
        return NodeId(self.name)

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        self.calls.append(tuple(argv))
        marks = {"BENCHCONSOLE_SESSION": self.session, "BENCHCONSOLE_RUN": secrets.token_hex(6), "LC_ALL": "C"}
        path = f"{self.path}:{os.environ['PATH']}" if self.path else os.environ["PATH"]
        done = await asyncio.to_thread(
            subprocess.run, argv, env={**os.environ, **marks, "PATH": path}, input=stdin, capture_output=True,
            timeout=timeout, check=False,
        )  # fmt: skip
        return Output(tuple(argv), done.stdout, done.stderr, done.returncode, node=self.name)

    def start(self, argv: Sequence[str], *, timeout: float) -> AbstractAsyncContextManager[Running]:
        raise NotImplementedError("nothing here keeps a command running")  # tests of the leftover search start nothing


@dataclass
class Reached:
    """A Reach of one Remote for every node, or of one for each name."""

    remotes: dict[str, Remote]

    async def remote(self, node: Node) -> Remote:
        return self.remotes[node.id]

    async def close(self) -> None:
        pass


def left_behind(session: str, script: str, cwd: Path | None = None) -> "subprocess.Popen[bytes]":
    """A process of this machine that carries ``session``."""
    return subprocess.Popen(["sh", "-c", script], env={**os.environ, "BENCHCONSOLE_SESSION": session}, cwd=cwd)


def made_by(session: str, root: Path, word: str = "abcdef") -> Path:
    """A scratch directory as ``probes.scratch`` makes it, with a file in it."""
    made = root / f"benchconsole.{session}.{word}"
    made.mkdir(mode=0o700)
    (made / ".benchconsole").write_text(f"benchconsole scratch\n{session}\n{made}\n")
    (made / "data").write_bytes(b"x" * 1000)
    return made
