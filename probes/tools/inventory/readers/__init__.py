"""One reader for each source of the inventory."""
