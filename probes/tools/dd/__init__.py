"""Probes of dd, and readers of its output."""
