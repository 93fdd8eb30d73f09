"""Storage engines for series."""
