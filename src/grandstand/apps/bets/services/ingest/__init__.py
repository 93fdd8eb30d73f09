"""Collectors of odds, results and statistics, and file imports."""
