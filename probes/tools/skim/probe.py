"""The node probe ``skim``: clients that read files and keep part of the events in them.

Each client is a process with files of its own, made first and put out of the page cache; all begin together, and
each tells when it was done. Whether one got less than its share is for judges. The bytes that the kernel fetched are
counted, and the label ``cache`` tells whether a cache answered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Given, Labels, Metric, Output, ProbeOutputError, Reading, Shown, Unit, labels
from benchconsole.probes.readers.documents import Document
from benchconsole.probes.tools.python import script_runner

_MILLION = 10**6
_START = 4.0

_BODY = r"""
clients, files, size, event = [int(word) for word in words[:4]]
share, kept = int(words[4]), int(words[5])
MILLION = 1000000


def chosen(number, parts):
    return (number + 1) * parts // MILLION > number * parts // MILLION


def skim(number, ready):
    place = "client-%d" % number
    os.mkdir(place)
    paths = [place + "/data-%04d" % each for each in range(files)]
    content, buffer = noise(GRAIN), bytearray(event)
    for path in paths:
        make_file(path, content, size)
    seen = taken = left = 0
    start = ready()
    time.sleep(max(0, start - time.monotonic()))  # all clients begin at once
    before = fetched()
    with open(place + "/kept", "wb", buffering=GRAIN) as out:
        for path in paths:
            with open(path, "rb", buffering=0) as data:
                for begin in range(0, size, event):
                    seen += 1
                    if not chosen(seen - 1, share):
                        continue
                    if share < MILLION:
                        data.seek(begin)
                    if data.readinto(buffer) != event:
                        sys.exit("%s: an event was cut" % path)
                    taken += 1
                    if chosen(taken - 1, kept):
                        left += out.write(buffer)
        out.flush()
        os.fsync(out.fileno())
    seconds = time.monotonic() - start
    return {"number": number, "seconds": seconds, "read": taken * event, "written": left, "fetched": since(before)}


