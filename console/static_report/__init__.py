"""Texts and documents about a fabric before anything is measured: ``check``, ``expect`` and ``diff``."""
