"""How long the exact distribution takes, and what it says: python -m benchmarks.topology.hashing."""

import time

from benchconsole.topology.analysis.hashing import EXACT_FLOWS, compute_member_load

CASES = [(8, 2), (30, 2), (12, 12), (16, 12), (30, 12), (60, 12), (120, 12), (120, 64), (480, 12), (10_000, 64)]


def main() -> None:
    print("flows/members     E[max]  / mean     busy      ms  model")
    for flows, members in CASES:
        compute_member_load.cache_clear()
        start = time.perf_counter()
        found = compute_member_load(flows, members)
        model = "exact" if flows <= EXACT_FLOWS else "monte carlo"
        took = (time.perf_counter() - start) * 1e3
        print(
            f"{flows:>7}/{members:<6} {found.fullest:9.3f} {found.imbalance:7.3f} "
            f"{found.busy:7.3f} {took:7.1f}  {model}"
        )


if __name__ == "__main__":
    main()
