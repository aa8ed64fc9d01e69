"""The orders of an operator to a run: go on, pause, stop, leave at once."""

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class RunControls:
    """The orders of an operator during a run. ``free`` is cleared by a pause."""

    free: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: bool = False
    abandoned: bool = False

    def __post_init__(self) -> None:
        self.free.set()
