"""The shape of the database."""
