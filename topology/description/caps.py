"""The words of a cap on links or on a storage system, in a file and in a command."""

import re

from benchconsole.topology.units import Unit, UnitError, parse, parse_percentage

_BITS = re.compile(r"b(?:its?)?(?=/s|ps)")
_SHARE = "a share of each link, more than 0 % and at most 100 %"
_RATE = "a rate in bytes of more than 0, such as 2 GB/s"


def parse_link_cap(text: str) -> float:
    """A cap on links: a share of what each carries one way. UnitError for anything else."""
    return parse_percentage(text, _SHARE)


def parse_storage_cap(text: str) -> float:
    """A cap on a storage system, in byte/s. UnitError for anything else, and for a rate in bits."""
    found = parse(text, Unit.BYTE_RATE)
    if "B" not in text:
        raise UnitError(text, _RATE, _BITS.sub("B", text.strip()))
    if not found:
        raise UnitError(text, _RATE)
    return found
