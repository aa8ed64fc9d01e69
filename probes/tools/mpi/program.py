"""Base of the probes of MPI programs: name, launch, input, and the words of ranks that died.

Launchers of other MPI libraries end with 0 after ranks that died, and what somebody captured has no exit status at
all: the words on either stream decide.
"""

import re
from abc import abstractmethod
from collections.abc import Sequence

from benchconsole.probes.api import Contact, Given, Output, Probe, Safety, Target
from benchconsole.probes.launch import Job, launch
from benchconsole.probes.readers.lines import refuse_lines, split_lines
from benchconsole.probes.readers.readings import refuse_failed

_DIED = re.compile(
    r"MPI_ABORT (?:was )?invoked|MPI_ERRORS_ARE_FATAL|An error occurred in MPI_|BAD TERMINATION OF ONE OF YOUR"
    r"|Process received signal|exited on signal \d"
    r"|(?:mpirun|mpiexec|orterun) (?:has exited due|noticed that|detected that)"
    r"|Fatal error in (?:P?MPI_|internal_)|Abort\(\d+\) on node|application called MPI_Abort"
    r"|srun: error: \S+ tasks? \S+ (?:Exited|Killed|Aborted|Terminated|Segmentation|Bus error)"
)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}|/[A-Za-z0-9_./+@-]{1,400}")


class MpiProgram(Probe):
    """A probe that is one launch: a subclass says which in ``job``."""

    safety = Safety.LOADS

    @abstractmethod
    def job(self, target: Target) -> Job:
        """What is launched; PlanError for options, names and networks that do not fit."""

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Wait for the round, then launch."""
        job = self.job(target)
        await contact.together()
        return (await launch(contact, job),)


def read_program(given: Given) -> str:
    """The option ``program``: a name on the PATH of the nodes, or an absolute path; PlanError for anything else."""
    text = given.text("program")
    if not _NAME.fullmatch(text):
        raise given.refused("program", "the name of a program, or its absolute path")
    return text


def refuse_died(output: Output, tool: str) -> None:
    """ProbeOutputError when the command failed, or when its text says that a rank or the launcher did."""
    refuse_failed(output, tool)
    refuse_lines(_DIED, split_lines(f"{output.text}\n{output.error_text}"), f"every rank of {tool} to end well")


def find_input(argv: Sequence[str], name: str) -> list[str]:
    """The lines of the file ``name`` that a launch carried along (``probes.launch``); none where it carried none."""
    if name not in argv[:-1]:
        return []
    text = argv[argv.index(name) + 1]
    return re.sub(r"\\(\\|n)", lambda match: "\n" if match[1] == "n" else "\\", text).splitlines()
