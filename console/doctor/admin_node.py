"""The diagnosis of the machine that the console runs on: program, database, ssh configuration."""

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from benchconsole import __version__
from benchconsole.console.doctor.diagnosis import DiagnosisLine, Grade, fold_lines, sample_nodes
from benchconsole.topology.units import counted as count

if TYPE_CHECKING:
    from benchconsole.store.files.database import DatabaseFacts
    from benchconsole.topology.model.fabric import Fabric, NodeId

ORACLE = 64
"""Nodes whose ssh configuration is held against OpenSSH's own reading: two processes each."""
_AT_ONCE = 8


def describe_program() -> Iterator[DiagnosisLine]:
    """The versions of the program, Python and asyncssh here."""
    text = f"benchconsole {__version__}, Python {platform.python_version()}, asyncssh {version('asyncssh')}"
    yield DiagnosisLine("this machine", Grade.FINE, text)


def describe_database(path: Path) -> Iterator[DiagnosisLine]:
    """Where sessions are kept, and how safely; a file that is not there yet is made by the first run."""
    from benchconsole.store.errors import StoreError
    from benchconsole.store.store import Store

    if not path.exists():
        yield DiagnosisLine("this machine", Grade.FINE, f"database {path}: not there yet, the first session makes it")
        return
    try:
        with Store.open(path, create=False) as store:
            yield from _describe_facts(store.facts, store.read_only)
    except StoreError as error:
        yield DiagnosisLine("this machine", Grade.BAD, f"database: {error}")


def _describe_facts(facts: "DatabaseFacts", read_only: Exception | None) -> Iterator[DiagnosisLine]:
    text = f"database {facts.path} on {facts.file_system}, SQLite {facts.sqlite}"
    yield DiagnosisLine("this machine", Grade.FINE, f"{text}, journal {facts.journal}: {facts.because}")
    if facts.warning:
        yield DiagnosisLine("this machine", Grade.NOTE, facts.warning)
    if read_only is not None:
        yield DiagnosisLine("this machine", Grade.BAD, f"nothing can be stored: {read_only}")


async def check_ssh_configuration(fabric: "Fabric", names: "Sequence[NodeId]") -> tuple[DiagnosisLine, ...]:
    """The settings of the ssh configuration for nodes that are not followed here, folded over the nodes."""
    from benchconsole.probes.model.errors import ProbeError
    from benchconsole.probes.model.remote import ask_all
    from benchconsole.probes.reach.ssh.openssh_compare import find_ignored_settings
    from benchconsole.probes.reach.ssh.ssh_config import ConfigError, Destination

    checked = sample_nodes(names, ORACLE)
    ignored: list[tuple[str, NodeId]] = []
    failed: list[tuple[str, NodeId]] = []
    refused: list[tuple[str, NodeId]] = []

    async def check(name: "NodeId") -> None:
        destination = Destination(fabric.nodes[name].address, fabric.access.user, fabric.access.port)
        try:
            settings = await find_ignored_settings(destination, fabric.access)
        except (ProbeError, ConfigError) as error:
            told = refused if isinstance(error, ConfigError) else failed
            told.append((str(error).replace(destination.host, "NODE"), name))
            return
        words = (f"{each.keyword} {each.value}: {each.why}" for each in settings)
        ignored.extend((text.replace(destination.host, "NODE"), name) for text in words)

    await ask_all(checked, check, _AT_ONCE)
    graded = ((Grade.BAD, refused), (Grade.NOTE, failed), (Grade.NOTE, ignored))
    lines = [line for grade, pairs in graded for line in fold_lines("ssh configuration", grade, pairs)]
    if len(checked) < len(names):
        text = f"looked at for {len(checked)} of {count(len(names), 'node')}"
        lines.append(DiagnosisLine("ssh configuration", Grade.NOTE, text))
    followed = DiagnosisLine("ssh configuration", Grade.FINE, "is followed in everything that matters here")
    return tuple(lines) or (followed,)
