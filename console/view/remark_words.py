"""The remarks of people on the parts of a session, in words, by their subject. Pure; all text is sanitized."""

from collections.abc import Collection, Iterable, Mapping

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.wording import format_moment
from benchconsole.probes.model.remark import About, Remark, RemarkKind, list_standing
from benchconsole.topology.grouping import group_by_key

ELEMENTS = (About.NODE, About.SWITCH, About.LINK)
"""The subjects that stand in the fabric."""


def join_lines(remark: Remark) -> str:
    """Its text on one line."""
    return sanitize(" ".join(remark.text.split()))


def tell_remark(remark: Remark) -> str:
    """``txqueuelen 10000 (Ann Roe, 2026-11-20 10:00:00 UTC)``."""
    return f"{join_lines(remark)} ({sanitize(remark.by)}, {format_moment(remark.at)})"


def group_remarks(remarks: Iterable[Remark], about: Collection[About]) -> Mapping[str, list[str]]:
    """The standing remarks on such things, by their subjects; an acceptance is told at its finding."""
    if not remarks:
        return {}
    found = (each for each in list_standing(remarks) if each.about in about and each.kind is not RemarkKind.ACCEPTED)
    return group_by_key((each.subject, tell_remark(each)) for each in found)


def name_point(stage: str, point: Iterable[tuple[str, str]]) -> str:
    """The subject of a remark on a point of a sweep: ``ior: clients 280``."""
    return f"{stage}: {', '.join(f'{axis} {value}' for axis, value in point)}"
