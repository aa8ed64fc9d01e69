"""The fabric and its capacity. Pure: no network, no database, no clock, no screen."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchconsole.topology.description.vocabulary import ReadVocabulary
    from benchconsole.topology.model.fabric import Fabric


def load(
    path: Path | str, vocabulary: "ReadVocabulary | None" = None, parameters: "Mapping[str, int] | None" = None
) -> "Fabric":
    """Read one topology file; see ``topology.description.resolve.load`` (imported on use: it brings pydantic)."""
    from benchconsole.topology.description.resolve import load as resolve

    return resolve(path, vocabulary, parameters)
