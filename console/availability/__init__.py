"""Availability over days: samples of nodes, their evaluation, and time that does not count."""
