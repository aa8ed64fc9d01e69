"""Owns what ``benchconsole doctor`` says: of this machine (``here``), of the nodes that are asked (``asking``),
what it means (``meaning``), and how it reads (``page``).

Refuses to load or change anything on a node.
"""
