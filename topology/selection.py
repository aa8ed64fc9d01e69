"""Node sets: expands and folds names, and chooses nodes of a fabric. ClusterShell parses.

Never asks a group source outside the fabric (ClusterShell's default would run shell commands). Empty and unmatched
selections raise SelectionError: nothing is never read as everything.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv6Address

from ClusterShell.NodeSet import NodeSet, NodeSetException
from ClusterShell.NodeUtils import GroupResolver, GroupResolverError, GroupSource, GroupSourceError

from benchconsole.topology.errors import SelectionError, drop_zeros, find_near
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId

MAX_NODES = 200_000
"""More names than this in one set is taken for a slip of the keyboard."""

NAME = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*"
)
DASH = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
"""Characters that look like a minus and are none."""
_RANGE = re.compile(r"\[([^\[\]]*)\]")
_STEP = re.compile(r"0*(\d{1,18})(?:-0*(\d{1,18})(?:/(\d{1,9}))?)?")
_MOST_DIGITS = 18
_ONE_RANGE = re.compile(r"(?P<prefix>[A-Za-z0-9_.-]*[A-Za-z_.-])\[(?P<first>\d+)-(?P<last>\d+)\]")
GROUP = re.compile(r"@([A-Za-z0-9_:.-]+)")
_NUMBERED = re.compile(r"([A-Za-z_.-]+)([0-9]{1,18})")
"""A name with one number, at its end."""
_DIGITS = re.compile(r"\d+")
_NO_GROUPS = GroupResolver(GroupSource("none", {}))


def split_terms(text: str, separators: str = ",!&^") -> list[str]:
    """The parts of a node set between ``separators`` that stand outside of brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter in separators and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def _count_names(text: str) -> int:
    """An upper bound of how many names ``text`` stands for, without expanding it."""
    dash = DASH.search(text)
    if dash is not None:
        raise SelectionError(f"{text!r} has {dash[0]!r} (U+{ord(dash[0]):04X}), which is no minus: write -")
    total = sum(_count_term(term) for term in split_terms(text))
    if total > MAX_NODES:
        raise SelectionError(f"{text!r} stands for more than {MAX_NODES:,} names")
    return total


def _count_term(text: str) -> int:
    total = 1
    for ranges in _RANGE.findall(text):
        members = 0
        for part in ranges.split(","):
            match = _STEP.fullmatch(part.strip())
            if match is None:
                raise SelectionError(f"{text!r} is not a node set: bad range [{ranges}]")
            low, high = int(match[1]), int(match[2] or match[1])
            if high < low:
                raise SelectionError(f"{text!r} is not a node set: range {part} runs backwards")
            members += (high - low) // int(match[3] or 1) + 1 if int(match[3] or 1) else 0
        total *= members
    return total


def _check_padding(text: str) -> None:
    for ranges, widths in _list_mixed(text):
        raise SelectionError(f"{text!r} mixes paddings in [{ranges}]: write every number with {max(widths)} digits")


def _list_mixed(text: str) -> Iterator[tuple[str, set[int]]]:
    """The ranges of ``text`` some of whose numbers are padded otherwise than others, and the padded widths.

    A number that is longer than the padding, as in ``[08-10,100]``, has none.
    """
    for ranges in _RANGE.findall(text):
        parts = [re.split(r"[-/]", part.strip())[:2] for part in ranges.split(",")]
        widths = {len(number) for part in parts for number in part if number.startswith("0") and len(number) > 1}
        least = {min(map(len, part)) for part in parts} if widths else set()
        even = all(len(set(map(len, part))) == 1 for part in parts)
        if widths and (len(widths) > 1 or not even or min(least) < max(widths)):
            yield ranges, widths


def expand(text: str) -> list[str]:
    """``n[01-03],x`` as names, in the order in which they are written; SelectionError for anything else."""
    return list(_expand_names(text))


