"""The JSON summary of IOR 3.2 to 4.1 (``-O summaryFormat=JSON``), from the file or among other output.

The documents of 3.2 and of runs with ``-v`` are broken as a whole, so the objects of their ``summary`` are read
one by one; the iterations stand without their test and are read from whole documents only.

Source: IOR 3.2 to 4.1, ``src/ior-output.c``; hpc/ior issues 102 and 503.
"""

from collections import Counter
from collections.abc import Iterator

from benchconsole.probes.api import ProbeOutputError, Reading, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import format_size, read_number, require_positive
from benchconsole.probes.tools.ior.text_reader import MIB, access, once, statistics

_RATES = {"max": "bwMaxMIB", "min": "bwMinMIB", "mean": "bwMeanMIB"}
_OPERATIONS = {"max": "OPsMax", "min": "OPsMin", "mean": "OPsMean"}
_WAYS = ("write", "read")


def readings(text: str) -> list[Reading]:
    """Every rate of every whole object, each once; ProbeOutputError for one that cannot be."""
    found = [reading for each in find_documents(text, first="Version|Began") for reading in _iterations(each)]
    for each in find_documents(text, first="operation"):
        found.extend(_summary(each))
    return once(found)


def _summary(document: Document) -> Iterator[Reading]:
    way, raw = document.get("operation"), shorten(str(dict(document)), 400)
    if way not in _WAYS or "bwMaxMIB" not in document:
        return
    marks = {"operation": str(way)}
    if isinstance(api := document.get("API"), str):
        marks["api"] = shorten(api, 20)
    sizes = {
        name: read_number(document.get(key)) for name, key in (("transfer", "transferSize"), ("block", "blockSize"))
    }
    marks.update({name: format_size(size) for name, size in sizes.items() if size})
    tasks, one = read_number(document.get("numTasks")), read_number(document.get("filePerProc"))
    if tasks is None or one is None:
        raise ProbeOutputError(raw, "numTasks and filePerProc in a summary")
    marks.update(tasks=f"{tasks:.0f}", access=access(one=one == 1))
    rates = {name: require_positive(document.get(key), key) for name, key in _RATES.items()}
    counted = set(_OPERATIONS.values()) <= document.keys()
    operations = {name: require_positive(document[key], key) for name, key in _OPERATIONS.items()} if counted else {}
    yield from statistics(rates, sizes["transfer"], operations, marks, raw)


def _iterations(document: Document) -> Iterator[Reading]:
    for test in map(read_mapping, read_array(document.get("tests"))):
        options, seen = read_mapping(test.get("Options")), Counter[str]()
        # IOR opens an array for the repetitions and one more around it
        groups = [read_array(each) or [each] for each in read_array(test.get("Results"))]
        for result in (read_mapping(each) for group in groups for each in group):
            if "access" not in result:
                break  # what comes after cannot be numbered
            way = str(result["access"])
            if way in _WAYS:
                yield _iteration(result, options, seen[way])
                seen[way] += 1


def _iteration(result: Document, options: Document, number: int) -> Reading:
    rate = require_positive(result.get("bwMiB"), "bwMiB") * MIB
    marks = {"operation": str(result["access"]), "iteration": str(number)}
    for name, key in (("transfer", "xferKiB"), ("block", "blockKiB")):
        if size := read_number(result.get(key)):
            marks[name] = format_size(size * 1024.0)
    if isinstance(api := options.get("api"), str):
        marks["api"] = shorten(api, 20)
    if isinstance(options.get("access"), str):
        marks["access"] = access(one=options["access"] == "file-per-process")
    if (tasks := read_number(options.get("tasks"))) is not None:
        marks["tasks"] = f"{tasks:.0f}"
    return Reading("ior.throughput", rate, Unit.BYTE_RATE, labels(**marks), f"bwMiB {result['bwMiB']}")
