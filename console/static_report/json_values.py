"""The values of the documents of ``check``, ``diff`` and ``expect``: the unit of a number follows from its key.

A key that ends in ``_bps`` holds bit/s; its value is given in byte/s, like every rate inside. Infinite becomes null.
"""

import math
from collections.abc import Mapping, Sequence

from benchconsole.topology.analysis.oversubscription import WorstFailure
from benchconsole.topology.units import to_bits

Record = dict[str, object]


def select_fields(item: object, fields: Mapping[str, str], **others: object) -> Record:
    """Attributes of ``item`` by key (``worst.ratio``: null beyond None); ``others`` are values that it lacks."""
    return {key: others[key] if key in others else _read_attribute(item, path) for key, path in fields.items()}


def _read_attribute(item: object, path: str) -> object:
    for name in path.split("."):
        item = None if item is None else getattr(item, name)
    return item


def encode_record(record: Mapping[str, object]) -> Record:
    """``record`` ready for ``json.dumps(..., allow_nan=False)``; records and lists in it too."""
    return {key: encode_value(value, bits=key.endswith("_bps")) for key, value in record.items()}


def encode_value(value: object, *, bits: bool = False) -> object:
    """A value for JSON; with ``bits`` its numbers are rates in byte/s that become bit/s."""
    if isinstance(value, float) and math.isinf(value):
        return None
    if isinstance(value, float | int) and bits:
        return to_bits(value)
    if isinstance(value, WorstFailure):
        return {"element": value.element, "ratio": encode_value(value.ratio)}
    if isinstance(value, Mapping):
        return {key: encode_value(item, bits=bits or key.endswith("_bps")) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [encode_value(item, bits=bits) for item in value]
    return value
