"""Shape of a topology file as it is written: keys, nesting, plain values; and the JSON schema for editors, made of it.

Every optional key may be absent, so that one mistake does not hide the next. The shipped schema is written by ``python
docs/reference/generate.py``.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Quantity = str | int | float
"""A value with its unit as written; a bare number is kept, to be refused with a suggestion."""

Scalar = str | int | float | bool


class _Strict(BaseModel):
    # the validator of a whole file is built with it, and those of its parts, which take as long together, never
    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True, defer_build=True)


class RawAccess(_Strict):
    """How nodes are reached; paths are relative to the file."""

    user: str | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    config: str | None = None
    known_hosts: str | None = None
    identity: str | None = None


Mtu = Annotated[int, Field(ge=256, le=65535)]
Hash = Literal["l2", "l3", "l3l4", "steered", "unknown"]
Preference = Annotated[int, Field(ge=0, le=2**32 - 1)]
Routing = Literal["shortest", "weighted", "spray", "minimal", "valiant", "dimension-order", "ugal", "tables"]
Facts = dict[str, Scalar]


class RawNetwork(_Strict):
    """One network: what it is made of and for; ``goodput`` instead of what the headers leave of the MTU."""

    type: str | None = None
    role: Literal["data", "storage", "management"] | None = None
    mtu: Mtu | None = None
    goodput: Quantity | None = None
    hash: Hash | None = None
    routing: Routing | None = None
    tables: dict[str, dict[str, str]] = {}
    legs: Literal["rails", "planes"] | None = None


class RawCpu(_Strict):
    """Declared processors of a node class; ``cores`` are physical ones over all sockets."""

    model: str | None = None
    sockets: int | None = None
    cores: int | None = None
    threads: int | None = None
    clock: Quantity | None = None
    governor: str | None = None


class RawMemory(_Strict):
    """Declared memory of a node class."""

    total: Quantity | None = None
    dimms: int | None = None
    dimm_size: Quantity | None = None
    speed: str | None = None


class RawNic(_Strict):
    """Declared network ports of a node class."""

    speed: Quantity | None = None
    count: int | None = None
    model: str | None = None
    mtu: int | None = None
    driver: str | None = None
    firmware: str | None = None


class RawDisk(_Strict):
    """Declared disks of a node class."""

    count: int | None = None
    size: Quantity | None = None
    model: str | None = None
    type: str | None = None
    interface: str | None = None


class RawRaid(_Strict):
    """Declared RAID controller of a node class."""

    controller: str | None = None
    level: Scalar | None = None
    cache: Quantity | None = None


class RawKernel(_Strict):
    """Declared kernel of a node class."""

    release: str | None = None
    boot: str | None = None


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
    raid: RawRaid | None = None
    kernel: RawKernel | None = None
    bios: RawBios | None = None
    os: RawOs | None = None
    sysctl: dict[str, Scalar] | None = None
    facts: dict[str, Scalar | list[Scalar]] | None = None
    peak: Quantity | None = None
    peak_basis: str | None = None


class RawPorts(_Strict):
    """A set of ports of a switch; ``breakout`` is how many slower cables one of them can be split into."""

    speed: Quantity
    breakout: Annotated[int, Field(ge=1, le=16)] = 1


class RawSlot(_Strict):
    """A slot of PCI Express."""

    generation: int
    lanes: int


class RawCeiling(_Strict):
    """A limit for the traffic of ``ports`` of a device together; of all ports without them."""

    ports: str | None = None
    rate: Quantity | None = None
    pcie: RawSlot | None = None


class RawSwitch(_Strict):
    """A set of switches; ``ports`` is their number, or sets of port names."""

    role: Literal["chassis", "leaf", "spine", "core"] = "leaf"
    model: str | None = None
    ports: Annotated[int, Field(ge=1, le=100_000)] | dict[str, RawPorts | Quantity] | None = None
    ceilings: dict[str, RawCeiling] = Field(default_factory=dict)


class RawNode(_Strict):
    """A set of nodes; addresses are sets of the same length, in the same order."""

    class_: str | None = Field(default=None, alias="class")
    role: Literal["compute", "storage", "management", "login", "gateway"] = "compute"
    address: str | None = None
    data_address: str | None = None
    addresses: dict[str, str] = Field(default_factory=dict)
    host: str | None = None
    forwards: bool = False
    production: bool = False
    blank_disks: list[str | None] = Field(default_factory=list)
    ceilings: dict[str, RawCeiling] = Field(default_factory=dict)


class RawCable(_Strict):
    """The type and the length of the cables of a link."""

    type: str | None = None
    length: Quantity | None = None


class RawLink(_Strict):
    """Devices of ``from`` cabled to devices of ``to`` by ``count`` cables of ``speed`` each; ``unknown`` is how many
    nobody counted.
    """

    from_: str = Field(alias="from")
    to: str
    speed: Quantity
    count: Annotated[int, Field(ge=1, le=128)] | Literal["unknown"] = 1
    wiring: Literal["each-to-each", "one-to-one"] = "each-to-each"
    lag: str | None = None
    hash: Hash | None = None
    bond: Literal["lacp", "balance-xor", "active-backup"] | None = None
    network: str | None = None
    cable: RawCable | str | None = None
    rtt: Quantity | None = None
    available: Quantity | None = None
    channels: dict[str, Quantity] | None = None
    preference: Preference = 0
    preference_back: Preference | None = None


class RawMlag(_Strict):
    """Two switches that act as one."""

    switches: str


class RawVlan(_Strict):
    """A broadcast domain."""

    name: str | None = None
    members: str | None = None


class RawGroup(_Strict):
    """Devices that stand together."""

    members: str
    model: str | None = None


class RawRates(_Strict):
    """A rate of each operation."""

    read: Quantity | None = None
    write: Quantity | None = None


class RawLayer(RawRates):
    """Units that work in parallel; ``rate`` stands for both operations."""

    name: str
    units: Annotated[int, Field(ge=1, le=10_000_000)] = 1
    rate: Quantity | None = None
    source: str = ""


class RawInterconnect(_Strict):
    """The network that joins servers and clients."""

    type: str | None = None
    speed: Quantity | None = None
    pingpong: Quantity | None = None


class RawMetadata(_Strict):
    """The metadata servers of a storage system."""

    servers: Annotated[int, Field(ge=0)] | None = None
    facts: Facts = Field(default_factory=dict)


class RawClients(_Strict):
    """Nodes that use a storage system."""

    nodes: str
    gateways: str | None = None
    network: RawRates | None = None
    stated: RawRates | None = None
    source: str = ""


class RawStorage(_Strict):
    """A storage system: its layers and what is written down about it."""

    vendor: str | None = None
    version: str | None = None
    protocol: str | None = None
    size: Quantity | None = None
    free: Quantity | None = None
    servers: str | None = None
    interconnect: RawInterconnect | None = None
    layers: list[RawLayer | None] = Field(default_factory=list)
    facts: Facts = Field(default_factory=dict)
    metadata: RawMetadata | None = None
    clients: dict[str, RawClients] = Field(default_factory=dict)
    replicas: Annotated[int, Field(ge=1, le=100)] = 1
    striped: bool = False
    required: Quantity = "60 %"
    target: Quantity = "80 %"


class RawStated(_Strict):
    """Claims of the documents about the machine: a ratio or cut of the cabling, or a total over the nodes of ``of``."""

    oversubscription: str | None = None
    bisection: Quantity | None = None
    nodes: Quantity | None = None
    sockets: Quantity | None = None
    cores: Quantity | None = None
    memory: Quantity | None = None
    disk: Quantity | None = None
    peak: Quantity | None = None
    of: str | None = None
    source: str = ""


class RawCaps(_Strict):
    """How much of the machine tests may load: a share of each link, and a rate of each storage system."""

    link: Quantity | None = None
    storage: dict[str, Quantity] = Field(default_factory=dict)


class RawOtherMetric(_Strict):
    """The metric that a criterion is a share of."""

    metric: str
    where: dict[str, Scalar] | None = None


class RawCriterion(_Strict):
    """A bound for a metric; one of ``at_least`` and ``at_most``."""

    metric: str
    at_least: Quantity | None = None
    at_most: Quantity | None = None
    of: Literal["capacity", "peak", "ceiling", "rtt", "peers", "baseline"] | Quantity | RawOtherMetric | None = None
    statistic: str | None = None
    target: Quantity | None = None
    round: Quantity | None = None
    where: dict[str, Scalar] | None = None
    nodes: str | None = None
    source: str = ""
    author: str = ""
    date: str = ""


class RawReported(_Strict):
    """A result as a document prints it, and the percentages that it prints beside it."""

    metric: str
    value: Quantity
    statistic: Literal["mean", "median", "lowest", "highest", "sum"] = "mean"
    of_required: Quantity | None = None
    of_target: Quantity | None = None
    of_peak: Quantity | None = None
    where: dict[str, Scalar] | None = None
    nodes: str | None = None
    source: str = ""


class RawStop(_Strict):
    """When a sweep ends before its last point; at least one of ``gain`` and ``on``."""

    gain: Quantity | None = None
    after: Annotated[int, Field(ge=1, le=100)] = 1
    metric: str | None = None
    on: Literal["failure"] | None = None


class RawStep(_Strict):
    """Commands on nodes before the points of a sweep with another value of its axis, and commands that undo them."""

    run: list[str]
    undo: list[str]
    nodes: str | None = None
    sudo: bool = False
    timeout: Quantity = "60 s"


class RawStage(_Strict):
    """One step of a suite. Every other key is an option of its probe, or of the design it is planned with."""

    model_config = ConfigDict(extra="allow", strict=True, populate_by_name=True, defer_build=True)
    __pydantic_extra__: dict[str, Scalar]

    probe: str | None = None
    nodes: str | None = None
    sweep: dict[str, Scalar | list[Scalar | None]] | None = None
    steps: dict[str, RawStep] = Field(default_factory=dict)
    repeat: Annotated[int, Field(ge=1, le=100)] = 1
    order: str | None = None
    stop: RawStop | None = None
    at_once: str | None = None


class RawSections(_Strict):
    """Sections that a template may hold as well as a file. A list item is None where it was cut out as unusable."""

    switches: dict[str, RawSwitch] = Field(default_factory=dict)
    links: list[RawLink | None] = Field(default_factory=list)
    mlag: dict[str, RawMlag] = Field(default_factory=dict)
    vlans: dict[str, RawVlan] = Field(default_factory=dict)
    chassis: dict[str, RawGroup] = Field(default_factory=dict)
    racks: dict[str, RawGroup] = Field(default_factory=dict)
    pods: dict[str, RawGroup] = Field(default_factory=dict)
    sites: dict[str, RawGroup] = Field(default_factory=dict)
    storage: dict[str, RawStorage] = Field(default_factory=dict)


class RawTopology(RawSections):
    """A whole file, its templates written out."""

    schema_: Literal[1] = Field(alias="schema")
    fabric: str
    simulated: bool = False
    ssh: RawAccess | None = None
    network: RawNetwork | None = None
    networks: dict[str, RawNetwork] = Field(default_factory=dict)
    parameters: dict[str, int] = Field(default_factory=dict)
    classes: dict[str, RawClass] = Field(default_factory=dict)
    nodes: dict[str, RawNode]
    stated: list[RawStated | None] = Field(default_factory=list)
    caps: RawCaps | None = None
    criteria: list[RawCriterion | None] = Field(default_factory=list)
    reported: list[RawReported | None] = Field(default_factory=list)
    cohorts: dict[str, dict[str, str]] = Field(default_factory=dict)
    suites: dict[str, list[RawStage | None]] = Field(default_factory=dict)


class RawTemplate(RawSections):
    """A structure that is written out by ``use``."""

    nodes: dict[str, RawNode] = Field(default_factory=dict)
    use: list[dict[str, Scalar | list[Scalar]]] = Field(default_factory=list)


class RawFile(RawTopology):
    """A file as it is written, for the schema that editors read."""

    nodes: dict[str, RawNode] = Field(default_factory=dict)
    templates: dict[str, RawTemplate] = Field(default_factory=dict)
    use: list[dict[str, Scalar | list[Scalar]]] = Field(default_factory=list)


SCHEMA_FILE = Path(__file__).parents[1] / "topology.schema.json"
_EXPRESSION = {"type": "string", "pattern": r"^\{.+\}$"}


def make_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a file as it is written, its templates included."""
    whole = RawFile.model_json_schema(by_alias=True)
    whole["title"] = "A machine for benchconsole"
    whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    opened: dict[str, Any] = _allow_expressions(whole)
    return opened


def _allow_expressions(here: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(here, list):
        return [_allow_expressions(each) for each in here]
    if not isinstance(here, dict):
        return here
    if here.get("type") == "integer" and "const" not in here:
        number = {key: here[key] for key in ("type", "minimum", "maximum") if key in here}
        rest = {key: value for key, value in here.items() if key not in number}
        return {**rest, "anyOf": [number, _EXPRESSION]}
    return {key: _allow_expressions(value) for key, value in here.items()}


def format_schema() -> str:
    """The text of the shipped file."""
    return json.dumps(make_schema(), indent=1, ensure_ascii=False) + "\n"
