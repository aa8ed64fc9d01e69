"""One screen a file; each owns one view and hands parts of it down to its widgets."""
