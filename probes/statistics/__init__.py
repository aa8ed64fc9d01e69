"""Statistics of measured numbers: summaries, comparisons of two samples, peers, fairness. Numbers in, numbers out."""
