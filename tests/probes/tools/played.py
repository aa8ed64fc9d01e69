"""A node that is this machine, and programs that play others: they keep what they were told and print a transcript."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchconsole.probes.api import Node, Output, Running
from benchconsole.probes.testing import a_node
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, NodeId

_PLAYED = """\
#!/bin/sh
here={here}
printf '%s\\n' "$@" >"$here/told"
env >"$here/environment"
cat HPL.dat >"$here/input" 2>/dev/null
cat "$here/says"
cat "$here/complains" >&2
exit {status}
"""


class Local:
    """Runs commands here."""

    node = NodeId("n1")

    async def run(self, argv: Sequence[str], *, timeout: float, stdin: bytes = b"", privileged: bool = False) -> Output:
        made = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await asyncio.wait_for(made.communicate(), timeout)
        return Output(tuple(argv), out, err, made.returncode)

    def start(self, argv: Sequence[str], *, timeout: float) -> AbstractAsyncContextManager[Running]:
        raise NotImplementedError


@dataclass(frozen=True)
class Played:
    """A program in ``place`` that plays another."""

    place: Path

    @property
    def path(self) -> str:
        return str(self.place / "program")

    @property
    def told(self) -> list[str]:
        """Its arguments."""
        return (self.place / "told").read_text().splitlines()

    @property
    def environment(self) -> dict[str, str]:
        pairs = (line.partition("=") for line in (self.place / "environment").read_text().splitlines())
        return {name: value for name, _, value in pairs}

    @property
    def input(self) -> list[str]:
        """The HPL.dat that it found."""
        return (self.place / "input").read_text().splitlines()


def play(place: Path, says: str, *, complains: str = "", status: int = 0) -> Played:
    """Make a program that prints ``says``."""
    (place / "says").write_text(says)
    (place / "complains").write_text(complains)
    made = Played(place)
    Path(made.path).write_text(_PLAYED.format(here=place, status=status))
    Path(made.path).chmod(0o755)
    return made


def node(index: int, **facts: float) -> Node:
    """A node with a management and a data address."""
    made = replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}")
    return replace(made, hardware=Hardware("c", MappingProxyType(dict(facts))))
