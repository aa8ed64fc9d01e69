"""The node probe ``skim``: clients that read files and keep part of the events in them.

Each client is a process with files of its own, made first and put out of the page cache; all begin together, and
each tells when it was done. Whether one got less than its share is for judges. The bytes that the kernel fetched are
counted, and the label ``cache`` tells whether a cache answered.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Comparator, Given, Metric, Output, ProbeOutputError, Reading, Shown, Unit, labels
from benchconsole.probes.readers.documents import Document
from benchconsole.probes.tools.files.node_directory import SCRATCH
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


class Skim(script_runner.NodeScript):
    """Options: ``processes`` at once, ``files`` of each, ``size`` of a file and of an ``event`` in it; ``read``
    is the share of the events that is read, ``keep`` the share of those that is written; ``scratch``, ``shared``
    and ``python``.
    """

    name = "skim"
    label_names = frozenset(("cache", "client", "processes", "event", "files", "keep", "read", "size"))
    summary = "Clients that read files and keep part of the events: what each of them gets"
    source = "Fermilab storage report, root-based skim application"
    metrics = (
        Metric("skim.read", Unit.BYTE_RATE, "events that one client read", Shown.STORAGE),
        Metric("skim.write", Unit.BYTE_RATE, "events that one client kept", Shown.STORAGE),
        Metric("skim.time", Unit.SECOND, "until one client was done, what it kept on the disk"),
        Metric("skim.spread", Unit.ONE, "longest time of a client over the shortest", sense=Comparator.AT_MOST),
        Metric("skim.fetched", Unit.ONE, "bytes fetched from storage over the bytes of the files", Shown.PERCENT),
    )
    options = MappingProxyType(
        {
            "scratch": SCRATCH, "processes": 4, "files": 1, "size": "256 MiB", "event": "64 KiB",
            "read": "100 %", "keep": "10 %", "shared": "", "python": "python3",
        }
    )  # fmt: skip
    script = script_runner.make_script(_BODY)

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds to make the files, read them and write what is kept, at 100 MB/s for all clients together."""
        return _START + (_count_bytes(self.given(options)) + self.space(options)) / script_runner.ASSUMED

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """The files of all clients, and what they keep of them."""
        given = self.given(options)
        return _count_bytes(given) * (1 + _share(given, "read") * _share(given, "keep") / _MILLION**2)

    def words(self, given: Given) -> Sequence[object]:
        clients, files, size = _read_files(given)
        event = given.size("event", 512, 2**30)
        if size % event:
            raise given.refused("event", f"a part of the size of a file, {size} bytes, without a rest")
        shares = (_share(given, "read"), _share(given, "keep"))
        if files * (size // event) * shares[0] < _MILLION:
            raise given.refused("read", "a share that makes one event of a client or more")
        return (clients, files, size, event, *shares)

    def room(self, given: Given) -> tuple[int, int]:
        clients, files, _ = _read_files(given)
        return int(self.space(given.values)) + 1, clients * (files + 2) + 16

    def limit(self, given: Given) -> float:
        """Seconds that the slowest file system that is worth waiting for takes."""
        return 60.0 + (_count_bytes(given) + self.space(given.values)) / script_runner.SLOWEST

    def parse(self, output: Output) -> Sequence[Reading]:
        return list(_make_readings(script_runner.read_document(output, self.name)))


def _make_readings(found: Document) -> Iterator[Reading]:
    names = ("clients", "files", "size", "event", "share_ppm", "kept_ppm")
    clients, files, size, event, share, kept = (script_runner.read_count(found, name) for name in names)
    taken = files * (size // event) * share // _MILLION
    read, written, held = taken * event, taken * kept // _MILLION * event, files * size
    results = list(script_runner.read_results(found, clients))
    for number, each in results:
        work = (each.get("read"), each.get("written"))
        if work != (read, written) or not read:
            raise ProbeOutputError(f"client {number} with {work} bytes read and written", f"({read}, {written})")
    times = [script_runner.read_seconds(each, "seconds") for _, each in results]
    marks: dict[str, object] = {"processes": clients, "event": event, "files": files, "size": size}
    marks |= {"read": f"{share / 1e4:g}%", "keep": f"{kept / 1e4:g}%"}
    marks["cache"] = script_runner.find_cache_label([(each, read) for _, each in results])
    for (number, each), seconds in zip(results, times, strict=True):
        own = labels(**marks, client=number)
        raw = f"client {number}: {read} bytes read, {written} written in {seconds} s"
        yield Reading("skim.read", read / seconds, Unit.BYTE_RATE, own, raw)
        if written:
            yield Reading("skim.write", written / seconds, Unit.BYTE_RATE, own, raw)
        yield Reading("skim.time", seconds, Unit.SECOND, own, raw)
        if fetched := script_runner.read_fetched(each):
            said = f"client {number}: {fetched:.0f} of {held} bytes fetched"
            yield Reading("skim.fetched", fetched / held, Unit.ONE, own, said)
    if clients > 1:
        raw = f"{max(times)} s over {min(times)} s"
        yield Reading("skim.spread", max(times) / min(times), Unit.ONE, labels(**marks), raw)


def _read_files(given: Given) -> tuple[int, int, int]:
    """Clients, files of each, and bytes of a file."""
    return given.whole("processes", 1, 256), given.whole("files", 1, 10_000), given.size("size", 512, 2**44)


def _count_bytes(given: Given) -> float:
    return float(math.prod(_read_files(given)))


def _share(given: Given, name: str) -> int:
    """Parts in a million, so that the node and the parser choose the same events."""
    share = given.quantity(name, Unit.ONE)
    if not 1 / _MILLION <= share <= 1:
        raise given.refused(name, "a share such as 10 %, at most 100 %")
    return round(share * _MILLION)
