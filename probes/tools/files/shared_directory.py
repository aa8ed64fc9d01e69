"""Programs of several nodes that write into one directory that all of them see.

``probes.launch`` makes a directory of its own below the option ``scratch`` of the first node, runs ``mpirun`` in
it and removes it by its path. Where ``scratch`` is on a shared file system, that directory is there on every node,
and every rank starts in it. Open MPI starts ranks in the home directory where it is not: so each rank looks for
the mark of the directory first, and starts nowhere else.
"""

from collections.abc import Sequence

from benchconsole.probes import scratch
from benchconsole.probes.api import Contact, Output, RemoteError
from benchconsole.probes.launch import Job, launch
from benchconsole.topology.copying import replace

# $1 the mark of a directory of ours; then the program. Every rank of the job comes through here.
_SCRIPT = scratch.one_line(
    r"""
    mark=$1; shift;
    LC_ALL=C; export LC_ALL;
    host=$(uname -n);
    [ -f "$mark" ] || { echo "benchconsole: refused: the directory of the run is not on $host:
        scratch must name a file system that all nodes share" >&2; exit 77; };
    command -v "$1" >/dev/null 2>&1 || { echo "$1: command not found on $host" >&2; exit 127; };
    exec "$@"
    """
)


def in_shared(program: Sequence[str]) -> tuple[str, ...]:
    """``program`` for ranks, to be started only in the directory of the run; paths in it are relative to that."""
    return ("sh", "-c", _SCRIPT, "benchconsole-rank", scratch.MARK, *program)


async def launch_shared(contact: Contact, job: Job) -> Output:
    """``launch`` for a job made by ``in_shared``; a rank that refused to start is told as a refusal, not a failed tool.

    Raises RemoteError as ``launch`` does.
    """
    try:
        return await launch(contact, job)
    except RemoteError as error:
        if error.output is not None:
            scratch.heed(replace(error.output, exit_status=scratch.REFUSED), contact.here.node)
        raise