@lru_cache(maxsize=8192)
def _expand_names(text: str) -> tuple[str, ...]:
    """The same; the links of a file name the sets that its nodes were named by."""
    if not text.strip():
        raise SelectionError("an empty node set, expected names such as n[01-16]")
    if "@" in text:
        raise SelectionError(f"{text!r} names a group, expected plain names here")
    if len(text) <= 253 and NAME.fullmatch(text):
        return (text,)
    numbered = _expand_range(text)
    names = numbered or _expand_term(text, "a node set")
    # Names of one range differ in their number alone, and the last is the longest.
    for name in names[-1:] if numbered else names:
        if not NAME.fullmatch(name) or len(name) > 253:
            raise SelectionError(f"{name!r} is not a host name, expected letters, digits, '-' and '.'")
    if not names:
        raise SelectionError(f"{text!r} stands for no name")
    return tuple(names)


def expand_addresses(text: str) -> list[str]:
    """``10.0.0.[1-16]``, ``fd00::[1-9]`` or host names, in the order in which they are written.

    IPv6 addresses come in their usual form (RFC 5952); digits of a range are taken as they stand, hexadecimal.
    SelectionError for anything else, and for an address with a zone (``%eth0``): it holds on one machine only.
    """
    if ":" not in text:
        return expand(text)
    if "%" in text or "@" in text:
        raise SelectionError(f"{text!r} has {'%' if '%' in text else '@'!r}, which no address has here")
    return [_read_address(name) for name in _expand_term(text, "a set of addresses")]


def _read_address(text: str) -> str:
    if ":" not in text:
        return expand(text)[0]
    try:
        return str(IPv6Address(text))
    except ValueError:
        raise SelectionError(f"{text!r} is not an IPv6 address") from None


def _expand_range(text: str) -> list[str]:
    """The names of one sound range, the commonest set by far and in a large file nearly every one; else none."""
    one = _ONE_RANGE.fullmatch(text)
    if one is None:
        return []
    prefix, first, last = one.groups()
    width = len(first) if first[0] == "0" else 0
    numbers = range(int(first), int(last) + 1)
    if len(last) > _MOST_DIGITS or len(numbers) > MAX_NODES or ((width or last[0] == "0") and len(first) != len(last)):
        return []
    return (
        [f"{prefix}{number:0{width}}" for number in numbers] if width else [f"{prefix}{number}" for number in numbers]
    )


def _expand_term(text: str, what: str) -> list[str]:
    _count_names(text)
    _check_padding(text)
    terms = [text] if any(sign in text for sign in "!&^") else split_terms(text, ",")
    try:
        return list(dict.fromkeys(name for term in terms for name in NodeSet(term, resolver=_NO_GROUPS)))
    except NodeSetException as error:
        raise SelectionError(f"{text!r} is not {what}: {error}") from None


_PORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:-]{0,62}")


def expand_ports(text: str) -> list[str]:
    """``Eth[1-4]`` or ``1/1,1/3`` as port names, in the order in which they are written. Raises SelectionError."""
    if not text.strip() or "@" in text or "%" in text:
        raise SelectionError(f"{text!r} is no set of ports")
    names = _expand_term(text, "a set of ports")
    for name in names:
        if not _PORT.fullmatch(name):
            raise SelectionError(f"{name!r} is not a port name, expected letters, digits, '-', '_', '.', '/' and ':'")
    return names


def fold(names: Iterable[str]) -> str:
    """Names as one short node set: ``n[01-16],st1``."""
    known = list(names)
    alike = group_by_key(((prefix, width), number) for prefix, width, number in map(_split_number, known))
    if len(alike) == 1:
        (((prefix, width), numbers),) = alike.items()
        if width:
            ranges = _join_numbers(numbers, width)
            return f"{prefix}[{','.join(ranges)}]" if len(ranges) > 1 or "-" in ranges[0] else f"{prefix}{ranges[0]}"
    # ClusterShell reads ranges several times as fast as as many names.
    terms = [
        f"{prefix}[{','.join(_join_numbers(numbers, width))}]" if width else prefix
        for (prefix, width), numbers in alike.items()
    ]
    text = str(NodeSet.fromlist(terms, resolver=_NO_GROUPS))
    if not any(_list_mixed(text)):
        return text
    # As ``n[1,01]``, which not everybody reads the same way: numbers of one width in each set.
    shapes = group_by_key((tuple(map(len, _DIGITS.findall(name))), name) for name in known)
    return ",".join(str(NodeSet.fromlist(own, resolver=_NO_GROUPS)) for own in shapes.values())


