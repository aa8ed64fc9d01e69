"""A launch, from its first command to the proof that nothing of it runs on.

Everything happens in one script on the head node, in a directory of its own, under the watchdog of its
``Remote``: when the console goes away, so does ``mpirun``, and its daemons on the other nodes notice. The
session's marker is carried to daemons and ranks, so that a search of all nodes finds those that did not notice.
"""

import asyncio

from benchconsole.probes import scratch
from benchconsole.probes.launch.job import Job, tasks_per_node
from benchconsole.probes.launch.launch_result import failure
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import FailedAt, Failure, Output
from benchconsole.probes.model.remote import Contact, Remote, RemoteError

MARGIN = 20.0
"""Seconds beyond the job's own for starting the daemons, and for mpirun to end by its own limit."""

_SEARCH = 40.0
"""Seconds that one node has to answer the search after a job that ended badly."""

# $1 scratch root, $2 bytes, $3 may run as root, $4 and $5 nodes and slots for Slurm, $6 mpirun, $7 results;
# then name and text (for printf) of each file, then -- and the command line.
# Inside an allocation of Slurm what its step says of this one node is taken away and the whole job named instead.
_SCRIPT = scratch.script(
    r"""
    place=$1 bytes=$2 root=$3 names=$4 tasks=$5 mpirun=$6 results=$7; shift 7;
    command -v "$mpirun" >/dev/null 2>&1 || { say "mpirun: command not found"; exit 127; };
    if [ "$(id -u)" = 0 ]; then
        [ "$root" = 1 ] || refuse "the login is root, and ranks are not started as root unless as_root=1";
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;
    fi;
    scratch "$place" "$bytes" 64;
    while [ "$1" != -- ]; do printf "%b" "$2" >"$made/$1"; shift 2; done;
    shift; cd "$made" || exit 1;
    export TMPDIR="$made";
    if [ "$SLURM_JOB_ID" ]; then
        job=$SLURM_JOB_ID conf=$SLURM_CONF;
        for v in $(env | sed -n "s/^\(SLURM[A-Z0-9_]*\)=.*/\1/p"); do unset "$v"; done;
        export SLURM_JOB_ID="$job" SLURM_JOBID="$job" SLURM_NODELIST="$names" SLURM_TASKS_PER_NODE="$tasks";
        export SLURM_OVERLAP=1;
        if [ "$conf" ]; then export SLURM_CONF="$conf"; fi;
        mv hosts.slurm hosts;
    else
        export OMPI_MCA_orte_launch_agent="env BENCHCONSOLE_SESSION=$session orted";
    fi;
    run "$@" || exit $?;
    for name in $results; do cat -- "$name" || exit 1; done
    """
)


async def launch(contact: Contact, job: Job) -> Output:
    """Run ``job`` from the first node of ``contact``: its standard output, then the text of its results.

    Raises RemoteError with what failed, on which node; by then every node of the contact has been searched
    for what the job left there, and that was ended. Cancelling ends the job's launcher and with it the job.
    """
    try:
        output = await contact.here.run(command(job), timeout=job.seconds + MARGIN)
        scratch.heed(output, contact.here.node)
    except RemoteError as error:
        if error.failure.stage is FailedAt.REFUSED:
            raise
        known = failure(error.output, job) if error.failure.stage is FailedAt.KILLED and error.output else None
        raise RemoteError(await _after(contact, known or error.failure), error.output) from error
    failed = failure(output, job)
    if failed is not None:
        raise RemoteError(await _after(contact, failed), output)
    return output


def command(job: Job) -> list[str]:
    """The one command of a launch, to be run on the head node. Raises LaunchError."""
    options, names = job.options, ",".join(node.id for node in job.nodes)
    tasks = tasks_per_node(job.nodes, options)
    head = [options.scratch, f"{job.writes:.0f}", str(options.as_root), names, tasks, options.mpirun]
    # on one line, as printf %b turns it back: csh as a login shell takes no argument of several lines
    texts = {name: text.replace("\\", "\\\\").replace("\n", "\\n") for name, text in job.texts().items()}
    files = [word for file in texts.items() for word in file]
    return ["sh", "-c", _SCRIPT, "benchconsole-launch", *head, " ".join(job.results), *files, "--", *job.arguments()]


async def _after(contact: Contact, failed: Failure) -> Failure:
    """The failure, with what had to be ended on the nodes of the job and which of them did not answer."""
    told = await asyncio.gather(*(_searched(remote) for remote in contact.everyone))
    words = [each for each in told if each]
    detail = "; ".join((failed.detail, *words[:4], *([f"and {len(words) - 4} nodes more"] if len(words) > 4 else [])))
    return Failure(failed.stage, detail[:1000], failed.node)


async def _searched(remote: Remote) -> str:
    """End what the session left on one node; in words, empty when there was nothing."""
    from benchconsole.probes.leftovers import MARKER, end_processes, find_processes

    try:
        async with asyncio.timeout(_SEARCH):
            session = (await remote.run(("printenv", MARKER), timeout=_SEARCH)).text.strip()
            found = await find_processes(remote, session) if session else ()
            alive = await end_processes(remote, found)
    except RemoteError as error:
        return f"{remote.node} could not be searched: {error.failure.stage}"
    except (ProbeError, TimeoutError) as error:
        return f"{remote.node} could not be searched: {str(error) or 'no answer in time'}"
    lives = f", {len(alive)} live on" if alive else ""
    ended = f"{len(found) - len(alive)} of its processes were still on {remote.node} and were ended{lives}"
    return ended if found else ""
