"""The reason that a tool gave itself for its failure, among frames, hints and usage texts.

Open MPI sets its sentences between rules of dashes and ends with a hint; tools that take options print their usage
before or after the one line that says what was wrong with them; some say all of it on standard output.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from benchconsole.probes.api import Output
from benchconsole.probes.readers.lines import shorten, split_lines

_LONGEST = 400
_MOST = 2000
"""Lines of a stream that are looked at from its begin and from its end; bounds the work on long outputs."""
_RULE = re.compile(r"[-=*#~_+ ]{4,}")
_USAGE = re.compile(
    r"(?i)usage(?: of [^:]{1,80})?:.*|(?:valid |available )?options(?: are)?:|where(?: the)? options .*:"
)
_HINT = re.compile(
    r"(?i)(?:try|run|see|use|type) .{0,60}(?:--?h(?:elp)?\b|\bman\b).*|for more (?:help|information).*"
    r"|Primary job +terminated normally.*|a non-zero exit code.*|Per user-direction, the job has been aborted.*"
    r"|mpirun detected that one or more processes exited.*|the job to be terminated\. The first process to do so was:"
    r"|\[[^\]]*\] (?:\d+ more process|Set MCA parameter).*|(?:Process name|Exit code): .*"
    r"|srun: (?:Job step aborted|Terminating|launch/slurm).*|.*CANCELLED AT.*|Command exited with non-zero status.*"
)
_SAYS = re.compile(
    r"(?i)\berr(?:or|no)?\b|fail|fatal|exception|cannot|can't|could ?n[o']t|unable|invalid|illegal|not (?:found|enough)"
    r"|no such|denied|refused|unknown|unrecogni[sz]ed|unreach|not (?:supported|permitted|available|allowed|installed)"
    r"|no (?:space|route|answer|permission)|missing|requires?\b|must\b|timed? ?out|abort|killed|died"
    r"|expected|unsupported"
)


def find_reason(output: Output) -> str:
    """The sentence in which the tool says why it failed, as one short line; no text where it said nothing.

    The first line that speaks of a failure, on standard error before standard output; else the last line of standard
    error, else of standard output, that is no frame, hint or usage.
    """
    found = [list(_find_sentences(text)) for text in (output.error_text, output.text)]
    for sentences in found:
        for sentence in sentences:
            if _SAYS.search(sentence):
                return shorten(sentence)
    return next((shorten(sentences[-1]) for sentences in found if sentences), "")


def _find_sentences(text: str) -> Iterator[str]:
    """Lines, and paragraphs that begin below a rule, which are sentences of several lines."""
    lines = split_lines(text, _LONGEST)
    lines = lines if len(lines) <= 2 * _MOST else [*lines[:_MOST], *lines[-_MOST:]]
    in_usage, index = False, 0
    while index < len(lines):
        line = lines[index].strip()
        paragraph = 1
        if _RULE.fullmatch(line):
            after = (one.strip() for one in lines[index + 1 : index + 21])
            below = list(takewhile(lambda one: bool(one) and not _RULE.fullmatch(one), after))
            line, paragraph = " ".join(below), 1 + len(below)
        in_usage = bool(_USAGE.fullmatch(line)) or (in_usage and (not line or lines[index][:1] in (" ", "\t", "-")))
        if line and not in_usage and not _HINT.fullmatch(line):
            yield line
        index += paragraph
