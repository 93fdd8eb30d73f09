"""Feeds of odds and stats, and data files: one module per provider."""
