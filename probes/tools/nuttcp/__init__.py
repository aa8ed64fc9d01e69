"""Probes of nuttcp, and readers of its output."""
