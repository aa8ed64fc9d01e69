"""The answers of ``squeue --json`` and ``sinfo --json``: the jobs on each node, and the faults of nodes.

Slurm 22.05 writes a job's or node's state as a word (a node's flags beside it in a list), numbers
plain and a limit that is not set as null; from 23.02 on (``data_parser``) states are lists, numbers are
``{"set", "infinite", "number"}`` and ``sinfo`` has one row for each partition and state instead of a
list of nodes. All are read. A text that is cut or says that it failed is an error, never an idle cluster.

Whatever is not known to be harmless counts as occupied: a node that is wrongly left alone costs a test, a
node that is wrongly loaded costs somebody's job. An installed client is not taken for a cluster with Slurm: without a
configuration there is nobody to ask.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.readers.documents import Document, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import read_number
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.selection import expand

_OVER = frozenset((
    "PENDING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
    "OUT_OF_MEMORY", "REVOKED", "SPECIAL_EXIT", "LAUNCH_FAILED", "RECONFIG_FAIL", "REQUEUED", "REQUEUE_HOLD",
    "REQUEUE_FED", "RESV_DEL_HOLD",
))  # fmt: skip
"""States of jobs that are on no node, unless COMPLETING stands beside them. Source: squeue(1), job state codes."""

_HARMLESS = frozenset(("IDLE", "CLOUD", "PLANNED", "PERFCTRS", "DYNAMIC", "DYNAMIC_NORM", "DYNAMIC_FUTURE"))
_USED = frozenset(("ALLOCATED", "MIXED", "COMPLETING"))
"""States of nodes that say no more than that jobs are there."""
_WORDS = {"NO_RESPOND": "not responding", "NOT_RESPONDING": "not responding", "MAINTENANCE": "in maintenance"}
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class JobSeen:
    """A job as the queue shows it. ``ends`` is UTC seconds since 1970, None when it has no limit or no time yet."""

    id: int
    name: str
    user: str
    states: frozenset[str]
    nodes: tuple[str, ...]
    ends: float | None = None

    @property
    def on_nodes(self) -> bool:
        """Whether it holds its nodes now; ``squeue --json`` also lists jobs that are over."""
        return "COMPLETING" in self.states or not self.states & _OVER


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node as Slurm sees it: ``states`` are base state and flags together, ``reason`` is the administrator's."""

    name: str
    states: frozenset[str]
    reason: str = ""

    @property
    def drained(self) -> bool:
        return "DRAIN" in self.states or bool({"DRAINED", "DRAINING"} & self.states)


def job_name(session: str) -> str:
    """The name of the allocation that belongs to a session of ours."""
    return f"benchconsole-{session}"


def jobs(squeue: str) -> tuple[JobSeen, ...]:
    """Every job in the text of ``squeue --json``, finished ones too. ProbeOutputError when it cannot be trusted."""
    document = _document(squeue, "squeue --json")
    if not isinstance(document.get("jobs"), list):
        raise ProbeOutputError("no list of jobs in the document", "squeue --json")
    return tuple(_job(read_mapping(entry)) for entry in read_array(document["jobs"]))


def nodes(sinfo: str) -> dict[str, NodeSeen]:
    """Every node in the text of ``sinfo --json``, by its name in Slurm. ProbeOutputError as for ``jobs``."""
    found: dict[str, NodeSeen] = {}
    for seen in _nodes(sinfo):
        known = found.get(seen.name)
        states = seen.states | known.states if known else seen.states
        reason = seen.reason or (known.reason if known else "")
        found[seen.name] = NodeSeen(seen.name, states, reason)
    return found


def occupations(squeue: str, sinfo: str, *, session: str = "") -> Mapping[str, str]:
    """Nodes that are not free, by their name in Slurm, with the reason in words; free nodes are left out.

    ``squeue`` and ``sinfo`` are what the two commands print with ``--json``. Jobs named after ``session`` are
    ours and do not count. Words are like ``job 4711 of alice, runs until 2026-11-22 04:10 UTC`` or
    ``drained: bad DIMM``; foreign text in them is one printable line. Raises ProbeOutputError.
    """
    seen = [job for job in jobs(squeue) if job.on_nodes]
    known = {name for job in seen for name in job.nodes}
    foreign = [job for job in seen if not session or job.name != job_name(session)]
    found = group_by_key((name, _job_words(job)) for job in foreign for name in job.nodes)
    for node in nodes(sinfo).values():
        words = list(_node_words(node, has_job=node.name in found, accounted=node.name in known))
        if words:
            found.setdefault(node.name, []).extend(words)
    return {name: "; ".join(words) for name, words in found.items()}


def _job_words(job: JobSeen) -> str:
    who = f"job {job.id} of {job.user or 'somebody'}"
    if "COMPLETING" in job.states:
        return f"{who}, is ending"
    if job.ends is None:
        return f"{who}, without a time limit"
    return f"{who}, runs until {datetime.fromtimestamp(job.ends, UTC):%Y-%m-%d %H:%M} UTC"


