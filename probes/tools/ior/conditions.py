"""The conditions of IOR's numbers: what its command line set or left at a default, and what its header states.

By default nothing is flushed before the time of a phase ends, files are opened through the page cache, every task reads
what its own node wrote, and nobody acts collectively. Only the ordering between tasks is printed by each version.

Source: IOR 2.10.3 ``src/C/parse_options.c``, 3.0 to 4.1 ``src/parse_options.c`` and ``src/ior-output.c``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.probes.readers.command_lines import Options, read_options, split_command

COMMAND = re.compile(r"\s*Command line(?P<used> used)?\s*:\s*(?P<words>\S.*)")
"""The line of a header with the command line; up to 3.1 it says ``used``."""
_SHORT = "a:A:b:BcCd:D:eEf:FgG:hHi:I:j:J:kKmM:nN:o:O:pPqQ:rRs:St:T:uU:vVwWxX:yYzZ"
"""Those that all versions read alike; ``-l`` takes a value in some."""
_LONG = ("posix.odirect",)
_REPORTING = re.compile(r"(?i)(?:summary(?:Format|File)|saveRankPerformanceDetailsCSV|verbose)=[^,]*")
"""Directives of ``-O`` that say how results are printed."""
_COLLECTIVE = frozenset(("MPIIO", "HDF5", "NCMPI"))
"""Interfaces whose tasks can act together."""
_ORDERINGS = (
    (re.compile(r"no tasks offsets"), "0"),
    (re.compile(r"constant task offsets?(?: ?=.*)?"), "1"),
    (re.compile(r"random task offsets.*"), "random"),
)
_POSITIVE = re.compile(r"[1-9][0-9]{0,8}")
_PATTERN = re.compile(r"(?:segmented|strided) \((?P<segments>[0-9]{1,9}) segments?\)")


@dataclass(frozen=True, slots=True)
class CommandConditions:
    """Conditions by a command line: flushing, the page cache, amounts and order; unknown where it leads elsewhere.

    From 3.2 on data that are checked (``-R``) are compared in the time of reading, before in a phase after it.
    """

    options: Options | None = None
    compares_in_time: bool = False

    def label(self, operation: str, api: str | None) -> dict[str, str]:
        """The labels of a number; of writing only what happens there."""
        if self.options is None or "f" in self.options or not _only_reports(self.options.get("O", "")):
            return {}
        found = {
            "barriers": str(int("g" in self.options)),
            "pattern": "random" if "z" in self.options else "sequential",
        }
        amounts = {"segments": self.options.get("s", "1"), "stonewall": self.options.get("D", "0")}
        found |= {name: value for name, value in amounts.items() if _POSITIVE.fullmatch(value)}
        if api == "POSIX":
            found["direct"] = str(int("B" in self.options or "posix.odirect" in self.options))
        if api in _COLLECTIVE:
            found["method"] = "collective" if "c" in self.options else "independent"
        if operation == "write":
            found["end_fsync"] = str(int("e" in self.options))
            found |= {"fsync": "1"} if "Y" in self.options else {}
        elif self.compares_in_time:
            found |= {"verify": "1"} if "R" in self.options else {}
        return found


UNKNOWN = CommandConditions()
"""Of a command line that was not printed."""


def _only_reports(directives: str) -> bool:
    return all(_REPORTING.fullmatch(each) for each in directives.split(",") if each)


def read_command(text: str, *, before_3_2: bool = False) -> CommandConditions:
    """The conditions of a command line as IOR prints it."""
    return CommandConditions(_read(split_command(text)), compares_in_time=not before_3_2)


def _read(words: Sequence[str]) -> Options | None:
    """The options of IOR; interfaces have long ones of their own, which change nothing that is told here."""
    return read_family_options([word for word in words if word[:2] != "--" or word[2:] in _LONG], _SHORT, _LONG)


def read_family_options(words: Sequence[str], short: str, long: Sequence[str] = ()) -> Options | None:
    """The options of a program of the IOR package, in the notation of getopt; None where there are no words.

    None also for several flags in one word (``-Ce``): from 3.2 on only the first of them is heeded.
    """
    flags = "".join(re.findall(r"\w(?!:)", short))
    joined = re.compile(rf"-([{flags}])(?!\1*$).+")
    return read_options(words, short, long) if words and not any(map(joined.fullmatch, words)) else None


def read_statement(key: str, value: str) -> dict[str, str]:
    """The labels of a line of the header: order within a file and between tasks, segments, time that stops the test."""
    text = value.strip()
    if key == "ordering in a file" and (word := re.match(r"(sequential|random)\b", text)):
        return {"pattern": word[1]}
    if key == "ordering inter file":
        return next(({"reorder": word} for pattern, word in _ORDERINGS if pattern.fullmatch(text)), {})
    if key == "stonewallingTime" and _POSITIVE.fullmatch(text):
        return {"stonewall": text}
    if key == "segments" and re.fullmatch(r"[0-9]{1,9}", text):
        return {"segments": text}
    if key == "pattern" and (match := _PATTERN.fullmatch(text)):
        return {"segments": match["segments"]}
    return {}
