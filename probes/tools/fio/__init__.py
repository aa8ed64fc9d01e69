"""Probes of fio, and readers of its output."""
