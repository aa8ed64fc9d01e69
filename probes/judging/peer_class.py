"""Which nodes are peers: those to which the file gives one class, and one cohort in each dimension."""

from benchconsole.topology.model.fabric import Node

PeerClass = tuple[str, tuple[tuple[str, str], ...]]
"""The name of the class, then dimension and name of each cohort."""


def find_peer_class(node: Node) -> PeerClass:
    """What the peers of a node have in common with it; equal for peers, and for nobody else."""
    return node.hardware.name, node.cohorts
