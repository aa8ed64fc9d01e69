"""The store of sessions: their plans, rounds, outputs, measurements and verdicts.

The only package that knows SQLite. ``store.store.Store`` is its face: writing is awaited and
means committed, reading is plain calls that give domain objects. A change of shape is a step at
the end of ``store.schema.tables.STEPS``; ``store.codec.rows`` then learns to carry it both ways.
"""
