"""The shape of the database: the tables and views, and the numbered steps from one shape to the next.

``STEPS`` is append-only: a step that was released is never edited, a change of shape is a new function at its end.
``store.codec.rows`` then learns to carry the change both ways.

Ids are small integers inside the file; ``session.key``, ``test.key`` and ``measurement.key`` hold the ids that people
and programs see. Times are UTC seconds since 1970, durations seconds, values base units. Columns that hold JSON say so
in their comment. Rows are only ever inserted, but for ``driver``, which says who is at work now, the two counts of a
plan that grows, the end of an ``attempt``, and the label of a session, of which a note tells what it was.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache

from benchconsole.store.schema.views import MEASUREMENT_VIEW, VERDICT_VIEW
from benchconsole.store.sqlite import Connection, open_memory

APPLICATION = 0x424E4348
"""``BNCH`` in the header of the file: this database is ours."""

FIRST = 6
"""The number of the first shape that was released; development versions wrote 1 to 5."""

Step = Callable[[Connection], None]
"""One change of shape. It gets a connection inside a transaction and must not end that."""

_TABLES = (
    """CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        label TEXT NOT NULL,
        fabric TEXT NOT NULL,
        suite TEXT NOT NULL,
        selection TEXT NOT NULL,
        options TEXT NOT NULL,            -- JSON object
        topology TEXT NOT NULL,           -- the file as it was written
        topology_path TEXT NOT NULL,
        simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
        program TEXT NOT NULL,            -- version of the program that made it
        started REAL NOT NULL,
        rounds INTEGER NOT NULL,          -- planned
        tests INTEGER NOT NULL            -- planned
    )""",
    """CREATE TABLE driver (                -- who runs a session; the last row of a session counts
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        born TEXT NOT NULL,               -- boot and start time of the process: pids are used again
        token TEXT NOT NULL,              -- which store within that process
        since REAL NOT NULL,
        heartbeat REAL NOT NULL,
        ended REAL,                       -- NULL while at work, or when it died
        complete INTEGER CHECK (complete IN (0, 1)),
        because TEXT NOT NULL DEFAULT '',
        CHECK ((ended IS NULL) = (complete IS NULL))
    )""",
    "CREATE INDEX driver_of ON driver (session_id, id)",
    """CREATE TABLE round (                 -- the plan
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        number INTEGER NOT NULL,
        stage TEXT NOT NULL,
        probe TEXT NOT NULL,
        seconds REAL NOT NULL,
        because TEXT NOT NULL,
        bundles TEXT NOT NULL,            -- JSON array of objects
        swept TEXT NOT NULL,              -- JSON object: the point of a sweep; null: of no sweep
        UNIQUE (session_id, number)
    )""",
    """CREATE TABLE test (                  -- the plan; in order of id within a round
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        round_id INTEGER NOT NULL REFERENCES round (id),
        key TEXT NOT NULL,
        node TEXT NOT NULL,
        peer TEXT,
        options TEXT NOT NULL,            -- JSON object
        bundle TEXT NOT NULL,
        members TEXT NOT NULL,            -- JSON array: all nodes of a set
        labels TEXT NOT NULL,             -- JSON [[name, value]]
        sending TEXT NOT NULL,            -- JSON object
        UNIQUE (session_id, key)
    )""",
    "CREATE INDEX test_of ON test (round_id)",
    """CREATE TABLE attempt (               -- a round that was begun; closed where it has an end
        id INTEGER PRIMARY KEY,
        round_id INTEGER NOT NULL REFERENCES round (id),
        number INTEGER NOT NULL,
        started REAL NOT NULL,
        ended REAL,                       -- NULL while it runs, or when its console died
        reason TEXT,
        because TEXT NOT NULL,            -- why a rule stopped it
        tested INTEGER NOT NULL,          -- tests by what became of them, counted when it is closed
        failed INTEGER NOT NULL,
        unreachable INTEGER NOT NULL,
        skipped INTEGER NOT NULL,
        UNIQUE (round_id, number),
        CHECK ((ended IS NULL) = (reason IS NULL))
    )""",
    """CREATE TABLE result (
        id INTEGER PRIMARY KEY,
        attempt_id INTEGER NOT NULL REFERENCES attempt (id),
        test_id INTEGER NOT NULL REFERENCES test (id),
        started REAL NOT NULL,
        seconds REAL NOT NULL,
        drift REAL NOT NULL,              -- seconds the wall clock was set by meanwhile
        failed_at TEXT,                   -- NULL when there was no failure
        failure_detail TEXT,
        failure_node TEXT,
        UNIQUE (attempt_id, test_id)
    )""",
    """CREATE TABLE output (                -- what a command printed, byte for byte
        id INTEGER PRIMARY KEY,
        result_id INTEGER NOT NULL REFERENCES result (id),
        node TEXT NOT NULL,
        argv TEXT NOT NULL,               -- JSON array; a number is a word.id
        stdout BLOB NOT NULL,
        stderr BLOB NOT NULL,
        exit_status INTEGER,
        signal TEXT,
        seconds REAL NOT NULL,
        truncated INTEGER NOT NULL CHECK (truncated IN (0, 1))
    )""",
    "CREATE INDEX output_lengths ON output (result_id, seconds)",  # counts and longest seconds without the outputs
    """CREATE TABLE metric (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        unit TEXT NOT NULL,               -- base unit; empty where a verdict is about words
        UNIQUE (name, unit)
    )""",
    """CREATE TABLE labels (
        id INTEGER PRIMARY KEY,
        pairs TEXT NOT NULL UNIQUE,       -- JSON [[name, value]]
        shown TEXT NOT NULL               -- name=value, name=value
    )""",
    """CREATE TABLE measurement (
        id INTEGER PRIMARY KEY,
        result_id INTEGER NOT NULL REFERENCES result (id),
        key TEXT NOT NULL,                -- unique within an attempt; comes again in the next one
        metric_id INTEGER NOT NULL REFERENCES metric (id),
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        value REAL NOT NULL,
        raw TEXT NOT NULL,
        at REAL NOT NULL,
        UNIQUE (result_id, key)
    )""",
    """CREATE TABLE fact (
        id INTEGER PRIMARY KEY,
        result_id INTEGER NOT NULL REFERENCES result (id),
        name TEXT NOT NULL,
        text TEXT,
        number REAL,
        unit TEXT,
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        CHECK ((text IS NULL) <> (number IS NULL))
    )""",
    "CREATE INDEX fact_of ON fact (result_id)",
    """CREATE TABLE judging (               -- one judgement of a closed round; the last id counts
        id INTEGER PRIMARY KEY,
        attempt_id INTEGER NOT NULL REFERENCES attempt (id),
        judged_by TEXT NOT NULL,
        at REAL NOT NULL,
        fails INTEGER NOT NULL,           -- verdicts by level
        watches INTEGER NOT NULL,
        unknowns INTEGER NOT NULL,
        passes INTEGER NOT NULL,
        UNIQUE (attempt_id, judged_by)
    )""",
    """CREATE TABLE verdict (
        id INTEGER PRIMARY KEY,
        judging_id INTEGER NOT NULL REFERENCES judging (id),
        test TEXT NOT NULL,
        probe TEXT NOT NULL,
        subject TEXT NOT NULL,
        nodes TEXT NOT NULL,              -- JSON array
        metric_id INTEGER NOT NULL REFERENCES metric (id),
        labels_id INTEGER NOT NULL REFERENCES labels (id),
        level TEXT NOT NULL,
        kind TEXT NOT NULL,
        because TEXT NOT NULL,
        shown TEXT NOT NULL,
        value REAL,
        expected REAL,
        required REAL,
        text TEXT NOT NULL,
        expected_text TEXT NOT NULL,
        source TEXT NOT NULL,
        limiting TEXT NOT NULL,
        evidence TEXT NOT NULL            -- JSON array of measurement keys
    )""",
    "CREATE INDEX verdict_of ON verdict (judging_id)",
    """CREATE TABLE finding (               -- one finding as it stood; an unchanged one is stored once
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        content TEXT NOT NULL             -- JSON object
    )""",
    "CREATE INDEX finding_of ON finding (session_id, id)",
    """CREATE TABLE finding_set (           -- the findings of a session through its judgement judging_id
        judging_id INTEGER PRIMARY KEY REFERENCES judging (id),
        findings TEXT NOT NULL            -- JSON array of finding ids, in order
    )""",
    """CREATE TABLE note (                  -- what was decided or happened while a session ran
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        at REAL NOT NULL
    )""",
    "CREATE INDEX note_of ON note (session_id, id)",
    """CREATE TABLE proof (                 -- what a node showed of ours at the end of a run
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        at REAL NOT NULL,
        node TEXT NOT NULL,
        asked INTEGER NOT NULL CHECK (asked IN (0, 1)),
        remains TEXT NOT NULL,            -- JSON array: what lives on
        ended INTEGER NOT NULL,
        detail TEXT NOT NULL
    )""",
    "CREATE INDEX proof_of ON proof (session_id, id)",
    """CREATE TABLE absorbed (              -- records of spools that came back; none comes twice
        id BLOB PRIMARY KEY,              -- its UUID
        at REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE checklist (             -- a checklist as it was read; the last row of a name counts
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        name TEXT NOT NULL,
        source TEXT NOT NULL,
        file TEXT NOT NULL,               -- as it was written
        at REAL NOT NULL
    )""",
    "CREATE INDEX checklist_of ON checklist (session_id, id)",
    """CREATE TABLE checklist_step (        -- in order of id within a checklist
        id INTEGER PRIMARY KEY,
        checklist_id INTEGER NOT NULL REFERENCES checklist (id),
        key TEXT NOT NULL,
        text TEXT NOT NULL,
        clause TEXT NOT NULL,
        argv TEXT NOT NULL,               -- JSON array; empty: done by hand
        seconds REAL NOT NULL,            -- how long the command may take
        UNIQUE (checklist_id, key)
    )""",
    """CREATE TABLE checklist_mark (        -- the state of a step; the last row of a step counts
        id INTEGER PRIMARY KEY,
        step_id INTEGER NOT NULL REFERENCES checklist_step (id),
        state TEXT NOT NULL CHECK (state IN ('pass', 'fail', 'not done', 'not applicable')),
        note TEXT NOT NULL,
        who TEXT NOT NULL,
        at REAL NOT NULL
    )""",
    "CREATE INDEX checklist_mark_of ON checklist_mark (step_id, id)",
    """CREATE TABLE checklist_attachment (  -- evidence, byte for byte
        id INTEGER PRIMARY KEY,
        mark_id INTEGER NOT NULL REFERENCES checklist_mark (id),
        name TEXT NOT NULL,
        sha256 TEXT NOT NULL,             -- hex
        content BLOB NOT NULL
    )""",
    "CREATE INDEX checklist_attachment_of ON checklist_attachment (mark_id)",
    # The views are a promise to people who open the file with another tool: columns may be added.
    MEASUREMENT_VIEW.format(probe="round.probe"),
    VERDICT_VIEW.format(more=""),
)


def _make_tables(connection: Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


def _add_criteria(connection: Connection) -> None:
    connection.execute("""CREATE TABLE criteria (  -- what sessions are judged with; the last row of a session counts
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        at REAL NOT NULL,
        source TEXT NOT NULL,             -- the file that they were taken from; empty: that of the session
        content TEXT                      -- JSON array of criteria; NULL: those of its own file
    )""")
    connection.execute("CREATE INDEX criteria_of ON criteria (session_id, id)")


BASIS = """(SELECT coalesce(max(judging.id), 0) FROM round JOIN attempt ON attempt.round_id = round.id
        JOIN judging ON judging.attempt_id = attempt.id WHERE round.session_id = session.id)
    || ' ' || (SELECT coalesce(max(attempt.id), 0) FROM round JOIN attempt ON attempt.round_id = round.id
        WHERE round.session_id = session.id)
    || ' ' || (SELECT coalesce(max(id), 0) FROM driver WHERE session_id = session.id)
    || ' ' || (SELECT coalesce(max(checklist.id), 0) || ' ' || coalesce(max(checklist_mark.id), 0) FROM checklist
        LEFT JOIN checklist_step ON checklist_id = checklist.id
        LEFT JOIN checklist_mark ON step_id = checklist_step.id WHERE session_id = session.id)
    || ' ' || (SELECT coalesce(max(id), 0) FROM criteria WHERE session_id = session.id)
    || ' ' || session.tests
    || CASE WHEN instr(session.topology, 'baseline') OR EXISTS
        (SELECT 1 FROM criteria WHERE session_id = session.id AND instr(content, 'baseline'))
        THEN coalesce((SELECT ' baseline ' || max(id) FROM baseline WHERE baseline.fabric = session.fabric), '')
        ELSE '' END"""
"""The basis of the verdict on a row of ``session``, as text: it changes with all that may change the verdict.

A baseline matters to sessions whose criteria may ask for shares of it.
"""


def _add_session_verdict(connection: Connection) -> None:
    connection.execute(
        """CREATE TABLE session_verdict (   -- the verdict on a whole session; the last row counts where its basis holds
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        rules INTEGER NOT NULL,           -- number of the rules that it was made by
        outcome TEXT NOT NULL,
        sentence TEXT NOT NULL,
        missing TEXT NOT NULL,            -- JSON array of sentences
        basis TEXT NOT NULL               -- BASIS when it was made
    )"""
    )
    connection.execute("CREATE INDEX session_verdict_of ON session_verdict (session_id, id)")


def _add_low_end(connection: Connection) -> None:
    connection.execute("ALTER TABLE verdict ADD COLUMN least REAL")
    connection.execute("DROP VIEW v_verdict")
    connection.execute(VERDICT_VIEW.format(more=", verdict.least"))


def _add_detectable_loss(connection: Connection) -> None:
    connection.execute("""CREATE TABLE detectable_loss (  -- what a session could show through its judgement judging_id
        judging_id INTEGER PRIMARY KEY REFERENCES judging (id),
        losses TEXT NOT NULL              -- JSON array of objects, one for each kind of element
    )""")


REPORT_BASIS = f"""{BASIS}
    || ' ' || (SELECT coalesce(max(id), 0) FROM note WHERE session_id = session.id)
    || ' ' || (SELECT coalesce(max(id), 0) FROM proof WHERE session_id = session.id)
    || ' ' || (SELECT coalesce(max(rowid), 0) FROM finding_set WHERE judging_id IN (SELECT judging.id FROM round
        JOIN attempt ON attempt.round_id = round.id JOIN judging ON judging.attempt_id = attempt.id
        WHERE round.session_id = session.id))
    || ' ' || coalesce((SELECT ended || ' ' || complete || ' ' || because FROM driver
        WHERE session_id = session.id ORDER BY id DESC LIMIT 1), '')
    || coalesce((SELECT ' remark ' || max(id) FROM remark WHERE session_id = session.id), '')"""  # noqa: S608 - ours
"""The basis of a report on a row of ``session``, as text; beyond ``BASIS`` what reports tell and no verdict asks."""


def _add_kept_report(connection: Connection) -> None:
    connection.execute("""CREATE TABLE kept_report (  -- reports as they were made last, where a basis still holds
        session_id INTEGER NOT NULL REFERENCES session (id),
        name TEXT NOT NULL,               -- its format, its options and the program that made it
        basis TEXT NOT NULL,              -- REPORT_BASIS before the session was read for it
        content BLOB NOT NULL,            -- UTF-8, deflated
        PRIMARY KEY (session_id, name)
    )""")


def _add_remarks(connection: Connection) -> None:
    connection.execute("""CREATE TABLE remark (  -- what people say of a session, or of a part of it
        id INTEGER PRIMARY KEY,
        session_id INTEGER NOT NULL REFERENCES session (id),
        number INTEGER NOT NULL,          -- from 1 in each session
        kind TEXT NOT NULL,
        about TEXT NOT NULL,              -- session, node, switch, link, finding, clause, point
        subject TEXT NOT NULL,
        text TEXT NOT NULL,
        who TEXT NOT NULL,
        at REAL NOT NULL,                 -- what it speaks of
        written REAL NOT NULL,
        withdraws INTEGER NOT NULL,       -- number of another remark of the session; 0: none
        UNIQUE (session_id, number)
    )""")


def _add_baseline(connection: Connection) -> None:
    connection.execute("""CREATE TABLE baseline (  -- whom sessions of a fabric are held against; the last row counts
        id INTEGER PRIMARY KEY,
        fabric TEXT NOT NULL,
        session_id INTEGER REFERENCES session (id),  -- NULL: none any more
        who TEXT NOT NULL,
        at REAL NOT NULL
    )""")
    connection.execute("CREATE INDEX baseline_of ON baseline (fabric, id)")


def _add_checksum(connection: Connection) -> None:
    connection.execute("ALTER TABLE output ADD COLUMN packed INTEGER NOT NULL DEFAULT 0 CHECK (packed IN (0, 1))")
    connection.execute("ALTER TABLE output ADD COLUMN checksum BLOB")  # of the plain bytes; NULL: none was kept


def _add_probe_of_test(connection: Connection) -> None:
    connection.execute("ALTER TABLE test ADD COLUMN probe TEXT NOT NULL DEFAULT ''")  # empty: that of its round
    connection.execute("DROP VIEW v_measurement")
    connection.execute(MEASUREMENT_VIEW.format(probe="coalesce(nullif(test.probe, ''), round.probe) AS probe"))


def _add_words(connection: Connection) -> None:
    connection.execute("""CREATE TABLE word (   -- long words of command lines: a number in output.argv is an id here
        id INTEGER PRIMARY KEY,
        text TEXT NOT NULL UNIQUE
    )""")


def _add_test_indexes(connection: Connection) -> None:
    """Lead from a node to its tests, and from a test to the verdicts on it, for the history of a node."""
    connection.execute("CREATE INDEX test_at ON test (session_id, node)")
    connection.execute("CREATE INDEX test_to ON test (session_id, peer) WHERE peer IS NOT NULL")
    connection.execute("CREATE INDEX test_of_set ON test (session_id) WHERE members <> '[]'")
    connection.execute("CREATE INDEX verdict_on ON verdict (judging_id, test)")
    connection.execute("DROP INDEX verdict_of")  # the new one leads from a judgement to its verdicts, too


def _add_counts_of_verdict(connection: Connection) -> None:
    """Give a verdict what it counted. NULL: an older program stored it."""
    for count in ("planned", "tested", "failed", "unreachable", "skipped", "fails", "watches"):
        connection.execute(f"ALTER TABLE session_verdict ADD COLUMN {count} INTEGER")


STEPS: tuple[Step, ...] = (
    _make_tables,
    _add_criteria,
    _add_session_verdict,
    _add_low_end,
    _add_detectable_loss,
    _add_kept_report,
    _add_remarks,
    _add_baseline,
    _add_checksum,
    _add_probe_of_test,
    _add_words,
    _add_test_indexes,
    _add_counts_of_verdict,
)
"""Every change of shape there ever was, the first one from an empty file to shape ``FIRST``."""


def newest(steps: Sequence[Step] = STEPS) -> int:
    """The number of the shape that ``steps`` end with."""
    return FIRST - 1 + len(steps)


@cache
def columns() -> Mapping[str, tuple[str, ...]]:
    """The tables of the newest shape and their columns; a file from another program is compared with them."""
    with closing(open_memory()) as connection:
        apply(connection)
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            table: tuple(name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))
            for (table,) in names
        }


def read_shape(connection: Connection) -> int:
    """The number of the shape of this database; 0 for an empty file."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return int(number)


def apply(connection: Connection, steps: Sequence[Step] = STEPS) -> None:
    """Bring an empty database, or one of shape ``FIRST`` or later, to the last shape of ``steps``.

    Call it inside one write transaction, so that after a crash the file has its old shape or the new one.
    """
    done = max(0, read_shape(connection) - FIRST + 1)
    for step in steps[done:]:
        step(connection)
    # A pragma takes no parameters; both are numbers of this program.
    connection.execute(f"PRAGMA user_version = {newest(steps):d}")
    connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
