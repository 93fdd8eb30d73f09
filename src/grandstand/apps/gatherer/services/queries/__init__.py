"""Queries of recorded data."""
