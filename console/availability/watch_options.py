"""The names of the options that record a watch with its session."""

EVERY, LASTS = "watch.every", "watch.for"
"""The options by which the record of a session says that it is a watch; seconds."""
