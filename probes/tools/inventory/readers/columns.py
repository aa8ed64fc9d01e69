"""The table of counters per processor that ``/proc/interrupts`` and ``/proc/softirqs`` share.

A row counts only with a number for every processor of the heading. Our own script adds the
columns up on the node, where 256 of them would not fit; its heading then is ``SUM``.
"""

import re
from collections.abc import Iterator, Sequence

_HEAD = re.compile(r"\s*CPU[0-9]+(?:\s+CPU[0-9]+)*\s*")
_SUM = "SUM"
_ROW = re.compile(r"\s*(?P<key>[A-Za-z0-9_]+):(?P<rest>(?:\s+\S.*)?)")
_COUNT = re.compile(r"[0-9]{1,20}")

InterruptRow = tuple[str, int, str]
"""Key, the sum over all processors, and the words behind the numbers."""

SUMMED = r"""NR == 1 { n = NF; print "SUM"; next }
{
    sum = 0
    for (i = 2; i <= n + 1 && i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i
    if (sum == 0) next
    if ($1 ~ /^[0-9]+:$/ && ++rows > 256) { bounded = 1; next }
    rest = ""
    for (; i <= NF; i++) rest = rest " " $i
    printf "%s %.0f%s\n", $1, sum, rest
}
END { if (bounded) print "# only the first 256 interrupts" }"""
"""The sums as awk makes them, exact up to 2^53; rows that are all zero, and numbered ones after 256, are left out."""


def read_rows(lines: Sequence[str]) -> Iterator[InterruptRow]:
    """The whole rows below the first heading."""
    columns = 0
    for line in lines:
        if not columns:
            columns = 1 if line.strip() == _SUM else line.count("CPU") if _HEAD.fullmatch(line) else 0
            continue
        row = _ROW.fullmatch(line)
        words = row["rest"].split() if row else []
        counts = [word for word in words[:columns] if _COUNT.fullmatch(word)]
        if row and len(counts) == columns:
            yield row["key"], sum(map(int, counts)), " ".join(words[columns:])
