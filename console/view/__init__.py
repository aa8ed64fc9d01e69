"""The view of a session: events folded into one frozen value that screens and reports read."""
