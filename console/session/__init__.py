"""One session: plan, run, judge, store, and yield events. Knows no screen."""
