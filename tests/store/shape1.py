"""A database of the first shape, filled as its own program filled it: rows written out, for no code of today writes them."""

import contextlib
import sqlite3
from pathlib import Path

from store import schema

_ROWS = """
INSERT INTO session VALUES (1, 'aaaaaaaa', 'kept', 'toy', 'default', '', '{}', 'schema: 1', 'toy.yaml', 0, '0.1.0', 1000.0, 2, 4);
INSERT INTO driver VALUES (1, 1, 'gone', 1, '', 'token', 1000.0, 1001.0, 1100.0, 1, '');
INSERT INTO round VALUES (1, 1, 1, 'neighbours', 'iperf3', 12.5, 'pairs', '[]');
INSERT INTO round VALUES (2, 1, 2, 'neighbours', 'iperf3', 12.5, 'pairs', '[]');
INSERT INTO test VALUES (1, 1, 1, '1.0', 'n1', 'n5', '{"seconds":10}', '');
INSERT INTO test VALUES (2, 1, 1, '1.1', 'n2', 'n6', '{"seconds":10}', '');
INSERT INTO test VALUES (3, 1, 2, '2.0', 'n1', 'n5', '{"seconds":10}', '');
INSERT INTO test VALUES (4, 1, 2, '2.1', 'n2', 'n6', '{"seconds":10}', '');
INSERT INTO attempt VALUES (1, 1, 1, 'cancelled', 1000.5, 1002.0, 1, 0, 0, 1);
INSERT INTO attempt VALUES (2, 1, 2, 'all answered', 1003.5, 1012.0, 2, 0, 0, 0);
INSERT INTO attempt VALUES (3, 2, 1, 'all answered', 1013.5, 1022.0, 1, 1, 0, 0);
INSERT INTO result VALUES (1, 1, 1, 1000.5, 1.0, NULL, NULL, NULL);
INSERT INTO result VALUES (2, 2, 1, 1003.5, 1.0, NULL, NULL, NULL);
INSERT INTO result VALUES (3, 2, 2, 1003.5, 1.0, NULL, NULL, NULL);
INSERT INTO result VALUES (4, 3, 3, 1013.5, 1.0, NULL, NULL, NULL);
INSERT INTO result VALUES (5, 3, 4, 1013.5, 20.0, 'timed out', 'no answer', 'n2');
INSERT INTO output VALUES (1, 1, 'n1', '["iperf3"]', x'ff00', x'', 0, NULL, 1.0, 0);
INSERT INTO metric VALUES (1, 'iperf3.throughput', 'B/s');
INSERT INTO labels VALUES (1, '[["direction","out"]]', 'direction=out');
INSERT INTO measurement VALUES (1, 1, '1.0#0', 1, 1, 1.0e9, '', 1001.5);
INSERT INTO measurement VALUES (2, 2, '1.0#0', 1, 1, 1.1e9, '', 1004.5);
INSERT INTO measurement VALUES (3, 3, '1.1#0', 1, 1, 1.2e9, '', 1004.5);
INSERT INTO measurement VALUES (4, 4, '2.0#0', 1, 1, 0.5e9, '', 1014.5);
INSERT INTO fact VALUES (1, 1, 'tool.version', '3.12', NULL, NULL, 1);
INSERT INTO judging VALUES (1, 1, 'j', 1002.5, 1, 0, 0, 0);
INSERT INTO judging VALUES (2, 2, 'j', 1012.5, 0, 0, 0, 2);
INSERT INTO judging VALUES (3, 3, 'j', 1022.5, 0, 0, 0, 1);
INSERT INTO judging VALUES (4, 3, 'again', 1030.0, 1, 0, 0, 0);
"""
_VERDICT = """INSERT INTO verdict (judging_id, test, probe, subject, nodes, metric_id, labels_id, level, kind, because,
    shown, value, expected, required, text, expected_text, source, limiting, affected_by, evidence)
    VALUES (?, ?, 'iperf3', ?, ?, 1, 1, ?, 'capacity', '', 'network', ?, 1.18e9, 0.94e9, '', '', 'suite', '', '', '[]')"""
_VERDICTS = (
    (1, "1.0", "n1>n5", '["n1","n5"]', "fail", 1.0e9),
    (2, "1.0", "n1>n5", '["n1","n5"]', "pass", 1.1e9),
    (2, "1.1", "n2>n6", '["n2","n6"]', "pass", 1.2e9),
    (3, "2.0", "n1>n5", '["n1","n5"]', "pass", 0.5e9),
    (4, "2.0", "n1>n5", '["n1","n5"]', "fail", 0.5e9),
)


def write(path: Path) -> str:
    """Make it; the id of its session."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        schema.apply(connection, schema.STEPS[:1])
        connection.execute("COMMIT")
        connection.executescript(_ROWS)
        connection.executemany(_VERDICT, _VERDICTS)
        connection.commit()
    return "aaaaaaaa"
