"""Owns the shape of a topology file as somebody wrote it: keys, nesting, plain values.

Quantities stay text here; ``topology.resolve`` gives them meaning. Every optional key may be
absent, so that one mistake does not hide the next.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Quantity = str | int | float
"""A value with its unit as written; a bare number is kept, to be refused with a suggestion."""

Scalar = str | int | float | bool


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class RawAccess(_Strict):
    """How nodes are reached; paths are relative to the file."""

    user: str | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    config: str | None = None
    known_hosts: str | None = None
    identity: str | None = None


class RawNetwork(_Strict):
    """What holds for the whole data network."""

    mtu: Annotated[int, Field(ge=576, le=65535)] = 1500


class RawCpu(_Strict):
    """Declared processors of a node class; ``cores`` are physical ones over all sockets."""

    model: str | None = None
    sockets: int | None = None
    cores: int | None = None
    threads: int | None = None
    governor: str | None = None


class RawMemory(_Strict):
    """Declared memory of a node class."""

    total: Quantity | None = None
    dimms: int | None = None


class RawNic(_Strict):
    """Declared network ports of a node class."""

    speed: Quantity | None = None
    mtu: int | None = None
    driver: str | None = None
    firmware: str | None = None


class RawDisk(_Strict):
    """Declared disks of a node class."""

    count: int | None = None
    size: Quantity | None = None
    model: str | None = None


class RawKernel(_Strict):
    """Declared kernel of a node class."""

    release: str | None = None


class RawBios(_Strict):
    """Declared firmware of a node class."""

    version: str | None = None
    date: str | None = None


class RawOs(_Strict):
    """Declared operating system of a node class."""

    name: str | None = None


class RawClass(_Strict):
    """Nodes that are meant to be alike, with the hardware that they are declared to have."""

    cpu: RawCpu | None = None
    memory: RawMemory | Quantity | None = None
    nic: RawNic | None = None
    disk: RawDisk | None = None
    kernel: RawKernel | None = None
    bios: RawBios | None = None
    os: RawOs | None = None
    sysctl: dict[str, Scalar] | None = None
    peak: Quantity | None = None
    peak_basis: str | None = None


class RawSwitch(_Strict):
    """A set of switches."""

    role: Literal["chassis", "leaf", "spine", "core"] = "leaf"
    model: str | None = None


class RawNode(_Strict):
    """A set of nodes; addresses are sets of the same length, in the same order."""

    class_: str | None = Field(default=None, alias="class")
    role: Literal["compute", "storage", "management", "login", "gateway"] = "compute"
    address: str | None = None
    data_address: str | None = None


class RawLink(_Strict):
    """Every device of ``from`` cabled to every device of ``to`` by ``count`` cables of ``speed``."""

    from_: str = Field(alias="from")
    to: str
    speed: Quantity
    count: Annotated[int, Field(ge=1, le=128)] = 1


class RawCriterion(_Strict):
    """A bound for a metric; one of ``at_least`` and ``at_most``."""

    metric: str
    at_least: Quantity | None = None
    at_most: Quantity | None = None
    of: Literal["capacity", "peak"] | None = None
    target: Quantity | None = None
    round: Quantity | None = None
    where: dict[str, Scalar] | None = None
    nodes: str | None = None
    source: str = ""


class RawTopology(_Strict):
    """A whole file. A list item is None where it was empty, or was cut out as unusable."""

    schema_: Literal[1] = Field(alias="schema")
    fabric: str
    simulated: bool = False
    ssh: RawAccess | None = None
    network: RawNetwork | None = None
    classes: dict[str, RawClass] = Field(default_factory=dict)
    switches: dict[str, RawSwitch] = Field(default_factory=dict)
    nodes: dict[str, RawNode]
    links: list[RawLink | None] = Field(default_factory=list)
    criteria: list[RawCriterion | None] = Field(default_factory=list)
    suites: dict[str, list[dict[str, Scalar] | None]] = Field(default_factory=dict)
