"""How long the exact distribution takes, and what it says: python benchmarks/topology/hashing.py."""

import time

from topology.analysis.occupancy import spread

CASES = [(8, 2), (30, 2), (12, 12), (16, 12), (30, 12), (60, 12), (120, 12), (120, 64), (480, 12), (10_000, 64)]


def main() -> None:
    print("flows/members     E[max]  / mean   P50   P95   P(even)    busy      ms  model")
    for flows, members in CASES:
        spread.cache_clear()
        start = time.perf_counter()
        found = spread(flows, members)
        took = (time.perf_counter() - start) * 1e3
        print(
            f"{flows:>7}/{members:<6} {found.fullest:9.3f} {found.imbalance:7.3f} {found.quantile(0.5):5} "
            f"{found.quantile(0.95):5} {found.even:9.2e} {found.busy:7.3f} {took:7.1f}  {found.model}"
        )


if __name__ == "__main__":
    main()
