"""The fabric of a stored session as its file describes it, for a screen that shows it before anything else is read.

It imports neither planning nor judging nor SSH: names, switches and links are on the screen before these are there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchconsole.console.session.kept_fabric import KeptFabric
from benchconsole.console.view.events import SessionOpened
from benchconsole.store.model import NewSession
from benchconsole.topology.copying import replace
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.store.session_store import SessionStore

OnRead = Callable[[SessionOpened, int, int], None]
"""Told how a stored session begins, and how many of how many of its rounds were read."""

SETTING = "set "
"""Before the name of a parameter of the file, the name of the option that records its other value."""

LINK_CAP = "cap.link"
"""The name of the option that records to which share of its capacity a session loads a link one way at most."""

STORAGE_CAP = "cap.storage "
"""Before the name of a storage system, the name of the option that records its cap in a session, in byte/s."""


def describe_fabric(new: NewSession) -> Fabric:
    """The fabric of a stored session, by its text and the parameters and caps that it was begun with."""
    kept = _find_kept(new)
    fabric = apply_caps(kept.load(), new.options)
    kept.keep()
    return fabric


def _find_kept(new: NewSession) -> KeptFabric:
    return KeptFabric(new.topology, new.topology_path, read_settings(new.options))


def read_settings(options: Mapping[str, str | int | float]) -> dict[str, int]:
    """The parameters of the file that a session with these options was begun with."""
    return {name.removeprefix(SETTING): int(value) for name, value in options.items() if name.startswith(SETTING)}


def apply_caps(fabric: Fabric, options: Mapping[str, str | int | float]) -> Fabric:
    """``fabric`` with the caps that a session with these options was given in place of those of its file."""
    systems = {name.removeprefix(STORAGE_CAP): name for name in options if name.startswith(STORAGE_CAP)}
    if LINK_CAP not in options and not systems:
        return fabric
    link = float(options[LINK_CAP]) if LINK_CAP in options else fabric.caps.link
    storage = {**fabric.caps.storage, **{system: float(options[name]) for system, name in systems.items()}}
    return replace(fabric, caps=Caps(link, MappingProxyType(storage)))


def show_fabric(session: "SessionStore", show: OnRead) -> Fabric:
    """The fabric of a stored session, of which ``show`` is told before anything else is read."""
    new = session.describe().new
    kept = _find_kept(new)
    fabric = apply_caps(kept.load(), new.options)
    began = SessionOpened(session.id, new.label, fabric, new.suite, (), new.started, live=False)
    show(began, 0, len(session.list_closed_rounds()))
    kept.keep()
    return fabric
