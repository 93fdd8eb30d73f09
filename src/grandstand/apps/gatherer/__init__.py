"""Gatherer: records a prediction market completely, and proves it."""
