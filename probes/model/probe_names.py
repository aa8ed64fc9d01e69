"""Names of the probes that the program itself asks for; it knows all others by what they declare."""

INVENTORY = "inventory"
"""Tells the facts of a node. Its facts are compared with the description, and not listed as measurements."""

AVAILABILITY = "availability"
"""Says whether a node is up. A watch takes its samples with it."""
