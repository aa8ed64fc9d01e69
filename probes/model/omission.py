"""Omissions of a plan: a sentence for people, with the reason as data for whoever decides by it."""

from enum import StrEnum

from msgspec import Struct


class OmissionReason(StrEnum):
    """Why a part of a suite is not planned, or nodes are not loaded. The values are stored.

    NOT_RECORDED only where a session is read that was stored without the reason.
    """

    CHANGES_NODES = "changes nodes"
    NOT_CONFIRMED = "not confirmed"
    CAPPED = "capped"
    LACKS_STAGE = "lacks a stage"
    TESTS_AT_ONCE = "tests at once"
    PRODUCTION = "production"
    IN_USE = "in use"
    NOT_RECORDED = "not recorded"


class Omission(Struct, frozen=True):
    """A part of a suite that is not run, or nodes that are not loaded, in ``words``, and why."""

    words: str
    reason: OmissionReason

    def __str__(self) -> str:
        return self.words
