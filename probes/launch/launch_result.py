"""The meaning of the end of ``mpirun``: which failure, on which node, and the first useful line of its output.

Pure. Open MPI wraps one useful line in twenty of advice, and its exit status says little: 0 also when the
payload took another network than the one that was named. Statuses and texts are those of Open MPI 4.1.
"""

import re
from collections import Counter

from benchconsole.probes.launch.job import Job
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import parse_address
from benchconsole.topology.model.fabric import NodeId

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
_SSH_NODE = (
    r"(?m)(?:connect to host |resolve hostname |^(?:\S+@)?)(?P<node>[\w.:-]+?)"
    r"(?: port |: (?:Permission|Name|Temporary))"
)
_ENDINGS = (
    (FailedAt.REFUSED, r"attempt to run as root", "mpirun does not run as root unless as_root=1", None),
    (
        FailedAt.TIMEOUT, r"user-provided time limit for job execution has been reached", "no end within {seconds:g} s",
        None,
    ),
    (
        FailedAt.LOST, r"lost communication with a remote daemon",
        "the launcher lost its daemon there: the node, its network or the daemon died",
        r"Remote daemon:.* on node (?P<node>\S+)",
    ),
    (
        FailedAt.KILLED, r"noticed that process rank \d+ .*exited on signal[^\n]*", "{line}",
        r"(?s)noticed that process rank \d+ .*? on node (?P<node>\S+)",
    ),
    (
        FailedAt.MISSING_TOOL, r"unable to find the specified executable file|Executable: \S+",
        "{program} is not installed", r"Node:\s+(?P<node>\S+)",
    ),
    (
        FailedAt.MISSING_TOOL, r"[^\n]*\borted[^\n]*(?:not found|No such file)[^\n]*",
        "orted is not on the PATH of a login without a terminal (Debian package openmpi-bin): {line}", None,
    ),
    (
        FailedAt.MISSING_TOOL, r"No module named '?mpi4py", "python3 has no mpi4py (Debian package python3-mpi4py)",
        None,
    ),
    (FailedAt.TOOL, r"[^\n]*not enough slots available[^\n]*", "{line}", None),
    (
        FailedAt.LOGIN,
        r"[^\n]*(?:Host key verification failed|HOST IDENTIFICATION HAS CHANGED|Permission denied \()[^\n]*",
        "ssh from {head}: {line}", _SSH_NODE,
    ),
    (
        FailedAt.UNREACHABLE,
        r"[^\n]*(?:No route to host|Connection (?:refused|timed out)|Could not resolve|Network is unreach)[^\n]*",
        "ssh from {head}: {line}", _SSH_NODE,
    ),
)  # fmt: skip
"""Failure, text that tells it, what to say (``{line}`` is the line of the match), and the node that is named."""


def failure(output: Output, job: Job) -> Failure | None:
    """How the job failed; None when it ended well and its payload took the network that was named."""
    wrong = _wrong_network(output, job)
    if output.exit_status == 0 and output.signal is None:
        return wrong
    text, head = output.error_text, job.nodes[0].id
    if output.exit_status == 127 and f"{_SAID}mpirun" in text:
        words = "mpirun is not installed (Debian package openmpi-bin), or not on the PATH of a login without a terminal"
        return Failure(FailedAt.MISSING_TOOL, words, head)
    for stage, seen, says, named in _ENDINGS:
        if match := re.search(seen, text):
            fields = {"head": head, "program": job.program[0], "seconds": job.seconds}
            on = re.search(named, text) if named else None
            detail = says.format(line=shorten(match[0].strip(), 240), **fields)
            return Failure(stage, detail, _find_node(job, on["node"] if on else ""))
    if wrong is not None:
        return wrong
    if output.exit_status == 137 or output.signal == "KILL":
        return Failure(FailedAt.KILLED, "mpirun was killed", head)
    how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
    line = useful_line(text) or useful_line(output.text) or "no message"
    return Failure(FailedAt.TOOL, f"{how}: {line}", head)


def useful_line(text: str) -> str:
    """The first line that is no frame, no advice on aggregation and no program trace; the error of a traceback."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NOISE.fullmatch(line.strip())]
    for index, line in enumerate(lines):
        if line.startswith("Traceback "):
            after = filter(re.compile(r"[\w.]+(?:Error|Exception|Exit|Interrupt)\b").match, lines[index + 1 :])
            return shorten(next(after, line), 300)
        return shorten(line, 300)
    return ""


def _wrong_network(output: Output, job: Job) -> Failure | None:
    """A node that has no interface in any network of the payload: Open MPI then takes whichever it finds."""
    wanted = job.rails.data.split(",")
    ignored = {(found["node"], found["value"]) for found in _IGNORED.finditer(output.error_text)}
    for name, count in Counter(node for node, value in sorted(ignored) if value in wanted).items():
        if count >= job.rails.choices:
            words = f"no interface in the data network {job.rails.data}, so the payload may have taken another"
            return Failure(FailedAt.TOOL, words, _find_node(job, name))
    return None


def _find_node(job: Job, called: str) -> NodeId:
    """The node that Open MPI calls by its name, its first label, or an address; the head where it is nobody."""
    for node in job.nodes if called else ():
        names = (str(node.id), node.address, node.data_address)
        if called in names or called in [each.partition(".")[0] for each in names if parse_address(each) is None]:
            return node.id
    return job.nodes[0].id
