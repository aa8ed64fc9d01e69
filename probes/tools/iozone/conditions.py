"""The conditions of iozone's numbers: what its command line set or left at a default, and what the run states above.

By default nothing is flushed before the time of a test ends, and files go through the page cache. Flags may stand in
one word (``-ceI``). A capture that begins behind the statements still has the command line.

Source: iozone 3.263, 3.397 and 3.507, ``src/current/iozone.c``.
"""

from collections.abc import Mapping

from benchconsole.probes.readers.command_lines import read_options, split_command

Conditions = Mapping[str, str]

STATED: Mapping[str, Conditions] = {
    "O_DIRECT feature enabled": {"direct": "1"}, "SYNC Mode.": {"sync": "1"},
    "Include fsync in write timing": {"end_fsync": "1"}, "Include close in write timing": {"close": "timed"},
    "Using mmap files": {"mmap": "1"},
}  # fmt: skip
"""Lines of a run, each with the labels of its numbers."""
_SHORT = "ZQNIBDGCTOMREWovAxamwphcezKJ:j:k:V:r:t:s:f:F:d:l:u:U:S:L:H:+:P:i:b:X:Y:g:n:y:q:"
_OF_WRITING = frozenset(("end_fsync", "sync"))


def read_command(text: str) -> Conditions:
    """The labels of a command line as iozone prints it; none where an option of it is not known."""
    options = read_options(split_command(text), _SHORT)
    if options is None:
        return {}
    found = {"direct": str(int("I" in options)), "end_fsync": str(int("e" in options))}
    found |= {"close": "timed"} if "c" in options else {}
    found |= {"sync": "1"} if "o" in options else {}
    return found | ({"mmap": "1"} if "B" in options else {})


def label(conditions: Conditions, operation: str) -> Conditions:
    """Those of ``conditions`` that an ``operation`` has: reading flushes nothing."""
    writes = operation.endswith("write") or operation == "mixed"
    return conditions if writes else {name: value for name, value in conditions.items() if name not in _OF_WRITING}
