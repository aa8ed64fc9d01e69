"""Whether something that was worked out from parts of a view still holds: a view shares what has not changed."""

import operator
from collections.abc import Sequence


def are_same(now: Sequence[object], known: Sequence[object]) -> bool:
    """Whether both are the same objects in the same order; nothing is compared by its value."""
    return len(now) == len(known) and all(map(operator.is_, now, known))
