"""Tools that work on files: one node's directory, or a directory that several nodes share."""
