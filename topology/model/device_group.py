"""Devices that stand together: chassis, racks, pods, sites."""

from msgspec import Struct


class Group(Struct, frozen=True):
    """Devices that stand together: ``kind`` is chassis, rack, pod or site. Of one kind, a device is in one."""

    kind: str
    name: str
    members: tuple[str, ...]
    model: str | None = None
