"""Asks one node for the InfiniBand subnet that it is in: ``ibnetdiscover``, and the error counters of all ports.

Both only read. They send management datagrams to every switch and adapter of the subnet, and need access to
``/dev/infiniband/umad*``, which is the administrator's as a rule; so a person names the node.
"""

from dataclasses import dataclass

from benchconsole.console.exits import BadInput
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import Reach, Remote, RemoteError
from benchconsole.topology.infiniband.counters import read_counters
from benchconsole.topology.infiniband.dump_files import SubnetFiles, read_dump
from benchconsole.topology.model.fabric import Node

_SCRIPT = 'PATH=$PATH:/usr/sbin:/sbin; exec "$@"'
_DISCOVER = ("sh", "-c", _SCRIPT, "benchconsole-ib", "ibnetdiscover", "-f")
_COUNT = ("sh", "-c", _SCRIPT, "benchconsole-ib", "ibqueryerrors", "--suppress-common")
_TIMEOUT = 300.0
_ENDED_BY = 1
"""ibqueryerrors ends with 1 where it found errors."""
_BY_SIGNAL = range(129, 193)
"""A shell gives 128 and the number of the signal, 1 to 64, as the status of a command that a signal ended."""


@dataclass(frozen=True, slots=True)
class SubnetText:
    """The output of a node: its dump of the subnet, and its counters where it was asked for them."""

    dump: str
    counters: str | None = None


async def ask_subnet(reach: Reach, node: Node, *, counters: bool, sudo: bool = False) -> SubnetText:
    """The subnet as ``node`` sees it. BadInput with the reason where it cannot tell."""
    try:
        remote = await reach.remote(node)
        dump = await _run(remote, _DISCOVER, sudo=sudo, answered=(0,))
        counted = await _run(remote, _COUNT, sudo=sudo, answered=(0, _ENDED_BY)) if counters else None
    except RemoteError as error:
        raise BadInput(f"benchconsole: {error}") from None
    finally:
        await reach.close()
    return SubnetText(dump, counted)


async def _run(remote: Remote, argv: tuple[str, ...], *, sudo: bool, answered: tuple[int, ...]) -> str:
    output = await remote.run(argv, timeout=_TIMEOUT, privileged=sudo)
    if output.truncated or output.exit_status not in answered or not output.text.strip():
        raise BadInput(f"benchconsole: {remote.node}: {_explain(output, argv[4])}")
    return output.text


def _explain(output: Output, tool: str) -> str:
    if output.exit_status == 127:
        return f"{tool} is not there, expected the package infiniband-diags"
    if output.truncated:
        return f"{tool} printed more than is read, expected saved files instead"
    status = output.exit_status or 0
    if output.signal or status in _BY_SIGNAL:
        how = output.signal or status - _BY_SIGNAL.start + 1
        return f"{tool} was ended by signal {how}, expected its own end: ask again, or give saved files"
    said = next((line for line in reversed(output.error_text.splitlines()) if line.strip()), "nothing")
    return (
        f"{tool} ended with {output.exit_status} and said: {said.strip()}; expected an active port and the right to ask"
    )


def read_subnet(text: SubnetText, node: str) -> SubnetFiles:
    """The output of a node, as saved files are read. TopologyError with places in ``node (ibnetdiscover)``."""
    subnet = read_dump(text.dump, f"{node} (ibnetdiscover)")
    if text.counters is None:
        return SubnetFiles(subnet, "ibnetdiscover")
    found = read_counters(text.counters, f"{node} (ibqueryerrors)", subnet)
    return SubnetFiles(subnet, "ibnetdiscover", tuple(found))
