"""The database file: found, opened, checked, upgraded, owned by one process."""
