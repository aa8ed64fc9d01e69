"""Where a number meets a bound, and only here. Knows no node, no connection, no plugin."""
