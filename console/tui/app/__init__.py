"""The application: what it is told, where it goes, and what its keys do."""
