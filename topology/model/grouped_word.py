"""A word that a hundred thousand nodes and links are grouped by: hashed as its text, which takes no call of Python."""

from enum import StrEnum


class GroupedWord(StrEnum):
    """An enumeration of texts whose hash is theirs; that of ``enum.Enum`` is the same for equal members, and slow."""

    __hash__ = str.__hash__
