"""Probes of IOR, and readers of its output."""
