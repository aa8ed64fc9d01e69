"""How true findings are on cables: faults planted in the laboratory, real runs, and the report held against them."""
