"""Curves of sweeps: the series of a session, what a curve shows, and how that is worded."""
