"""Reader of what ``benchconsole availability --json`` says of a watch: the share of time that the system was up.

The share is known between two bounds. Where the whole range holds what was asked, the number is the worst case, where
none of it does, the best case: a criterion on it cannot pass, nor fail, by time that nobody sampled. A watch that
cannot tell gives no number. The time that counts is without what was excluded.
"""

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, has_document, read_array, read_mapping
from benchconsole.probes.readers.numbers import read_number
from benchconsole.probes.readers.readings import add_labels

_FIRST = "session"
_KEYS = frozenset(("session", "level", "asked", "schedule", "excluded", "system", "nodes"))
_CASES = {"pass": "worst", "fail": "best"}
_ROUNDED = 1e-9
"""By what a share may miss its seconds, as floating point numbers do."""


def is_record(text: str) -> bool:
    """Whether a record begins in ``text``, be it whole or cut."""
    return has_document(text, first=_FIRST)


def read_record(text: str) -> Reading:
    """The share of the system; ProbeOutputError unless ``text`` is one whole record that knows it."""
    found = [each for each in find_documents(text, first=_FIRST) if each.keys() >= _KEYS]
    if len(found) != 1:
        raise ProbeOutputError(f"{len(found)} whole records", "what benchconsole availability --json prints")
    system = read_mapping(found[0]["system"])
    nodes = {name for name in read_array(system.get("nodes")) if isinstance(name, str)}
    case = _CASES.get(str(system.get("level")))
    if case is None or not nodes:
        raise ProbeOutputError("a share that is not known to hold or to miss what was asked", "a watch that can tell")
    total = _check_time(system)
    # The time in which so many nodes were up at once is one time, and not that of each node.
    needed = read_number(read_mapping(found[0]["asked"]).get("nodes_up"))
    seconds = int(total / (len(nodes) if needed is None else 1) + _ROUNDED)
    marks = labels(case=case, nodes=len(nodes), seconds=seconds)
    marks = marks if needed is None else add_labels(marks, nodes_up=int(needed))
    excluded = read_array(found[0]["excluded"])
    marks = tuple(sorted((*marks, *labels(excluded=len(excluded))))) if excluded else marks
    value = _read_share(system, case)
    return Reading("availability.share", value, Unit.ONE, marks, f"system: {case} {value}")


def _check_time(system: Document) -> float:
    """Seconds of all nodes that count; ProbeOutputError where the bounds are not those of the seconds beside them."""
    parts = [read_number(system.get(name)) for name in ("up", "down", "not_sampled")]
    seconds = [part for part in parts if part is not None and part >= 0]
    total = sum(seconds)
    if len(seconds) < len(parts) or total <= 0:
        raise ProbeOutputError(f"up, down, not sampled {parts}", "seconds of each")
    worst, best, up = _read_share(system, "worst"), _read_share(system, "best"), seconds[0] / total
    down = seconds[1] / total
    if not (worst <= up + _ROUNDED and worst <= best + _ROUNDED and 1 - best <= down + _ROUNDED):
        raise ProbeOutputError(f"worst {worst}, best {best} of {parts}", "bounds that the seconds allow")
    return total


def _read_share(system: Document, name: str) -> float:
    value = read_number(system.get(name))
    if value is None or not 0 <= value <= 1:
        raise ProbeOutputError(f"{name} {system.get(name)}", "a share from 0 to 1")
    return value
