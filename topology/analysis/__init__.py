"""One file for each question about a fabric: Fabric in, frozen report out."""
