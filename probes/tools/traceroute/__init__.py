"""Probes of traceroute and tracepath, and readers of its output."""
