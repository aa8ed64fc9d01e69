"""Probes of bonnie++, and readers of its output."""
