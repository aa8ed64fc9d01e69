"""The meaning of the end of ``mpirun``: which failure, on which node, and the first useful line of its output.

Pure. Open MPI wraps one useful line in twenty of advice, and its exit status says little: 0 also when the
payload took another network than the one that was named. Statuses and texts are those of Open MPI 4.1.
"""

import re
from dataclasses import dataclass

from benchconsole.probes.launch.hostfile import is_literal
from benchconsole.probes.launch.openmpi import Job
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.readers.lines import shorten
from benchconsole.topology.model.fabric import Node, NodeId

_SAID = "benchconsole: "
_NOISE = re.compile(
    r"-{20,}|\[[^\]]*\] (?:\d+ more process|Set MCA parameter).*|mpirun: Forwarding signal 18 to job.*"
    r"|Primary job\s+terminated normally.*|a non-zero exit code\..*|mpirun detected that one or more processes exited.*"
)
_IGNORED = re.compile(
    r"An invalid value was given for (?:btl|oob)_tcp_if_include.*?Local host:\s*(?P<node>\S+)\s+"
    r"Value:\s*(?P<value>\S+)\s+Message:\s*(?P<why>[^\n]*)",
    re.DOTALL,
)
_NEVER = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class _Ending:
    """Text that tells a failure, the node that it names, and what to say; ``{line}`` is the line of the match."""

    stage: FailedAt
    seen: re.Pattern[str]
    says: str
    on: re.Pattern[str] = _NEVER


_SSH_NODE = re.compile(
    r"(?:connect to host |resolve hostname |^(?:\S+@)?)(?P<node>[\w.:-]+?)(?: port |: (?:Permission|Name|Temporary))",
    re.M,
)
_ENDINGS = (
    _Ending(FailedAt.REFUSED, re.compile(r"attempt to run as root"), "mpirun does not run as root unless as_root=1"),
    _Ending(
        FailedAt.TIMEOUT,
        re.compile(r"user-provided time limit for job execution has been reached"),
        "no end within {seconds:g} s",
    ),
    _Ending(
        FailedAt.LOST,
        re.compile(r"lost communication with a remote daemon"),
        "the launcher lost its daemon there: the node, its network or the daemon died",
        re.compile(r"Remote daemon:.* on node (?P<node>\S+)"),
    ),
    _Ending(
        FailedAt.KILLED,
        re.compile(r"noticed that process rank \d+ .*exited on signal[^\n]*"),
        "{line}",
        re.compile(r"noticed that process rank \d+ .*? on node (?P<node>\S+)", re.DOTALL),
    ),
    _Ending(
        FailedAt.MISSING_TOOL,
        re.compile(r"unable to find the specified executable file|Executable: \S+"),
        "{program} is not installed",
        re.compile(r"Node:\s+(?P<node>\S+)"),
    ),
    _Ending(
        FailedAt.MISSING_TOOL,
        re.compile(r"[^\n]*\borted[^\n]*(?:not found|No such file)[^\n]*"),
        "orted is not on the PATH of a login without a terminal (Debian package openmpi-bin): {line}",
    ),
    _Ending(
        FailedAt.MISSING_TOOL,
        re.compile(r"No module named '?mpi4py"),
        "python3 has no mpi4py (Debian package python3-mpi4py)",
    ),
    _Ending(FailedAt.TOOL, re.compile(r"[^\n]*not enough slots available[^\n]*"), "{line}"),
    _Ending(
        FailedAt.LOGIN,
        re.compile(
            r"[^\n]*(?:Host key verification failed|HOST IDENTIFICATION HAS CHANGED|Permission denied \()[^\n]*"
        ),
        "ssh from {head}: {line}",
        _SSH_NODE,
    ),
    _Ending(
        FailedAt.UNREACHABLE,
        re.compile(
            r"[^\n]*(?:No route to host|Connection (?:refused|timed out)|Could not resolve|Network is unreach)[^\n]*"
        ),
        "ssh from {head}: {line}",
        _SSH_NODE,
    ),
)


def failure(output: Output, job: Job) -> Failure | None:
    """How the job failed; None when it ended well and its payload took the network that was named."""
    wrong = _wrong_network(output, job)
    if output.exit_status == 0 and output.signal is None:
        return wrong
    text = output.error_text
    if output.exit_status == 127 and f"{_SAID}mpirun" in text:
        words = "mpirun is not installed (Debian package openmpi-bin), or not on the PATH of a login without a terminal"
        return Failure(FailedAt.MISSING_TOOL, words, _head(job).id)
    for ending in _ENDINGS:
        match = ending.seen.search(text)
        if match is not None:
            line = shorten(match[0].strip(), 240)
            named = ending.on.search(text)
            fields = {"line": line, "head": _head(job).id, "program": job.program[0], "seconds": job.seconds}
            return Failure(ending.stage, ending.says.format(**fields), _node(job, named["node"] if named else ""))
    return wrong or _unknown(output, job)


def useful_line(text: str) -> str:
    """The first line that is no frame, no advice on aggregation and no program trace; the error of a traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NOISE.fullmatch(line.strip())]
    for index, line in enumerate(lines):
        if line.startswith("Traceback "):
            after = (
                each for each in lines[index + 1 :] if re.match(r"[\w.]+(?:Error|Exception|Exit|Interrupt)\b", each)
            )
            return shorten(next(after, line), 300)
        return shorten(line, 300)
    return ""


def _unknown(output: Output, job: Job) -> Failure:
    if output.exit_status == 137 or output.signal == "KILL":
        return Failure(FailedAt.KILLED, "mpirun was killed", _head(job).id)
    how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
    line = useful_line(output.error_text) or useful_line(output.text) or "no message"
    return Failure(FailedAt.TOOL, f"{how}: {line}", _head(job).id)


def _wrong_network(output: Output, job: Job) -> Failure | None:
    """A node that has no interface in any network of the payload: Open MPI then takes whichever it finds."""
    refused: dict[str, set[str]] = {}
    for match in _IGNORED.finditer(output.error_text):
        if match["value"] in job.rails.data.split(","):
            refused.setdefault(match["node"], set()).add(match["value"])
    for name, values in refused.items():
        if len(values) >= job.rails.choices:
            words = f"no interface in the data network {job.rails.data}, so the payload may have taken another"
            return Failure(FailedAt.TOOL, words, _node(job, name))
    return None


def _head(job: Job) -> Node:
    return job.nodes[0]


def _node(job: Job, called: str) -> NodeId:
    """The node that Open MPI calls by its name, its first label, or an address; the head where it is nobody."""
    return next((node.id for node in job.nodes if called and called in _names(node)), _head(job).id)


def _names(node: Node) -> set[str]:
    """What a node may be called: its names, with and without their domain, and its addresses."""
    called = (str(node.id), node.address, node.data_address)
    return {*called, *(each.partition(".")[0] for each in called if not is_literal(each))}
