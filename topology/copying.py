"""Copies of values, structs of msgspec and dataclasses, with some fields replaced."""

import dataclasses
from typing import TYPE_CHECKING

from msgspec import Struct, structs

if TYPE_CHECKING:  # mypy checks names and types of the fields in calls of this function alone, of structs as well
    from dataclasses import replace
else:

    def replace(value, /, **changes):  # noqa: ANN001, ANN003, ANN201 - mypy takes that above
        """``value`` with these fields replaced; TypeError for a field that it has not."""
        make_copy = structs.replace if isinstance(value, Struct) else dataclasses.replace
        return make_copy(value, **changes)


__all__ = ["replace"]
