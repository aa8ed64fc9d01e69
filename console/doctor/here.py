"""Owns what is said of the machine that the console runs on: database, program, ssh configuration."""

import asyncio
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from console.doctor.asking import sample
from console.doctor.meaning import Grade, Line, grouped
from console.wording import count

if TYPE_CHECKING:
    from store.database import Facts
    from topology.model import Fabric, NodeId

ORACLE = 64
"""Nodes whose ssh configuration is held against OpenSSH's own reading: two processes each."""
_AT_ONCE = 8


def program() -> Iterator[Line]:
    """What runs here."""
    said = f"benchconsole {version('benchconsole')}, Python {platform.python_version()}, asyncssh {version('asyncssh')}"
    yield Line("this machine", Grade.FINE, said)


def database(path: Path) -> Iterator[Line]:
    """Where sessions are kept, and how safely; a file that is not there yet is made by the first run."""
    from store.errors import StoreError
    from store.store import Store

    if not path.exists():
        yield Line("this machine", Grade.FINE, f"database {path}: not there yet, the first session makes it")
        return
    try:
        with Store.open(path, create=False) as store:
            yield from _facts(store.facts, store.read_only)
    except StoreError as error:
        yield Line("this machine", Grade.BAD, f"database: {error}")


def _facts(facts: "Facts", read_only: Exception | None) -> Iterator[Line]:
    said = f"database {facts.path} on {facts.file_system}, SQLite {facts.sqlite}"
    yield Line("this machine", Grade.FINE, f"{said}, journal {facts.journal}: {facts.because}")
    if facts.warning:
        yield Line("this machine", Grade.NOTE, facts.warning)
    if read_only is not None:
        yield Line("this machine", Grade.BAD, f"nothing can be stored: {read_only}")


async def configuration(fabric: "Fabric", names: "Sequence[NodeId]") -> tuple[Line, ...]:
    """What the ssh configuration says of nodes and is not followed here, folded over them."""
    from probes.errors import ProbeError
    from probes.ssh.config import Place
    from probes.ssh.oracle import unhonoured

    asked = sample(names, ORACLE)
    gate = asyncio.Semaphore(_AT_ONCE)
    told: list[tuple[str, NodeId]] = []
    failed: list[tuple[str, NodeId]] = []

    async def one(name: "NodeId") -> None:
        place = Place(fabric.nodes[name].address, fabric.access.user, fabric.access.port)
        try:
            async with gate:
                found = await unhonoured(place, fabric.access)
        except ProbeError as error:
            failed.append((str(error).replace(place.host, "NODE"), name))
            return
        told.extend((f"{each.keyword} {each.value}: {each.why}".replace(place.host, "NODE"), name) for each in found)

    await asyncio.gather(*(one(name) for name in asked))
    lines = [Line("ssh configuration", Grade.NOTE, words, nodes) for words, nodes in grouped(failed)]
    lines += [Line("ssh configuration", Grade.NOTE, words, nodes) for words, nodes in grouped(told)]
    if len(asked) < len(names):
        said = f"looked at for {len(asked)} of {count(len(names), 'node')}"
        lines.append(Line("ssh configuration", Grade.NOTE, said))
    return tuple(lines) or (Line("ssh configuration", Grade.FINE, "is followed in everything that matters here"),)
