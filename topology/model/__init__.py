"""The frozen fabric: nodes, switches, links, storage systems, cohorts, sweeps."""