found = gang(clients, skim)
report(
    "skim",
    ("clients", clients), ("files", files), ("size", size), ("event", event),
    ("share_ppm", share), ("kept_ppm", kept), ("results", found),
)
"""
SCRIPT = script_runner.make_script(_BODY)


class Skim(script_runner.NodeScript):
    """Options: ``clients`` at the same time, ``files`` of each, ``size`` of a file and of an ``event`` in it; ``read``
    is the share of the events that is read, ``keep`` the share of those that is written; ``scratch``, ``shared``
    and ``python``.
    """

    name = "skim"
    summary = "Clients that read files and keep part of the events: what each of them gets"
    source = "Fermilab storage report, root-based skim application"
    metrics = (
        Metric("skim.read", Unit.BYTE_RATE, "events that one client read", Shown.STORAGE),
        Metric("skim.write", Unit.BYTE_RATE, "events that one client kept", Shown.STORAGE),
        Metric("skim.time", Unit.SECOND, "until one client was done, what it kept on the disk"),
        Metric("skim.spread", Unit.ONE, "longest time of a client over the shortest"),
        Metric("skim.fetched", Unit.ONE, "bytes fetched from storage over the bytes of the files", Shown.PERCENT),
    )
    options = MappingProxyType(
        {
            "scratch": "/tmp",  # noqa: S108 - mktemp inside
            "clients": 4,
            "files": 1,
            "size": "256 MiB",
            "event": "64 KiB",
            "read": "100 %",
            "keep": "10 %",
            "shared": "",
            "python": "python3",
        }
    )

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds to make the files, read them and write what is kept, at 100 MB/s for all clients together."""
        given = self.given(options)
        return _START + (_prepared(given) + self.space(options)) / script_runner.ASSUMED

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """The files of all clients, and what they keep of them."""
        given = self.given(options)
        return _prepared(given) * (1 + _share(given, "read") * _share(given, "keep") / _MILLION**2)

    def argv(self, given: Given, gate: str) -> Sequence[str]:
        """One fixed script; PlanError for options that cannot be read."""
        size, event = _size(given), given.size("event", 512, 2**30)
        if size % event:
            raise given.refused("event", f"a part of the size of a file, {size} bytes, without a rest")
        shares = (_share(given, "read"), _share(given, "keep"))
        if _files(given) * (size // event) * shares[0] < _MILLION:
            raise given.refused("read", "a share that makes one event of a client or more")
        values = (_clients(given), _files(given), size, event, *shares)
        argv = script_runner.make_command(given.text("python"), SCRIPT, *map(str, values), gate=gate)
        room, files = int(self.space(given.values)) + 1, _clients(given) * (_files(given) + 2) + 16
        return script_runner.wrap_in_scratch(argv, given.text("scratch"), size=room, files=files)

    def limit(self, given: Given) -> float:
        """What the slowest file system that is worth waiting for takes."""
        return 60.0 + (_prepared(given) + self.space(given.values)) / script_runner.SLOWEST

    def parse(self, output: Output) -> Sequence[Reading]:
        """Read the document of the script. ProbeOutputError when it is not whole, or a client did other work."""
        return _readings(script_runner.read_document(output, self.name))


@dataclass(frozen=True, slots=True)
class _Client:
    number: int
    read: int
    written: int
    seconds: float
    document: Document


def _readings(found: Document) -> Sequence[Reading]:
    names = ("clients", "files", "size", "event", "share_ppm", "kept_ppm")
    numbers = {name: script_runner.read_count(found, name) for name in names}
    events = numbers["files"] * (numbers["size"] // numbers["event"])
    taken = events * numbers["share_ppm"] // _MILLION
    left = taken * numbers["kept_ppm"] // _MILLION
    clients = list(_clients_of(found, numbers["clients"], taken * numbers["event"], left * numbers["event"]))
    shares = {"read": numbers["share_ppm"] / 1e4, "keep": numbers["kept_ppm"] / 1e4}
    common = labels(
        cache=script_runner.find_cache_label([(each.document, each.read) for each in clients]),
        **{name: numbers[name] for name in ("clients", "event", "files", "size")},
        **{name: f"{share:g}%" for name, share in shares.items()},
    )
    held = numbers["files"] * numbers["size"]
    readings = [one for each in clients for one in _of_client(each, common, held)]
    if len(clients) > 1:
        times = [each.seconds for each in clients]
        raw = f"{max(times)} s over {min(times)} s"
        readings.append(Reading("skim.spread", max(times) / min(times), Unit.ONE, common, raw))
    return readings


def _clients_of(found: Document, expected: int, read: int, written: int) -> Iterator[_Client]:
    for number, each in script_runner.read_results(found, expected):
        work = (each.get("read"), each.get("written"))
        if work != (read, written) or not read:
            raise ProbeOutputError(f"client {number} with {work} bytes read and written", f"({read}, {written})")
        yield _Client(number, read, written, script_runner.read_seconds(each, "seconds"), each)


def _of_client(client: _Client, common: Labels, held: int) -> Iterator[Reading]:
    marks = labels(**dict(common), client=client.number)
    raw = f"client {client.number}: {client.read} bytes read, {client.written} written in {client.seconds} s"
    yield Reading("skim.read", client.read / client.seconds, Unit.BYTE_RATE, marks, raw)
    if client.written:
        yield Reading("skim.write", client.written / client.seconds, Unit.BYTE_RATE, marks, raw)
    yield Reading("skim.time", client.seconds, Unit.SECOND, marks, raw)
    fetched = script_runner.read_fetched(client.document)
    if fetched:
        said = f"client {client.number}: {fetched:.0f} of {held} bytes fetched"
        yield Reading("skim.fetched", fetched / held, Unit.ONE, marks, said)


def _clients(given: Given) -> int:
    return given.whole("clients", 1, 256)


def _files(given: Given) -> int:
    return given.whole("files", 1, 10_000)


def _size(given: Given) -> int:
    return given.size("size", 512, 2**44)


def _prepared(given: Given) -> float:
    return float(_clients(given) * _files(given) * _size(given))


def _share(given: Given, name: str) -> int:
    """Parts in a million, so that the node and the parser choose the same events."""
    share = given.quantity(name, Unit.ONE)
    if not 1 / _MILLION <= share <= 1:
        raise given.refused(name, "a share such as 10 %, at most 100 %")
    return round(share * _MILLION)
