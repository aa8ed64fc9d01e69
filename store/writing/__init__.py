"""Writing: one thread, a queue of jobs, and the rows of sessions and rounds."""