def _node_words(node: NodeSeen, *, has_job: bool, accounted: bool) -> Iterator[str]:
    """Why a node is not free. A site may hide the jobs of others; their nodes are allocated all the same."""
    because = f": {node.reason}" if node.reason else ""
    if node.drained:
        yield f"{'draining' if has_job else 'drained'}{because}"
    for state in sorted(node.states - _HARMLESS - _USED - {"DRAIN", "DRAINED", "DRAINING"}):
        yield _WORDS.get(state, state.lower().replace("_", " ")) + ("" if node.drained else because)
    if node.states & _USED and not accounted:
        yield f"{'/'.join(sorted(node.states & _USED)).lower()}, by a job that is not shown to us"


def _job(entry: Document) -> JobSeen:
    number = _number(entry.get("job_id"))
    states = _states(entry.get("job_state"))
    if number is None or not states:
        raise ProbeOutputError(f"a job {shorten(str(entry.get('job_id')))} without number or state", "squeue --json")
    ends = _number(entry.get("end_time"))
    unlimited = _number(entry.get("time_limit")) is None and entry.get("time_limit", 0) != 0
    return JobSeen(
        int(number),
        _line(entry.get("name")),
        _line(entry.get("user_name")) or _line(entry.get("user_id")),
        states,
        _names(entry.get("nodes")),
        ends if ends and not unlimited and ends < _LAST_TIME else None,
    )


_LAST_TIME = 253_402_300_000.0  # the year 9999: what Slurm writes for "never" lies far beyond


def _nodes(text: str) -> Iterator[NodeSeen]:
    document = _document(text, "sinfo --json")
    if "nodes" in document:
        for each in read_array(document["nodes"]):
            entry = read_mapping(each)
            states = _states(entry.get("state")) | _states(entry.get("state_flags"))
            yield from _seen((_line(entry.get("name")),), states, entry)
        return
    if "sinfo" not in document:
        raise ProbeOutputError("neither nodes nor sinfo in the document", "sinfo --json")
    for each in read_array(document["sinfo"]):
        row = read_mapping(each)
        names = [name for part in read_array(read_mapping(row.get("nodes")).get("nodes")) for name in _names(part)]
        yield from _seen(names, _states(read_mapping(row.get("node")).get("state")), row)


def _seen(names: Iterable[str], states: frozenset[str], entry: Document) -> Iterator[NodeSeen]:
    reason = entry.get("reason")
    words = _line(read_mapping(reason).get("description")) if isinstance(reason, dict) else _line(reason)
    for name in names:
        if not name or not states:
            raise ProbeOutputError(f"a node {name!r} without name or state", "sinfo --json")
        yield NodeSeen(name, states, words)


def _document(text: str, source: str) -> Document:
    """The one JSON object of ``text``, whole; notices may stand in front of it."""
    try:
        value = json.loads(text[text.index("{") :])
    except (ValueError, RecursionError):
        raise ProbeOutputError(f"{shorten(text, 80) or 'nothing'}, no whole JSON object", source) from None
    document = read_mapping(value)
    for error in read_array(document.get("errors")):
        words = read_mapping(error).get("description") or read_mapping(error).get("error") or error
        raise ProbeOutputError(f"the error {shorten(str(words))}", source)
    return document


def _states(value: object) -> frozenset[str]:
    """One word or a list of words; older versions join several with ``+``."""
    words = read_array(value) if isinstance(value, list) else [value]
    return frozenset(
        part for word in words if isinstance(word, str) for part in word.upper().rstrip("*").split("+") if part
    )


def _number(value: object) -> float | None:
    """A plain number, or one in the form with ``set`` and ``infinite``; None where none is set."""
    if isinstance(value, dict):
        return read_number(value.get("number")) if value.get("set") and not value.get("infinite") else None
    return read_number(value)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, str) or not value.strip():
        return ()
    try:
        return tuple(expand(value))
    except SelectionError as error:
        raise ProbeOutputError(f"the node list {shorten(value, 80)}", "names such as n[1-4]") from error


def _line(value: object) -> str:
    return shorten(str(value), _LONGEST) if isinstance(value, str | int) and value != "" else ""


_TIMEOUT = 30.0
_NOT_FOUND = 127
_NO_CLUSTER = ("Could not establish a configuration source", "Unable to process configuration file")


async def occupied(remote: Remote, *, session: str = "") -> Mapping[str, str] | None:
    """Nodes that are not free (see ``occupations``), or None when this machine belongs to no Slurm cluster.

    Raises RemoteError when the machine cannot be asked, ProbeOutputError when Slurm gives no answer.
    """
    squeue = await ask(remote, "squeue", "--json")
    if squeue is None:
        return None
    sinfo = await ask(remote, "sinfo", "--json")
    if sinfo is None:
        raise ProbeOutputError("squeue but no sinfo", "both commands of Slurm's client package")
    return occupations(squeue, sinfo, session=session)


async def ask(remote: Remote, *argv: str) -> str | None:
    """The text that a command of Slurm prints; None when there is no such command or no cluster behind it."""
    output = await remote.run(argv, timeout=_TIMEOUT)
    if output.exit_status == _NOT_FOUND or (
        output.exit_status and any(words in output.error_text for words in _NO_CLUSTER)
    ):
        return None
    if output.exit_status != 0 or output.truncated:
        raise ProbeOutputError(f"{argv[0]}: {first_line(output) or 'no message'}", f"{argv[0]} to answer")
    return output.text


def first_line(output: Output) -> str:
    """The first line of what a command complained of, at most 300 characters."""
    lines = (output.error_text + "\n" + output.text).splitlines()
    return next((line.strip()[:300] for line in lines if line.strip()), "")
