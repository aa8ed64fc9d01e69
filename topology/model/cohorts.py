"""Words of cohorts: valid names of dimensions and values, and the name of a test between two cohorts.

A cohort is a label of nodes that goes into every result (``kind: virtual``): a wrong label makes a wrong comparison.
"""

import re
from collections.abc import Collection, Sequence

MIXED, OTHER, TO = "mixed", "other", " to "
"""A set of several cohorts, an end that is in none, and what joins the two ends of a pair."""

LABELS = frozenset(
    (
        "api", "asked", "block", "clients", "direct", "direction", "interface", "job", "message", "n", "number",
        "operation", "pattern", "protocol", "ranks", "repetition", "size", "statistic", "stream", "streams", "tasks",
    )
)  # fmt: skip
"""Names of labels that results carry already."""

DIMENSION_WORDS = "a word of up to 40 letters, digits, '_' and '-' that is no axis of a sweep and no other label"
VALUE_WORDS = f"up to 60 letters, digits, spaces and signs, but not {MIXED!r}, {OTHER!r} or a value with {TO!r} in it"

_DIMENSION = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_VALUE = re.compile(r"[^\W_](?:[\w .,:;+/()-]{0,58}[\w.)])?")


def is_dimension(name: str, axes: Collection[str]) -> bool:
    """Whether ``name`` may stand beside other labels, and beside the ``axes`` of the sweeps of a file."""
    return _DIMENSION.fullmatch(name) is not None and name not in LABELS and name not in axes


def is_value(name: str) -> bool:
    """Whether ``name`` can be told from what ``name_cohort`` makes."""
    return _VALUE.fullmatch(name) is not None and name not in (MIXED, OTHER) and TO not in name


def name_cohort(values: Sequence[str | None], *, ordered: bool) -> str | None:
    """The name of a test whose nodes are in these cohorts (None: in none of the dimension).

    The cohort that all are in; of two ``ordered`` ends "virtual to bare metal", of a set "mixed".
    """
    named = [value or OTHER for value in values]
    if not any(values):
        return None
    if len(set(named)) == 1:
        return named[0]
    return TO.join(named) if ordered else MIXED
