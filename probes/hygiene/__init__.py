"""Owns what keeps nodes clean and disks whole: the search for leftovers, their end, the proof, blank devices.

Refuses to run tests and to decide what is run.
"""
