"""Which nodes are peers: those to which the file gives one class, and one cohort in each dimension."""

from benchconsole.topology.model.fabric import Node

PeerClass = tuple[str, tuple[tuple[str, str], ...]]
"""The name of the class, then dimension and name of each cohort."""


def find_peer_class(node: Node) -> PeerClass:
    """The properties that a node has in common with its peers; equal for peers, and for nobody else."""
    return node.hardware.name, node.cohorts
