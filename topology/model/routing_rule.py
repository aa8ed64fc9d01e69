"""The rules by which the switches of a network forward."""

from enum import StrEnum


class RoutingRule(StrEnum):
    """How traffic of a network finds its way.

    ``SHORTEST``: least hops, equal ones evenly (ECMP, RFC 2992). ``WEIGHTED``: the same, but in proportion to the
    capacity of a device's own links (WCMP: Zhou et al., EuroSys 2014). ``SPRAY``: over all ways of least hops in the
    best parts, as adaptive routing of each packet does where it works. ``MINIMAL`` and ``VALIANT``: those of a
    dragonfly (Kim, Dally, Scott and Abts, ISCA 2008) or a HyperX (Ahn, Binkert, Davis, McLaren and Schreiber, SC 2009).
    ``DIMENSION_ORDER``: those of a torus, mesh or HyperX (Dally and Towles, Principles and Practices of Interconnection
    Networks, chapter 8). ``UGAL``: minimal or Valiant, as the queues of the moment
    tell (Singh, Load-balanced routing in interconnection networks, Stanford 2005): its rates are bounded, and taken for
    those of minimal routing where one number is needed. ``TABLES``: the switches' own forwarding tables
    (``Fabric.tables``), as InfiniBand has them.
    """

    SHORTEST = "shortest"
    WEIGHTED = "weighted"
    SPRAY = "spray"
    MINIMAL = "minimal"
    VALIANT = "valiant"
    DIMENSION_ORDER = "dimension-order"
    UGAL = "ugal"
    TABLES = "tables"

    @property
    def is_by_paths(self) -> bool:
        """Whether whole paths are chosen (``routing.path_rules``) and not next hops."""
        return self in (RoutingRule.MINIMAL, RoutingRule.VALIANT, RoutingRule.DIMENSION_ORDER, RoutingRule.UGAL)