@lru_cache(maxsize=65_536)  # reports fold the nodes of a machine again and again
def _split_number(name: str) -> tuple[str, int, int]:
    """The text before the number at the end of a name, how many digits that has, and its value; 0 without one."""
    found = _NUMBERED.fullmatch(name)
    return (name, 0, 0) if found is None else (found[1], len(found[2]), int(found[2]))


def _join_numbers(numbers: Iterable[int], width: int) -> list[str]:
    """Numbers of one width as ranges, in order: ``01-16``."""
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ["-".join(f"{end:0{width}}" for end in dict.fromkeys(each)) for each in ranges]


def find_padded(names: Sequence[str], known: Iterable[str]) -> str | None:
    """The set that was meant where all of ``names`` are known ones but for zeros before numbers."""
    same = {drop_zeros(name): name for name in known}
    meant = [same.get(drop_zeros(name)) for name in names]
    return fold([name for name in meant if name is not None]) if all(meant) else None


def choose(text: str, known: Collection[str], known_groups: Mapping[str, Collection[str]]) -> list[str]:
    """The names of ``known`` that ``text`` selects, in the order of ``known``.

    ``text`` is a node set with ``@group``, ``!`` ``&`` ``^`` as in ClusterShell. Raises
    SelectionError for names and groups that are not there, and for an empty result.
    """
    if not text.strip(" ,"):
        raise SelectionError("an empty node selection, expected names or @groups (all nodes are @all)")
    _count_names(text)
    meant: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        """The group by a name without a colon, which ClusterShell would take for a source of groups."""
        group = match[1]
        if group not in known_groups:
            hint = find_near(group, known_groups)
            raise SelectionError(f"unknown group @{group}" + (f", did you mean @{hint}?" if hint else ""))
        name = f"group{len(meant)}"
        meant[name] = fold(known_groups[group])
        return f"@{name}"

    try:
        wanted = dict.fromkeys(NodeSet(GROUP.sub(plain, text), resolver=GroupResolver(GroupSource("fabric", meant))))
    except (NodeSetException, GroupResolverError, GroupSourceError) as error:
        raise SelectionError(f"{text!r} is not a node set: {error}") from None
    unknown = [name for name in wanted if name not in known]
    if unknown:
        hint = find_padded(unknown, known) or find_near(unknown[0], known)
        raise SelectionError(f"unknown node {fold(unknown)}" + (f", did you mean {hint}?" if hint else ""))
    # One name is what a row of a table has; of ten thousand rows none should walk all nodes.
    chosen = list(wanted) if len(wanted) == 1 else [name for name in known if name in wanted]
    if not chosen:
        raise SelectionError(f"{text!r} selects no node")
    return chosen


def select(fabric: Fabric, include: str | None, exclude: str | None = None) -> tuple[NodeId, ...]:
    """The nodes of ``fabric`` in ``include`` (None: all) and not in ``exclude``; never empty."""
    chosen = list(fabric.nodes) if include is None else _choose_nodes(include, fabric)
    if exclude is not None:
        without = set(_choose_nodes(exclude, fabric))
        chosen = [name for name in chosen if name not in without]
        if not chosen:
            raise SelectionError(f"nothing is left after leaving out {exclude!r}")
    return tuple(NodeId(name) for name in chosen)


def _choose_nodes(text: str, fabric: Fabric) -> list[str]:
    """The nodes that ``text`` selects; groups are looked up only where it names one."""
    return choose(text, fabric.nodes, fabric.node_groups if "@" in text else {})
