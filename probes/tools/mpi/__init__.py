"""MPI programs: launch, message benchmarks, and the tables that they print."""
