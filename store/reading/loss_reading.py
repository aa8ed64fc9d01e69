"""How small a fault a stored session could have shown, as it was stored with its findings."""

from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.store.codec.values import parse_document
from benchconsole.store.reading.session_list import asking_session
from benchconsole.store.reading.session_reading import NEWEST_JUDGING, SessionReader


def read_losses(session: SessionReader) -> tuple[DetectableLoss, ...] | None:
    """The losses that judged rounds of ``session`` could show; None where none were stored since the newest judgement.

    UnknownSessionError where there is no such session.
    """
    kind: type[tuple[DetectableLoss, ...]] = tuple[DetectableLoss, ...]
    with asking_session(session.database, session.id) as (connection, number):
        newest = connection.execute(NEWEST_JUDGING, (number,)).fetchone()
        row = connection.execute("SELECT losses FROM detectable_loss WHERE judging_id = ?", newest).fetchone()
        return None if row is None else parse_document(kind, row[0])
