"""Speeds of Ethernet ports from words: operational MAU types, and names that vendors give to ports.

Source: IEEE 802.3 and RFC 4836 (types), texts of lldpd; manuals of Cisco, H3C, Huawei, Juniper and Dell (names).
"""

import re

from benchconsole.topology.units import UnitError, parse_link_speed

_MAU = re.compile(r"(?:other\()?\s*(\d+(?:[.p]\d)?)\s*(G|Gig)?[ -]?base", re.IGNORECASE)
_STATED = re.compile(r"(\d+(?:\.\d+)?)\s*([GM])(?:b/s|bps|bit/s|bit)?", re.IGNORECASE)
_MEGA = {"10", "100", "1000", "2500", "5000", "10000"}
_GIGA = {"1", "2.5", "5", "10", "25", "40", "50", "100", "200", "400", "800"}

_WORDS = {
    "eighthundred": 800, "fourhundred": 400, "twohundred": 200, "hundred": 100, "fifty": 50, "forty": 40,
    "twentyfive": 25, "ten": 10, "x": 10, "five": 5, "two": 2.5, "twopointfive": 2.5, "m": 1, "": 1,
}  # fmt: skip
_SPELLED = re.compile(
    r"(eight-?hundred|four-?hundred|two-?hundred|hundred|fifty|forty|twenty-?five|ten|x|five|two-?point-?five|two|m|)-?"
    r"gig(?:abit-?ethernet|abit|e)(?=[ \d/]|$)",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"(\d+)G(?:igE|E)(?=[ \d/]|$)", re.IGNORECASE)
_SHORT = re.compile(r"(Fa|Gi|Te|Twe|Fo|Hu|ge|xe)-?(?=\d+/)")
_GIGABITS = {"Fa": 0.1, "Gi": 1, "Te": 10, "Twe": 25, "Fo": 40, "Hu": 100, "ge": 1, "xe": 10}


def read_mau_type(text: str) -> float | None:
    """byte/s of a type such as ``10GigBaseSR - R fiber over 850 nm optics`` or ``1000BaseTFD``; None for others."""
    mau = _MAU.match(text)
    stated = _STATED.fullmatch(text.strip())
    if mau is not None:
        number, prefix = mau[1].lower().replace("p", "."), "G" if mau[2] else "M"
        return parse_link_speed(f"{number} {prefix}b/s") if number in (_GIGA if mau[2] else _MEGA) else None
    if stated is None:
        return None
    try:
        return parse_link_speed(f"{stated[1]} {stated[2].upper()}b/s")
    except UnitError:
        return None  # a number that is no speed of a port


def read_port_name(text: str) -> float | None:
    """byte/s of a port by its name, ``GigabitEthernet1/0/17`` or ``Te1/1``; None where the name does not tell.

    A port is called after the fastest that it can run at: where its type is told, that is better.
    """
    spelled, numbered, short = (pattern.match(text) for pattern in (_SPELLED, _COUNTED, _SHORT))
    if spelled is not None:
        return _WORDS[spelled[1].lower().replace("-", "")] * 1e9 / 8
    if numbered is not None:
        return float(numbered[1]) * 1e9 / 8 if numbered[1] in _GIGA else None
    return _GIGABITS[short[1]] * 1e9 / 8 if short is not None else None
