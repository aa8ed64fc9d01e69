"""Fabrics of stored topologies, kept as they were resolved: a text is read and checked once, and not at each opening.

They stand in the cache folder of the user. One that others can write is not read: it would be they who say what is
expected of a link.
"""

import hashlib
import json
import logging
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchconsole.console.session.installed_program import find_program
from benchconsole.console.session.user_files import find_cache_path, read_user_bytes
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.packed_fabric import pack_fabric, unpack_fabric

MOST_KEPT = 32
"""Files that are kept; those that were not read for longest go."""

MOST_BYTES = 64 * 2**20
"""Of one file; that of a fabric of 100,000 nodes has 2 MB."""

_FAST = 1
"""The level of zlib, which also finds bytes that were changed."""

_log = logging.getLogger(__name__)


class KeptFabric:
    """The fabric of a ``text`` that was read from ``path``, with these ``parameters`` in place of those of the text.

    A fabric that another program kept is not found.
    """

    def __init__(self, text: str, path: str, parameters: Mapping[str, int]) -> None:
        self._text = text
        self._path = path
        self._parameters = parameters
        # Paths of a text are resolved from its folder, and from the home of the user.
        places = (path, str(Path(path).absolute()), str(Path("~").expanduser()))
        named = json.dumps([find_program("topology"), places, sorted(parameters.items()), text])
        self._file = find_cache_path("fabrics") / hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
        self._unkept: Fabric | None = None

    def load(self) -> Fabric:
        """The fabric, from what is kept, else from the text. TopologyError where that describes none."""
        kept = self._read()
        if kept is not None:
            return kept
        from benchconsole.topology.description.resolve import load_text  # here: it imports what checks a text

        self._unkept = load_text(self._text, self._path, parameters=self._parameters)
        return self._unkept

    def keep(self) -> None:
        """Keep the fabric where it came from the text; a folder that takes no file costs the next one that time."""
        if self._unkept is None:
            return
        from benchconsole.console.text.atomic_write import FileError, write_whole

        packed = zlib.compress(pack_fabric(self._unkept), _FAST)
        folder = self._file.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self._file, lambda out: out.buffer.write(packed), force=True)
            _remove_old(folder)
        except (OSError, FileError) as error:
            _log.info("the fabric is not kept: %s", error)

    def _read(self) -> Fabric | None:
        """The kept fabric; None where there is none, or none that can be trusted."""
        try:
            packed = read_user_bytes(self._file, MOST_BYTES)
            if not packed:
                return None
            fabric = unpack_fabric(zlib.decompress(packed), self._text)
        except (TopologyError, zlib.error, ValueError, IndexError) as error:
            _log.warning("a kept fabric is not used: %s", error)
            return None
        with suppress(OSError):
            self._file.touch()  # it was read: others go first
        return fabric


def _remove_old(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns, reverse=True)
    for each in files[MOST_KEPT:]:
        each.unlink(missing_ok=True)
