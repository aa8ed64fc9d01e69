"""One file per input format: bytes to plain data with positions. ``topology.resolve`` gives it meaning."""
