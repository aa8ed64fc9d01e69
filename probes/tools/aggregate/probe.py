"""The node probe ``aggregate``: many small images read, one after the other, and appended to one file.

The images are made first and put out of the page cache, so that they are read from where they lie; whether the
kernel really fetched them is counted, and labelled. The time ends when the file is on the disk.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Fact, Given, Metric, Output, ProbeOutputError, Reading, Shown, Unit, labels
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.tools.files.node_directory import SCRATCH
from benchconsole.probes.tools.python import script_runner

FORMATS = ("hdf5", "raw")

_SECONDS_PER_FILE = 0.001
_SLOWEST_FILE = 0.02
_START = 4.0
_LONGEST_NAME = 200

_BODY = r"""
images, size, form = int(words[0]), int(words[1]), words[2]
library = ""
if form == "hdf5":
    try:
        import h5py, numpy
        library = "h5py %s, HDF5 %s" % (h5py.__version__, h5py.version.hdf5_version)
    except ImportError as error:
        print(
            "benchconsole: refused: %s has no h5py (%s): Debian package python3-h5py, or format: raw"
            % (sys.executable, error), file=sys.stderr)
        sys.exit(77)


def path(number):
    return "images/%07d" % number


def read_image(number):
    with open(path(number), "rb", buffering=0) as image:
        content = image.read(size)
    if len(content) != size:
        sys.exit("image %d: found %d bytes, expected %d" % (number, len(content), size))
    return content


def raw(out):
    with open(out, "wb", buffering=0) as file:
        for number in range(images):
            put(file, memoryview(read_image(number)))


def hdf5(out):
    with h5py.File(out, "w") as file:
        stack = file.create_dataset("images", (images, size), "u1", chunks=(1, size))
        for number in range(images):
            stack[number] = numpy.frombuffer(read_image(number), "u1")


def prepare():
    content = noise(size)
    os.mkdir("images")
    for number in range(images):
        with open(path(number), "wb", buffering=0) as image:
            put(image, block(content, number, size))
            os.posix_fadvise(image.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for number in range(images):
        with open(path(number), "rb") as image:
            evict(image.fileno())


prepare()
await_round()
before, began = fetched(), time.monotonic()
{"raw": raw, "hdf5": hdf5}[form]("aggregate")
with open("aggregate", "rb") as done:
    os.fsync(done.fileno())
seconds = time.monotonic() - began
report(
    "aggregate",
    ("images", images), ("size", size), ("format", form), ("library", library),
    ("seconds", seconds), ("written", os.path.getsize("aggregate")), ("fetched", since(before)),
)
"""


class Aggregate(script_runner.NodeScript):
    """Options: ``images``, ``size`` of each, ``format`` of the one file (hdf5, with h5py, or raw, one image after the
    other), ``scratch``, ``shared`` and ``python``.
    """

    name = "aggregate"
    label_names = frozenset(("cache", "format", "images", "size"))
    summary = "Many small images read and appended to one file, HDF5 or raw"
    source = "DESY storage report, tiff2nexus"
    metrics = (
        Metric("aggregate.images", Unit.PER_SECOND, "images read and appended"),
        Metric("aggregate.rate", Unit.BYTE_RATE, "bytes of images read and appended", Shown.STORAGE),
        Metric("aggregate.time", Unit.SECOND, "until the file is on the disk"),
    )
    options = MappingProxyType(
        {"scratch": SCRATCH, "images": 2000, "size": "256 KiB", "format": "hdf5", "shared": "", "python": "python3"}
    )
    script = script_runner.make_script(_BODY)

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds to make the images, read them and write the file, at 100 MB/s and 1 ms for each image and way."""
        images, size = _read_images(self.given(options))
        return _START + 3 * images * size / script_runner.ASSUMED + 2 * images * _SECONDS_PER_FILE

    def space(self, options: Mapping[str, str | int | float]) -> float:
        """The images, and the file that they are appended to."""
        images, size = _read_images(self.given(options))
        return 2.0 * images * size

    def words(self, given: Given) -> Sequence[object]:
        return (*_read_images(given), given.choice("format", FORMATS))

    def room(self, given: Given) -> tuple[int, int]:
        """HDF5 keeps an index of its chunks beside them."""
        images, _ = _read_images(given)
        return int(self.space(given.values)) + 1_000_000 + 100 * images, images + 16

    def limit(self, given: Given) -> float:
        """Seconds that the slowest file system that is worth waiting for takes."""
        images, size = _read_images(given)
        return 60.0 + 3 * images * size / script_runner.SLOWEST + 2 * images * _SLOWEST_FILE

    def parse(self, output: Output) -> Sequence[Reading | Fact]:
        found = script_runner.read_document(output, self.name)
        images, size = script_runner.read_count(found, "images"), script_runner.read_count(found, "size")
        form, total = script_runner.read_word(found, "format", FORMATS), images * size
        written = script_runner.read_count(found, "written")
        if written < total or (form == "raw" and written != total):
            raise ProbeOutputError(f"a file of {written} bytes", f"{total} bytes of images in it")
        seconds = script_runner.read_seconds(found, "seconds")
        marks = labels(images=images, size=size, format=form, cache=script_runner.find_cache_label([(found, total)]))
        raw = f"{images} images of {size} bytes in {seconds} s"
        library = found.get("library")
        named = [Fact("aggregate.hdf5", shorten(library, _LONGEST_NAME))] if isinstance(library, str) else []
        return (
            Reading("aggregate.images", images / seconds, Unit.PER_SECOND, marks, raw),
            Reading("aggregate.rate", total / seconds, Unit.BYTE_RATE, marks, raw),
            Reading("aggregate.time", seconds, Unit.SECOND, marks, raw),
            *(fact for fact in named if fact.value),
        )


def _read_images(given: Given) -> tuple[int, int]:
    """How many images, and the bytes of each."""
    return given.whole("images", 1, 10_000_000), given.size("size", 1, 2**30)
