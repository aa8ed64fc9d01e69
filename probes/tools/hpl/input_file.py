"""``HPL.dat``, the input file of HPL, which HPC Challenge reads too: one problem on one grid of processes.

Source: HPL's ``TUNING`` and ``HPL_pdinfo.c``. The settings besides the problem are those that ``TUNING`` starts from.
"""

import math
import re
from collections.abc import Sequence

from benchconsole.probes.api import Output, ProbeOutputError
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.tools.mpi.program import find_input

_DEVICES = {"stdout": 6, "file": 8}
_COMPLAINT = re.compile(r"HPL ERROR from.*|HPL WARNING from.*\s*>>> cannot open file .*")
_INPUT = """\
HPLinpack benchmark input file
made by benchconsole
HPL.out      output file name (if any)
{device}            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{problem}    Ns
1            # of NBs
{block}      NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{rows}       Ps
{columns}    Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""


def format_input(problem: int, block: int, grid: tuple[int, int], *, out: str = "stdout") -> str:
    """The file for order ``problem`` in blocks of ``block`` on ``grid`` (P, Q), printing to ``out``: stdout or file."""
    rows, columns = grid
    return _INPUT.format(device=_DEVICES[out], problem=problem, block=block, rows=rows, columns=columns)


def find_grid(ranks: int) -> tuple[int, int]:
    """A grid of ``ranks`` as square as can be, with no fewer columns than rows."""
    rows = max(each for each in range(1, math.isqrt(ranks) + 1) if ranks % each == 0)
    return rows, ranks // rows


def read_problem(lines: Sequence[str]) -> dict[str, str]:
    """``n``, ``nb``, ``p``, ``q`` of an input file that ``input_text`` wrote; nothing where it is none."""
    if len(lines) < len(_INPUT.splitlines()):
        return {}
    return {name: lines[index].split()[0] for name, index in (("n", 5), ("nb", 7), ("p", 10), ("q", 11))}


def find_order(bytes_: float, block: int) -> int:
    """The greatest order whose matrix of doubles takes at most ``bytes_``, in whole blocks where it has one."""
    largest = math.isqrt(int(bytes_ / 8))
    return largest // block * block or largest


def find_problem(output: Output, name: str) -> dict[str, str]:
    """``read_problem`` of the file ``name`` that a launch carried.

    ProbeOutputError when HPL says, on either stream, that it did not understand its input. It goes on with problems of
    its own then: HPC Challenge prints ``Success=1`` for them.
    """
    found = _COMPLAINT.search(output.error_text) or _COMPLAINT.search(output.text)
    if found:
        after = (output.error_text + output.text).partition(found[0])[2].split("<<<")[0]
        raise ProbeOutputError(shorten(found[0] + after), "HPL to read its input")
    return read_problem(find_input(output.argv, name))
