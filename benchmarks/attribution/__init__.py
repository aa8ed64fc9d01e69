"""How true findings are: faults planted in cables, measured by simulation, judged by the product, and scored."""
